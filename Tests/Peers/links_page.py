#!/usr/bin/env python3
"""Goes through Roost's page of links with a real browser, as a person does.

    links_page.py ADDRESS chromium|firefox SCENARIO [--pictures FOLDER]

ADDRESS is what `roost links open` prints. SCENARIO is a JSON object:

    account       the name of the account, as a path of the page begins with it
    contact       the name of a contact whose conversation has an unread post, with this note, and an unread reply to it
    note          the note of that post
    reply         the text of that reply
    playedHost    the host that is asked when that post is played
    link          a link that can be sent to the contact
    unreachable   the npub of a key that is no contact and has no relays for gift wraps
    reason        a word of why nothing can be sent to it
    npub          the npub of the account
    relay         a relay's URL, to be agreed to
    unreached     the URL of a relay that is not there

One line a step; `done` at the end. Exit 1 with the reason. Chromium is light, then dark; Firefox is dark throughout.
"""

import argparse
import json
import sys
import tempfile
from urllib.parse import urlsplit

from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from links_page_browser import Failed, Page, chromium, expect, firefox
from links_page_proxy import REBOUND, Proxy

SEND_SECONDS = 30
TAB_MAXIMUM = 400
# The words of the entry page: what is shown without a session.
ENTRY = "roost links open"


# Steps: what a person does. `plan` is the scenario.

def enter(page, plan, proxy):
    page.driver.get(plan["address"])
    page.one(".conversation", plan["contact"])
    expect(page.driver.current_url.startswith(plan["page"] + "/#") or page.driver.current_url == plan["page"] + "/",
           f"the secret is still in the address: {page.driver.current_url}")
    expect(not page.driver.execute_script("return document.cookie"), "a script can read the cookie")
    expect(page.driver.execute_script("return localStorage.length + sessionStorage.length") == 0, "data is kept")
    page.until("a sending state", lambda: page.one("#state").text not in ("", "Connecting to Roost"))
    page.sound("list")


def read_conversation(page, plan, proxy):
    words = page.read(".conversation", plan["contact"], lambda each: each.get_attribute("textContent"))
    expect("Unread" in words, "the conversation has no dot")
    page.press(".conversation", plan["contact"])
    page.one("h2", plan["contact"])
    expect("H2" == page.focused().tag_name.upper(), f"the focus is on {page.focused().tag_name}")
    plan["playId"] = page.read(
        ".post", plan["note"], lambda each: each.find_element(By.CSS_SELECTOR, "[id^=play-]").get_attribute("id"))
    plan["postId"] = plan["playId"].removeprefix("play-")
    plan["conversationAddress"] = urlsplit(page.driver.current_url).fragment
    page.sound("conversation")


def read_thread(page, plan, proxy):
    page.press(f"#thread-{plan['postId']}")
    page.one("h2", "Thread")
    page.one("ol li", plan["reply"])
    page.sound("thread")
    page.go(f"/{plan['account']}/links")
    page.until("the dot goes", lambda: "Unread" not in page.one(".conversation", plan["contact"]).get_attribute(
        "textContent"))
    page.driver.back()
    page.one("h2", "Thread")


def reply(page, plan, proxy):
    count = len(page.all("ol li"))
    page.type("#write", "   ")
    page.press("form button", "Send reply")
    expect(page.one("#write").is_enabled(), "an empty reply is being sent")
    page.type("#write", "a reply of the test\nin two lines")
    page.press("form button", "Send reply")
    page.until("the reply", lambda: len(page.all("ol li")) == count + 1, SEND_SECONDS)
    page.until("the box is empty", lambda: page.value("#write") == "")
    last = page.until("the last reply", lambda: page.all("ol li")[-1].text)
    expect("a reply of the test" in last and "\nin two lines" in last, f"the last reply is {last!r}")
    page.until("the focus at the end", lambda: page.focused() == page.all("ol li")[-1])


def composer(page, plan, proxy):
    page.go(plan["conversationAddress"])
    page.press("#compose")
    page.one("dialog")
    chosen = Select(page.one("dialog select")).first_selected_option.text
    expect(chosen == plan["contact"], f"{chosen} is preselected")
    link = "dialog input[inputmode=url]"
    for bad in ("javascript:alert(1)", "ftp://example.com/", "https://name:word@example.com/"):
        page.type(link, bad)
        page.until(f"{bad} is refused", lambda: page.one(link).get_attribute("aria-invalid") == "true")
    page.sound("composer")
    page.press("dialog button", "Send")
    page.until("it can be sent again", lambda: page.one("dialog button", "Send").is_enabled())
    expect(page.all("dialog") and page.value(link) == "https://name:word@example.com/", "a bad link was taken")
    page.press(f"{link} ~ button[aria-label^=Clear]")
    page.until("Clear", lambda: page.value(link) == "")
    page.type(link, plan["link"])
    page.type("dialog textarea", "a note of the test")
    page.press("dialog button", "Send")
    page.gone("dialog", seconds=SEND_SECONDS)
    page.one(".post", "a note of the test")


