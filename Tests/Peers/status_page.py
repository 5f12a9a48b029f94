#!/usr/bin/env python3
"""Goes through Roost's status page with a real browser, as a person does.

    status_page.py PORT chromium|firefox [--pictures FOLDER]

The page has charts of thirty days. One line a step; `done` at the end. Exit 1 with the reason. Chromium is light, then
dark; Firefox is dark throughout.
"""

import argparse
import base64
import os
import socket
import sys
import tempfile

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from links_page_browser import Failed, Page, chromium, expect, firefox
from links_page_proxy import Proxy

TAB_MAXIMUM = 60
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"


def knock(port, origin):
    """A page of the web that connects, and waits to be let in."""
    visitor = socket.create_connection(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    visitor.sendall((
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nOrigin: {origin}\r\n\r\n").encode())
    expect(b" 101 " in visitor.recv(4_096), "the relay takes no WebSocket")
    return visitor


def fits(page, view):
    """Nothing is wider than the page. The picture has all of the page."""
    wide, inner = page.driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    expect(wide <= inner, f"{view} is {wide} px wide in a window of {inner} px")
    page.views += 1
    if not page.pictures:
        return
    path = os.path.join(page.pictures, f"{page.name}-{page.views:02}-{view}.png")
    if page.name == "chromium":
        shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
    else:
        page.driver.get_full_page_screenshot_as_file(path)


def sound(page, view):
    """It fits, and axe finds nothing."""
    fits(page, view)
    pictures, page.pictures = page.pictures, None
    page.sound(view)
    page.pictures = pictures


# Steps: what a person does.

def see(page, port):
    page.driver.get(f"http://127.0.0.1:{port}/")
    page.one("#verdict", "All is well")
    pictures = page.all("#charts svg")
    expect(len(pictures) >= 16, f"there are {len(pictures)} charts")
    for picture in pictures:
        words = picture.find_element(By.CSS_SELECTOR, "desc").get_attribute("textContent")
        lines = picture.find_elements(By.CSS_SELECTOR, "path.line")
        expect("last" in words and lines, f"a chart without a line: {words}")
        expect(picture.size["height"] > 30 and picture.size["width"] > 100, f"a chart is {picture.size}")
    month = page.driver.find_element(By.ID, "stored-month-words").get_attribute("textContent")
    expect("one gap" in month, f"the day and a half without Roost is no gap: {month}")
    sound(page, "page")


def see_small(page, port):
    page.width(640)
    fits(page, "half")
    page.width(360)
    fits(page, "narrow")
    page.width(1_280)


def see_dark(page, port):
    if page.name == "chromium":
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    expect(page.driver.execute_script("return matchMedia('(prefers-color-scheme: dark)').matches"), "it is not dark")
    sound(page, "dark")
    page.width(360)
    fits(page, "dark-narrow")
    page.width(1_280)


def tab_to(page, selector):
    for _ in range(TAB_MAXIMUM):
        if page.focused() in page.all(selector):
            return page.focused()
        page.key(Keys.TAB)
    raise Failed(f"the key Tab does not come to {selector}")


def use_keyboard(page, port):
    page.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    tab_to(page, "summary")
    page.key(Keys.ENTER)
    page.one("#tables table td")
    fits(page, "tables")
    page.width(360)
    fits(page, "tables-narrow")
    region = tab_to(page, "#tables .scroll")
    page.key(Keys.ARROW_RIGHT)
    page.until("the table is scrolled", lambda: page.driver.execute_script(
        "return arguments[0].scrollLeft", region) > 0)
    page.width(1_280)


def keep_place(page, port):
    """What is new comes onto the page, and the reader stays where the reader was."""
    summary = page.one("#tables summary")
    page.driver.execute_script("arguments[0].focus(); arguments[0].scrollIntoView(); window.isOld = true", summary)
    where = "return document.querySelector('#tables summary').getBoundingClientRect().top"
    before = page.driver.execute_script(where)
    visitor = knock(port, "https://client.example")
    page.driver.execute_script(LOOK)
    code = page.until("the origin that waits", lambda: page.all("#waiting code"))[0]
    expect(code.get_attribute("textContent") == "roost client allow https://client.example", "another command")
    after = page.driver.execute_script(where)
    expect(abs(after - before) < 2, f"the page jumped from {before} to {after}")
    expect(page.driver.execute_script("return window.isOld"), "the page was loaded again")
    expect(page.focused().tag_name == "summary", f"the focus is on {page.focused().tag_name}")
    expect(page.one("#tables").get_attribute("open") is not None, "what was open is closed")
    page.driver.execute_script("scrollTo(0, 0)")
    sound(page, "waiting")
    page.driver.execute_script("getSelection().selectAllChildren(document.querySelector('#waiting code'))")
    visitor.close()
    page.until("the origin is gone", lambda: page.driver.execute_script(LOOK) or not page.all("#waiting"))


def lose_roost(page, port):
    """Chromium only: Roost is away, and comes back."""
    if page.name != "chromium":
        return
    def network(is_away):
        page.driver.execute_cdp_cmd("Network.enable", {})
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": is_away, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
    network(True)
    page.driver.execute_script(LOOK)
    page.one("#stale", "does not answer")
    sound(page, "stale")
    network(False)
    page.driver.execute_script(LOOK)
    page.until("Roost is back", lambda: not page.driver.find_element(By.ID, "stale").is_displayed())


def read_without_script(page, port):
    if page.name != "chromium":
        return
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.driver.get(f"http://127.0.0.1:{port}/")
    page.press("a", "look again")
    page.one("#verdict", "All is well")
    expect(len(page.all("#charts svg")) >= 16, "the charts need a script")
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


STEPS = [see, see_small, use_keyboard, keep_place, see_dark, lose_roost, read_without_script]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("browser", choices=["chromium", "firefox"])
    parser.add_argument("--pictures")
    options = parser.parse_args()
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(f"http://127.0.0.1:{options.port}")
        driver = chromium(proxy, f"http://127.0.0.1:{options.port}") if options.browser == "chromium" \
            else firefox(proxy, folder)
        try:
            page = Page(driver, options.browser, options.pictures)
            page.width(1_280)
            for step in STEPS:
                print(step.__name__, flush=True)
                step(page, options.port)
            expect(not proxy.asked, f"the page asks for {proxy.asked}")
        except (Failed, WebDriverException) as fault:
            print(f"{type(fault).__name__}: {fault}", flush=True)
            return 1
        finally:
            driver.quit()
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
