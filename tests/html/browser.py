#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Opens pages of `--html` in a headless Chromium, and steps through them by their buttons and by the
keyboard, in light and dark, on a wide screen and on that of a phone:

    browser.py DIRECTORY PAGE...

Prints what is wrong, a line each: an error or a word in the console, a request to anywhere, a step
that does not come back to what it was, a page that is wider than a phone. Leaves pictures of the
first and of the last step of each page in DIRECTORY.

Chromium is asked over pipes (--remote-debugging-pipe), for which Python's own library is enough.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCREENS = {"wide": (1100, 800, False), "phone": (360, 640, True)}

class Browser:
    def __init__(self):
        asks, self.commands = os.pipe()
        self.answers, tells = os.pipe()
        self.profile = tempfile.TemporaryDirectory()
        # As bash has it: chromium reads from 3 and writes to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{asks} 4>&{tells}', "bash",
             "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(asks, tells), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(asks)
        os.close(tells)
        self.n = 0
        self.rest = b""
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise SystemExit("chromium ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.n += 1
        asked = {"id": self.n, "method": method, "params": parameters}
        if getattr(self, "session", None):
            asked["sessionId"] = self.session
        os.write(self.commands, json.dumps(asked).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.n:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.profile.cleanup()


# All that a step shows: the drawing that is visible, and where it stands.
STATE = """JSON.stringify([
    [...document.querySelectorAll("#drawing text")].filter(t => t.getClientRects().length).map(t => t.textContent),
    [...document.querySelectorAll("#drawing rect")].filter(r => r.getClientRects().length).map(
        r => r.getAttribute("class")),
    [...document.querySelectorAll("#steps li")].map((li, i) => li.hasAttribute("aria-current") ? i : null).filter(
        i => i !== null)])"""

# Cells that are drawn twice at a step, or not at all.
NOT_ONCE = """(() => {
    const cells = [...document.querySelectorAll("[data-p]")], names = new Set(cells.map(c => c.dataset.p));
    const shown = cells.filter(c => c.getClientRects().length).map(c => c.dataset.p);
    return [...names].filter(name => shown.filter(other => other === name).length !== 1).join(" ");
})()"""


def complaints(events, url):
    for event in events:
        method, told = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            yield "exception: " + json.dumps(told["exceptionDetails"])[:400]
        elif method == "Runtime.consoleAPICalled":
            yield "console: " + json.dumps(told["args"])[:400]
        elif method == "Log.entryAdded":
            yield f"log: {told['entry']['level']}: {told['entry']['text']}"
        elif method == "Network.requestWillBeSent" and told["request"]["url"] != url:
            yield "request: " + told["request"]["url"]


def step_through(browser, directory, page, screen, scheme):
    url = page.resolve().as_uri()
    width, height, is_phone = SCREENS[screen]
    name = f"{page.stem}-{screen}-{scheme}"
    browser.events.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=is_phone)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", url=url)
    browser.wait("Page.loadEventFired")
    browser.picture(directory / f"{name}-first.png")
    n = browser.value("document.querySelectorAll('#steps li').length")
    if browser.value("document.documentElement.scrollWidth > innerWidth"):
        yield f"{name}: wider than the screen"
    if browser.value("getComputedStyle(document.body).backgroundColor") != (
            "rgb(26, 26, 26)" if scheme == "dark" else "rgb(255, 255, 255)"):
        yield f"{name}: another ground"
    states = [browser.value(STATE)]
    for i in range(1, n):
        if browser.value(NOT_ONCE):
            yield f"{name}: not once at step {i - 1}: {browser.value(NOT_ONCE)}"
        if is_phone:
            browser.value("document.getElementById('next').click()")
        else:
            browser.press("ArrowRight")
        states.append(browser.value(STATE))
    if [json.loads(state)[2] for state in states] != [[i] for i in range(n)]:
        yield f"{name}: steps that are not one after the other"
    browser.picture(directory / f"{name}-last.png")
    for i in range(n - 1, 0, -1):
        if is_phone:
            browser.value("document.getElementById('back').click()")
        else:
            browser.press("ArrowLeft")
        if browser.value(STATE) != states[i - 1]:
            yield f"{name}: step {i - 1} is another on the way back"
    if n > 1:
        browser.press("End")
        if browser.value(STATE) != states[-1]:
            yield f"{name}: the key End"
        browser.press("Home")
        if browser.value(STATE) != states[0]:
            yield f"{name}: the key Home"
    if not browser.value("document.getElementById('key').disabled"):
        browser.value("document.getElementById('key').value = '<img src=x onerror=alert(1)>';"
                      "document.getElementById('key').dispatchEvent(new Event('input'))")
        if not browser.value("document.getElementById('answer').textContent"):
            yield f"{name}: no answer about a key that was typed"
    if browser.value("document.querySelectorAll('img, iframe, object, embed, link').length"):
        yield f"{name}: an element that nobody put there"
    for complaint in complaints(browser.events, url):
        yield f"{name}: {complaint}"


def main():
    directory = pathlib.Path(sys.argv[1])
    browser = Browser()
    try:
        for page in map(pathlib.Path, sys.argv[2:]):
            for screen in SCREENS:
                for scheme in "light", "dark":
                    for wrong in step_through(browser, directory, page, screen, scheme):
                        print(wrong)
    finally:
        browser.close()


main()