def share_and_paste(page, plan, proxy):
    page.go(f"/{plan['account']}/share")
    expect(page.read("#npub", None, lambda each: each.text) == plan["npub"], "another key is shown")
    drawn = page.read("svg.code path", None, lambda each: each.get_attribute("d"))
    expect(drawn.count("M") > 200, "the code is not drawn")
    page.sound("share")
    page.press("#copy-key")
    page.one("#notice p", "copied")
    page.go(f"/{plan['account']}/links")
    page.press("#compose")
    page.press("dialog button[aria-label='Paste into Contact Key (npub)']")
    key = "dialog .assisted input[placeholder^=npub]"
    page.until("Paste", lambda: page.value(key) == plan["npub"])
    page.one("dialog button", "Use Contact Key")
    page.type(key, plan["npub"][:-1] + ("q" if plan["npub"][-1] != "q" else "p"))
    page.until("a wrong key", lambda: page.one(key).get_attribute("aria-invalid") == "true")
    page.gone("dialog button", "Use Contact Key")
    page.key(Keys.ESCAPE)
    page.gone("dialog")
    page.until("the focus is back", lambda: page.focused().get_attribute("id") == "compose")


def failure_keeps_text(page, plan, proxy):
    page.press("#compose")
    page.type("dialog input[inputmode=url]", plan["link"])
    page.type("dialog textarea", "kept")
    page.type("dialog .assisted input[placeholder^=npub]", plan["unreachable"])
    page.press("dialog button", "Use Contact Key")
    page.press("dialog button", "Send")
    problem = page.until("why not", lambda: page.one("dialog [role=alert]").text, SEND_SECONDS)
    expect(plan["reason"] in problem, f"the reason is {problem!r}")
    expect(page.value("dialog textarea") == "kept" and page.value("dialog input[inputmode=url]") == plan["link"],
           "what was written is lost")
    page.sound("failure")
    page.press("dialog button", "Cancel")
    page.gone("dialog")


def contacts(page, plan, proxy):
    page.go(f"/{plan['account']}/contacts")
    page.press("#add")
    page.type("dialog .assisted input", plan["unreachable"])
    page.press("dialog button", "Add contact")
    page.one("dialog [role=alert]", "name")
    page.type("dialog input[maxlength]", "Dora of the test")
    page.type("dialog textarea", plan["relay"])
    page.press("dialog button", "Add contact")
    page.one("dialog [role=alert]", "agree")
    expect("operator" in page.one("dialog .agree").text, "it does not say what the operator learns")
    page.sound("contact")
    page.press("dialog .agree input")
    page.press("dialog button", "Add contact")
    page.gone("dialog")
    page.one("li", "Dora of the test")
    page.press("#add")
    page.type("dialog .assisted input", plan["unreachable"])
    page.type("dialog input[maxlength]", "Another")
    page.press("dialog button", "Add contact")
    page.one("dialog [role=alert]", "already")
    page.press("dialog button", "Cancel")
    page.sound("contacts")
    page.press_in("li", "Dora of the test", "[id^=change-]")
    page.type("dialog input[maxlength]", "Dora")
    page.press("dialog .tick input")
    page.press("dialog button", "Save")
    page.gone("dialog")
    page.gone("li", "Dora of the test")
    page.press_in("li", "Dora", "[id^=change-]")
    expect(page.one("dialog .tick input").is_selected(), "the choice of sessions is not kept")
    page.press("dialog button", "Cancel")
    page.gone("dialog")
    page.press_in("li", "Dora", "[id^=remove-]")
    page.press("dialog button", "Remove")
    page.gone("li", "Dora")


