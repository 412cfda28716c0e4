#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a terminal: tables and progress fit its width, whatever NO_COLOR says there is no colour; off it, lines are whole.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >on_terminal.py <<'END'
"""on_terminal.py COLUMNS COMMAND...: prints what the command writes to a terminal so wide."""
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(command[0], command)
written = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:  # Linux, when the other end is closed
        break
    if not more:
        break
    written += more
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.buffer.write(written.replace(b"\r\n", b"\n"))
sys.exit(status)
END

timeout 120 python3 on_terminal.py 70 "$offhook" advise g-lite nt2000-p2-450 --seconds 2 --repeats 1 >narrow.txt || fail "advise on a terminal"
timeout 120 python3 on_terminal.py 400 "$offhook" advise g-lite nt2000-p2-450 --seconds 2 --repeats 1 >wide.txt || fail "advise on a wide terminal"
expect 0 "timer late ms" advise g-lite nt2000-p2-450 --seconds 2 --repeats 1
python3 - narrow.txt wide.txt out.txt <<'END' || fail "widths"
import re, sys
narrow, wide, piped = (open(f, encoding="utf-8").read() for f in sys.argv[1:4])
# Of the table: from its first head to the line under it.
rows = lambda text: [line for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[K", "", text)) if re.match(r"(context|INT|DPC|THR \d+|RES \S+)( strict)?  ", line)]
assert max(map(len, rows(narrow))) <= 70, max(rows(narrow), key=len)
assert len(rows(narrow)) > len(rows(wide)) == len(rows(piped)), "not in several parts"
assert {w for r in rows(wide) for w in r.split()} == {w for r in rows(narrow) for w in r.split()}, "a cell is missing"
for progress in re.findall(r"\r([^\r\n]*)\x1b\[K", narrow):
    assert len(progress) < 70, progress
for text in (narrow, wide, piped):
    assert not re.search(r"\x1b\[[0-9;]*m", text), "colour"
END
finish
