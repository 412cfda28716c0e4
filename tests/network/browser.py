# SPDX-License-Identifier: MIT
"""A page in headless Chromium, controlled through its debugging pipe, without a library. None if there is no Chromium."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_browser():
    return shutil.which("chromium") or shutil.which("google-chrome")


class Browser:
    """with Browser() as b: b.open(url); b.evaluate("document.title")"""

    def __init__(self, width=1280, height=1400):
        self.folder = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.fro, to_write = os.pipe()

        def pipes():  # Chromium reads 3 and writes 4
            os.dup2(to_read, 30)
            os.dup2(to_write, 31)
            os.dup2(30, 3)
            os.dup2(31, 4)

        self.process = subprocess.Popen(
            [find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
             "--no-first-run", "--disable-background-networking", f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.text, self.number, self.session, self.console = b"", 0, None, []

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, end):
        while b"\0" not in self.text:
            if not select.select([self.fro], [], [], max(0, end - time.time()))[0]:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self.fro, 1 << 20)
            if not more:
                raise ConnectionError("Chromium has ended")
            self.text += more
        one, self.text = self.text.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, seconds=60, **parameters):
        self.number += 1
        number, end = self.number, time.time() + seconds
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            said = self.message(end)
            if said.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(json.dumps(said["params"])[:600])
            if said.get("id") == number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", str(result)))
        return result["result"].get("value")

    def wait_for(self, script, seconds=30):
        """@return whether it became true"""
        end = time.time() + seconds
        while time.time() < end:
            if self.evaluate(script):
                return True
            time.sleep(0.2)
        return False

    def look(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        """Text of the whole page."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
