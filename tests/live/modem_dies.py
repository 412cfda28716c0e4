#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""During a call, one modem is killed and another takes its place; then the hardware disappears. The call must end
with a clear reason. Logs are kept, and with --keep-failed also the line with its decode page.

Usage: modem_dies.py OFFHOOK
"""
import json
import os
import subprocess
import sys
import time

from live import Bench, dial, fail, hear, say, wait_for


def failed_pages(folder):
    return sorted(f for f in os.listdir(folder) if f.startswith("failed-") and f.endswith(".html"))


def expect_page(folder, number, *reasons):
    """The page of the failed call of that number, from 1 on, has one of the reasons; the recording its modem."""
    wait_for(lambda: len(failed_pages(folder)) >= number, f"page of failed call {number}", 100)
    name = failed_pages(folder)[number - 1]
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        page = file.read()
    if not any(reason in page for reason in reasons) or "V.22bis" not in page:
        fail(f"{name}: {reasons} or V.22bis is missing")
    recording = os.path.join(folder, name.replace(".html", ".wav"))
    done = subprocess.run([sys.argv[1], "decode", "--json", "-q", recording], capture_output=True, text=True, check=False)
    if json.loads(done.stdout)["verdict"]["technology"] != "V.22bis":
        fail(f"{recording}: {done.stdout[:2000]}")


with Bench(sys.argv[1]) as bench:
    # A card that receives nothing has no dial tone.
    bench.start("modem", "null", "--tty", bench.path("ttyn"), "--context", "OTHER")
    n = bench.open("ttyn")
    os.write(n, b"ATE0X3DT5\r")  # blindly: it continues
    time.sleep(1)
    say(n, b"x", b"NO CARRIER")
    say(n, b"ATX4DT5", b"NO DIALTONE", 20)

    line, (modem_a, modem_b), (a, b) = bench.two_modems("FIFO 50", "FIFO 50",
                                                       options=["--keep-failed", bench.path("failed{end}")])
    dial(a, b)
    time.sleep(1)
    modem_a.kill()
    modem_a.wait()
    # kill -9 leaves a log with all events, except those of the last moment. The missing end is reported.
    done = subprocess.run([bench.offhook, "report", "export", "--csv", os.path.join(bench.path("outa"), "events.ohlog")],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 or "ends w" not in done.stderr or "before it are intact" not in done.stderr:
        fail("the killed modem's log: " + done.stderr)
    if done.stdout.count("\n") < 1000 or "pump_state" not in done.stdout:
        fail(f"the killed modem's log holds {done.stdout.count(chr(10))} events only")
    hear(b, b"NO CARRIER", 60)
    # The line has busy tone when a modem leaves it, but a late modem first misses its carrier.
    expect_page(bench.path("failedb"), 1, "51,busy tone", "60,the carrier was lost")
    # Another modem takes its place at the card.
    bench.start("modem", "unix:" + bench.path("a"), "--tty", bench.path("ttyc"), "--context", "FIFO 50")
    dial(bench.open("ttyc"), b)

    line.kill()
    line.wait()
    _, errors = modem_b.communicate(timeout=20)
    if modem_b.returncode != 1 or b"is gone: its process ended" not in errors:
        fail(f"status {modem_b.returncode}, said {errors!r}")
    with open(os.path.join(bench.path("outb"), "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    if not summary["blocks_served"] > 100:
        fail("counters were lost")
    if not os.path.getsize(os.path.join(bench.path("outb"), "report.html")):
        fail("no report")
    expect_page(bench.path("failedb"), 2, "is gone: its process ended")
print("all passed")