def other_views(page, plan, proxy):
    page.go(f"/{plan['account']}/relays")
    names = page.until("relays", lambda: [each.text for each in page.all(".relay .foreign")])
    expect(names == sorted(names), "the relays are not sorted")
    heights = {each.size["height"] for each in page.all(".relay .reason")}
    expect(len(heights) == 1 and heights.pop() > 0, "rows with and without a reason have different heights")
    page.type("#relay-url", "https://relay.example")
    page.press("form button", "Add relay")
    page.one("#relay-problem", "wss://")
    page.driver.find_element(By.ID, "relay-url").clear()
    page.type("#relay-url", plan["unreached"])
    page.press("form button", "Add relay")
    page.one(".relay .foreign", plan["unreached"])
    page.until("the box is empty", lambda: page.value("#relay-url") == "")
    page.until("the reason is shown", lambda: [each for each in page.all(".relay .reason") if each.text], 60)
    heights = {each.size["height"] for each in page.all(".relay .reason")}
    expect(len(heights) == 1, "a reason moves the rows")
    page.sound("relays-added")
    page.press(f"button[aria-label='Remove {plan['unreached']}']")
    page.gone(".relay .foreign", plan["unreached"])
    page.sound("relays")
    page.go(f"/{plan['account']}/messages")
    page.one("h2", "Messages")
    page.sound("messages")


def messages(page, plan, proxy):
    page.press("#compose")
    Select(page.one("dialog select")).select_by_visible_text(plan["contact"])
    page.type("dialog textarea", "a message of the test")
    page.press("dialog button", "Send")
    page.gone("dialog", seconds=SEND_SECONDS)
    page.press(".conversation", plan["contact"])
    page.one("ol li", "a message of the test")
    page.type("#write", "another message")
    page.press("form button", "Send message")
    page.until("the message", lambda: "another message" in page.all("ol li")[-1].text, SEND_SECONDS)
    page.sound("message")


def play(page, plan, proxy):
    page.go(plan["conversationAddress"])
    page.one(f"#{plan['playId']}")
    expect(not proxy.asked, f"before the click were asked: {proxy.asked}")
    page.press(f"#{plan['playId']}")
    page.until(f"{plan['playedHost']} is asked", lambda: plan["playedHost"] in proxy.asked, 90)
    frame = page.until("a frame", lambda: page.all("dialog iframe, dialog video, dialog .stage a"), 90)[0]
    if frame.tag_name.lower() == "iframe":
        allowed = set(frame.get_attribute("sandbox").split())
        expect(allowed == {"allow-scripts", "allow-same-origin", "allow-popups", "allow-presentation"}, f"{allowed}")
        expect(frame.get_attribute("referrerpolicy") == "no-referrer", "the frame gets a referrer")
    page.sound("player")
    page.press("dialog button", "Close")
    page.gone("iframe")
    page.until("the focus is back", lambda: page.focused().get_attribute("id") == plan["playId"])


def deep_link(page, plan, proxy):
    asked = len(proxy.asked)
    page.press(f"#copy-{plan['postId']}")
    page.one("#notice p", "copied")
    page.press("#compose")
    page.press("dialog button[aria-label='Paste into Post Link']")
    link = page.until("the copied link", lambda: page.value("dialog input[inputmode=url]"))
    expect(link.startswith("linkstr://open?p="), f"{link} was copied")
    page.press("dialog button[aria-label='Clear Post Link']")
    page.press("dialog button", "Cancel")
    page.driver.get(f"{plan['page']}/#open={link.split('p=', 1)[1]}")
    page.driver.refresh()
    page.one("h2", "A shared link")
    page.one("button", "Play")
    expect(not page.one("body").find_element(By.ID, "top").is_displayed(), "it is not the whole page")
    page.sound("deep-link")
    expect(len(proxy.asked) == asked, f"without a click were asked: {proxy.asked[asked:]}")
    page.press("button", "Play")
    page.until("it is played", lambda: plan["playedHost"] in proxy.asked[asked:], 90)
    page.press("a", "Done")
    page.one(".conversation", plan["contact"])


def keyboard(page, plan, proxy):
    """From the list into a thread and back, and through a dialog, with keys only; the focus is always seen."""
    page.go(f"/{plan['account']}/links")
    page.one(".conversation", plan["contact"])
    tab_to(page, lambda each: each.get_attribute("class").startswith("conversation") and plan["contact"] in each.text)
    page.key(Keys.ENTER)
    page.one("h2", plan["contact"])
    page.one(f"#thread-{plan['postId']}")
    tab_to(page, lambda each: each.get_attribute("id") == f"thread-{plan['postId']}")
    page.key(Keys.ENTER)
    page.one("h2", "Thread")
    tab_to(page, lambda each: each.get_attribute("id") == "write")
    page.go(plan["conversationAddress"])
    page.one("#compose")
    tab_to(page, lambda each: each.get_attribute("id") == "compose")
    page.key(Keys.ENTER)
    page.one("dialog")
    tab_to(page, lambda each: each.text == "Cancel")
    page.key(Keys.ESCAPE)
    page.gone("dialog")
    page.until("the focus is back", lambda: page.focused().get_attribute("id") == "compose")


