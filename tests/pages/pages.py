#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes one of every page of the program and opens each in headless Chromium (look.js): `./dev pages`.

Screenshots, PDFs and findings.json are left in the output folder. Exit status 0: no findings; 1: listed findings, or a
page that could not be written; 77: skipped, because the browser or the modules of package.json are missing.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def cache() -> Path:
    """Where `./dev pages` puts the modules, outside of the tree."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "offhook" / "pages"


def pages(examples: Path) -> dict[str, tuple[list[str], str, set[int], int]]:
    """By name: arguments of the program, the page that it writes, correct exit statuses, sheets when printed (0: any)."""

    def example(name: str) -> str:
        return str(examples / name)

    advise = ["advise", "g-lite", "nt2000-p2-450", "--seconds", "10"]
    return {
        "run": (["run", example("res-2-8.toml"), "--out", "run"], "run/report.html", {0}, 0),
        "run-lossy": (["run", example("thr-8-spinner.toml"), "--out", "lossy"], "lossy/report.html", {2}, 0),
        "run-device": (["run", example("g-lite.toml"), "--out", "device"], "device/report.html", {0, 2}, 0),
        "run-fax": (["run", example("fax.toml"), "--out", "fax"], "fax/report.html", {0}, 0),
        "run-v92": (["run", example("v92.toml"), "--out", "v92"], "v92/report.html", {0}, 0),
        "live": (
            ["modem", "null", "--seconds", "1", "--best-effort", "--json", "--out", "live"],
            "live/report.html",
            {0},
            0,
        ),
        "sweep": (["sweep", example("reservation-map.toml"), "--out", "sweep"], "sweep/report.html", {0}, 0),
        "advise": ([*advise, "--out", "advise"], "advise/report.html", {0}, 0),
        "advise-none": (
            [*advise, "--set", "context=THR 1", "--out", "none"],
            "none/report.html",
            {2},
            0,
        ),
        "advise-linux": (
            ["advise", "g-lite", "linux-hz250", "--seconds", "5", "--repeats", "1", "--out", "linux"],
            "linux/report.html",
            {0, 2},
            0,
        ),
        "memo": ([*advise, "--memo", "memo.html"], "memo.html", {0}, 1),
        "memo-crowded": (
            ["advise", "g-lite", "linux-hz250", "--set", "host.cpus=2", "--seconds", "5", "--memo", "crowded.html"],
            "crowded.html",
            {0, 2},
            1,
        ),
        "mttf": (
            ["mttf", "win98-games", "--context", "THR 28", "--hours", "2", "--html", "mttf.html"],
            "mttf.html",
            {0},
            0,
        ),
        "mttf-tasks": (
            ["mttf", "--tasks", example("schedulability.toml"), "--hours", "1", "--html", "tasks.html"],
            "tasks.html",
            {0},
            0,
        ),
        "law": (
            ["advise", "law", "g-lite", "--buffers", "2", "--confirm", "--seconds", "5", "--phases", "3", "--out", "law"],
            "law/report.html",
            {0},
            0,
        ),
        "measure": (
            ["measure", "host", "--repeats", "3", "--applications", "0", "--best-effort", "--html", "measure.html"],
            "measure.html",
            {0},
            0,
        ),
        "trunk-test": (
            ["trunk-test", "rtp:127.0.0.1:47300,127.0.0.1:47302", "rtp:127.0.0.1:47302,127.0.0.1:47300", "--seconds", "12",
             "--best-effort", "--html", "trunk.html"],
            "trunk.html",
            {0},
            0,
        ),
        "decode": (["decode", example("call.wav"), "--html", "decode.html"], "decode.html", {0}, 0),
        "compare": (
            ["compare", "run/summary.json", "lossy/summary.json", "--html", "compare.html", "-q"],
            "compare.html",
            {0},
            0,
        ),
        "schedule": (["schedule", example("system.json"), "--html", "schedule.html"], "schedule.html", {0}, 0),
        "reproduce": (
            ["reproduce", "--repeats", "1", "--out", "reproduce", "--json"],
            "reproduce/report.html",
            {0, 2},
            0,
        ),
        "demo": (["demo", "--bytes", "1500", "--repeats", "2", "--json", "--out", "demo"], "demo/report.html", {0}, 0),
    }


def why_not(modules: Path) -> str:
    """Why no page can be opened here; empty if it is possible."""
    if not shutil.which("node"):
        return "no node (Debian package nodejs)"
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        return "no Chromium (Debian package chromium)"
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    for name, version in wanted.items():
        file = modules / "node_modules" / name / "package.json"
        if not file.is_file() or json.loads(file.read_text())["version"] != version:
            return f"no {name} {version} in {modules} (./dev pages gets it)"
    return ""


def make(program: Path, examples: Path, out: Path, names: list[str]) -> tuple[list[dict], list[dict]]:
    """@return the pages that were written, and a finding for each one that was not"""
    made, findings = [], []
    for name, (arguments, page, right, sheets) in pages(examples).items():
        if names and name not in names:
            continue
        print(f"[pages] making {name}: offhook {' '.join(arguments)}", flush=True)
        if Path(page).parent != Path():  # results of another version of the program cannot be resumed
            shutil.rmtree(out / Path(page).parent, ignore_errors=True)
        done = subprocess.run([program, *arguments], cwd=out, capture_output=True, check=False, text=True, timeout=900)
        if done.returncode not in right or not (out / page).is_file():
            last = done.stderr.strip().splitlines()[-1:]
            print(f"{name}: exit status {done.returncode}, {page}: {''.join(last)}", flush=True)
            findings.append(
                {"page": name, "look": "", "what": f"exit status {done.returncode}", "where": "", "more": "".join(last)}
            )
            continue
        made.append({"name": name, "file": str(out / page), "sheets": sheets})
    return made, findings


LIVE = "live-page"


def start_live(program: Path) -> tuple[subprocess.Popen, list[dict], list[dict]]:
    """A page that a command serves. @return the command, the page if there is one, and a finding if there is not"""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = ["modem", "null", "null", "--best-effort", "--page", str(port)]
    print(f"[pages] serving {LIVE}: offhook {' '.join(arguments)}", flush=True)
    command = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        time.sleep(0.1)
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return command, [{"name": LIVE, "url": f"http://127.0.0.1:{port}/", "sheets": 0}], []
        except OSError:
            pass
    return command, [], [{"page": LIVE, "look": "", "what": "nothing answers", "where": "", "more": ""}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the built offhook")
    parser.add_argument("--out", type=Path, default=Path("out/pages"), help="default: out/pages")
    parser.add_argument("--modules", type=Path, default=cache(), help=f"default: {cache()}")
    parser.add_argument("pages", nargs="*", help="only these")
    options = parser.parse_intermixed_args()
    unknown = set(options.pages) - set(pages(HERE)) - {LIVE}
    if unknown:
        parser.error(f"no page {', '.join(sorted(unknown))}; expected some of {', '.join([*pages(HERE), LIVE])}")
    missing = why_not(options.modules)
    if missing:
        print(f"skipped: {missing}")
        return SKIPPED
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    made, findings = make(options.program.resolve(), HERE.parents[1] / "examples", out, options.pages)
    live = None
    if not options.pages or LIVE in options.pages:
        live, served, missing_live = start_live(options.program.resolve())
        made += served
        findings += missing_live
    job = out / "job.json"
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    job.write_text(json.dumps({"browser": browser, "out": str(out), "pages": made}))
    print(f"[pages] opening {len(made)} pages: two widths, light and dark, printed", flush=True)
    with subprocess.Popen(
        ["node", HERE / "look.js", job],
        env={**os.environ, "NODE_PATH": str(options.modules / "node_modules")},
        stdout=subprocess.PIPE,
        text=True,
    ) as node:
        for line in node.stdout:
            findings.append(json.loads(line))
            f = findings[-1]
            print(": ".join(filter(None, [f["page"], f["look"], f["what"], f["where"], f["more"]])), flush=True)
    job.unlink()
    if live:
        live.terminate()
        live.wait()
    (out / "findings.json").write_text(json.dumps(findings, indent=1) + "\n")
    if node.returncode != 0:
        print(f"the browser was not driven to the end: node ended with {node.returncode}")
        return 1
    print(f"[pages] {len(made)} pages, {len(findings)} findings; pictures in {options.out}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
