#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""advice.py resumes an interrupted run: it keeps the finished rows and runs only the others."""

import json
import pathlib
import sys
import tempfile
import types

import advice

PROGRAM = """#!/bin/sh
echo "$@" >>"$0.asked"
[ "$1" = trace ] && exit 0
echo '{"trials": [{"context": "FIFO 51", "in_full": "", "loses_nothing": true, "blocks_late": 0,
  "between_losses": {"low_s": 2.0, "evidence": "seen"}}, {"context": "OTHER", "in_full": "", "loses_nothing": true, "blocks_late": 0,
  "between_losses": {"low_s": 100.0, "evidence": "seen"}}]}'
"""


def machine(finishes, late):
    """A virtual machine that ends after a given number of contexts."""

    def run(options, c, keep):
        run.asked.append((c.kernel, c.load, list(c.contexts)))
        (keep / "release").write_text("6.12\n")
        (keep / "trace.dat").write_text("")
        for n in range(min(finishes, len(c.contexts))):
            seen = {"without": [], "demoted": late > 0, "blocks_late": late, "blocks": 1000, "seconds": options.seconds}
            (keep / f"{n}.json").write_text(json.dumps(seen))
        return 124 if finishes < len(c.contexts) else 0

    run.asked = []
    return run


def run(arguments, fake):
    advice.run_in_machine = fake
    sys.argv = ["advice.py", *arguments]
    return advice.main()


with tempfile.TemporaryDirectory() as folder:
    program, rows = pathlib.Path(folder, "offhook"), pathlib.Path(folder, "rows.jsonl")
    program.write_text(PROGRAM)
    program.chmod(0o755)
    wanted = [str(program), "--kernels", "6.12", "--loads", "fifo60", "--contexts", "FIFO 51", "OTHER", "--rows", str(rows)]
    first, second, third = machine(1, 0), machine(2, 0), machine(2, 0)
    assert run([*wanted, "--seconds", "10"], first) == 2, "rows are missing"
    assert run([*wanted, "--seconds", "10"], second) == 0
    assert second.asked == [("6.12", "fifo60", ["OTHER"])], second.asked
    assert run([*wanted, "--seconds", "10"], third) == 0 and third.asked == [], "nothing is left"
    assert run([*wanted, "--seconds", "20"], third) == 0 and third.asked[0][2] == ["FIFO 51", "OTHER"], "longer ones are other rows"
    # Ten late blocks in 30 s refute 100 s between losses, but not 2 s.
    assert run([*wanted, "--seconds", "30"], machine(2, 10)) == 1
    # A simulation that is shorter than the trace would not use all of it.
    assert run([*wanted, "--seconds", "40", "--trace-s", "30.5"], machine(2, 0)) == 1, "of the rows before"
    asked = [line for line in pathlib.Path(folder, "offhook.asked").read_text().splitlines() if line.startswith("advise")]
    assert all(" --seconds 10 " in line for line in asked[:-2]) and all(" --seconds 31 " in line for line in asked[-2:]), asked
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["broken"] for row in kept] == [False] * 5 + [True, False, False], kept
    assert isinstance(advice.row_of(types.SimpleNamespace(), advice.Combination("6.12", "none", "x", ["OTHER"]), 0, pathlib.Path(folder), rows), str)
print("all passed")