def tab_to(page, is_wanted):
    for _ in range(TAB_MAXIMUM):
        try:
            each = page.focused()
            if each.tag_name.lower() not in ("body", "html") and is_wanted(each):
                return
            page.key(Keys.TAB)
            each = page.focused()
            if each.tag_name.lower() in ("a", "button", "input", "textarea", "select"):
                style = each.value_of_css_property("outline-style")
                expect(style not in ("none", ""), f"the focus on {each.get_attribute('outerHTML')[:120]} is not seen")
        except StaleElementReferenceException:
            # The page has made it again.
            continue
    raise Failed("the element is not reached with the Tab key")


def sizes(page, plan, proxy):
    for css in (640, 400):
        page.width(css)
        inner = page.driver.execute_script("return innerWidth")
        # Firefox has a least width of its window.
        expect(inner <= css or page.name == "firefox", f"the window is {inner} px wide")
        for view, address, wanted in (
                ("links", f"/{plan['account']}/links", ".conversation"),
                ("conversation", plan["conversationAddress"], ".post"),
                ("thread", f"/{plan['account']}/post/{plan['postId']}", "#write"),
                ("contacts", f"/{plan['account']}/contacts", "#add"),
                ("relays", f"/{plan['account']}/relays", ".relay"),
                ("share", f"/{plan['account']}/share", "svg.code")):
            page.go(address)
            page.one(wanted)
            page.sound(f"{view}-{css}")
        page.go(plan["conversationAddress"])
        page.press("#compose")
        page.one("dialog")
        page.sound(f"composer-{css}")
        page.press("dialog button", "Cancel")
    page.width(1_200)
    if page.name == "chromium":
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        for view in ("links", "messages", "contacts", "relays", "share"):
            page.go(f"/{plan['account']}/{view}")
            page.one("h2")
            page.sound(f"{view}-dark")


def strangers(page, plan, proxy):
    """Pages of other origins, of the same site too; a name that leads to the page's server; a used address."""
    for origin in ("http://other.example", proxy.near_address):
        page.driver.get(origin + "/")
        page.until("the attack ends", lambda: page.driver.title.startswith("tried"))
        outcome = json.loads(page.driver.title.removeprefix("tried "))
        expect(outcome == {"fetch": 0, "blind": 0, "socket": "closed", "script": "refused", "frame": 0},
               f"{origin} got {outcome}")
        page.driver.switch_to.frame("frame")
        framed = page.driver.execute_script("return document.documentElement.textContent")
        page.driver.switch_to.default_content()
        expect(plan["contact"] not in framed and "Roost links" not in framed, f"{origin} shows the page in a frame")
    port = urlsplit(plan["page"]).port
    page.driver.get(f"http://{REBOUND}:{port}/")
    expect("Roost links" not in page.driver.page_source, "a name that leads here gets the page")
    page.driver.get(plan["page"] + "/")
    page.one(".conversation", plan["contact"])
    page.driver.delete_all_cookies()
    page.driver.get(plan["address"])
    page.one("body", ENTRY)
    expect(not page.all("[data-page=links]"), "an address works twice")
    page.driver.get(plan["page"] + "/")
    page.one("body", ENTRY)
    page.sound("entry")


STEPS = [
    enter, read_conversation, read_thread, reply, composer, share_and_paste, failure_keeps_text, contacts, other_views,
    messages, play, deep_link, keyboard, sizes, strangers,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("browser", choices=["chromium", "firefox"])
    parser.add_argument("scenario", type=json.loads)
    parser.add_argument("--pictures")
    chosen = parser.parse_args()
    parts = urlsplit(chosen.address)
    plan = {**chosen.scenario, "address": chosen.address, "page": f"{parts.scheme}://{parts.netloc}"}
    proxy = Proxy(plan["page"])
    with tempfile.TemporaryDirectory() as folder:
        driver = chromium(proxy, plan["page"]) if chosen.browser == "chromium" else firefox(proxy, folder)
        page = Page(driver, chosen.browser, chosen.pictures)
        try:
            page.width(1_200)
            for step in STEPS:
                name = step.__name__.replace("_", " ")
                try:
                    step(page, plan, proxy)
                except (Failed, WebDriverException) as error:
                    print(f"failed at {name}: {getattr(error, 'msg', None) or error}", flush=True)
                    return 1
                print(name, flush=True)
        finally:
            driver.quit()
    print("done", flush=True)
    return 0


sys.exit(main())
