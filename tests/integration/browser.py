"""A headless Chromium that a test drives through its debugging pipe: the standard library is enough for that."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--remote-debugging-pipe", "about:blank"]
ANSWER_WITHIN = 60.0


class Browser:
    """One browser with one page. What it asks the network for, and what reaches its console, is kept."""

    def __init__(self, folder):
        program = shutil.which("chromium")
        assert program, "no chromium on this machine; scripts/setup.sh --with-integration installs it"
        to_browser, self.to = os.pipe()
        self.of, from_browser = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4: first out of their way, whoever has them now.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_browser, from_browser)]
        self.process = subprocess.Popen(
            [program, f"--user-data-dir={folder}", *FLAGS], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)))
        for fd in (to_browser, from_browser, *ends):
            os.close(fd)
        self.rest, self.number, self.answers = b"", 0, {}
        self.requests, self.console = [], []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        wanted = self.number
        end = time.monotonic() + ANSWER_WITHIN
        while wanted not in self.answers:
            self.read(end - time.monotonic(), method)
        answer = self.answers.pop(wanted)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def read(self, limit, what):
        ready, _, _ = select.select([self.of], [], [], max(0.0, limit))
        assert ready, f"chromium did not answer to {what}"
        part = os.read(self.of, 1 << 20)
        assert part, f"chromium ended during {what}"
        *messages, self.rest = (self.rest + part).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.note(message["method"], message["params"])

    def note(self, method, parameters):
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.console.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.console.append(str([argument.get("value") for argument in parameters["args"]]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.console.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1,
                  mobile=phone)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def run(self, expression):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, (expression, result["exceptionDetails"])
        return result["result"].get("value")

    def wait(self, what, limit, expression):
        # Until the page is there its elements are not.
        attempt = f"(() => {{ try {{ return {expression}; }} catch {{ return false; }} }})()"
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if value := self.run(attempt):
                return value
            time.sleep(0.05)
        raise AssertionError(f"{what}: not within {limit} s; the page says: {self.run('document.body.innerText')[:600]}")

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, modifiers=8 if shift else 0,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13}.get(key, 0))

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        os.close(self.to)
        os.close(self.of)
