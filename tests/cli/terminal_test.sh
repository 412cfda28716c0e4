#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a terminal: tables and progress fit its width, and there is colour unless NO_COLOR forbids it; off it, lines are whole
# and plain.
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

export TERM=xterm NO_COLOR=1
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
reasons = [line for line in re.split(r"[\r\n]+", narrow) if line.startswith("  ")]
assert len(reasons) > 10 and max(map(len, reasons)) <= 70, "prose wider than the terminal"
for text in (narrow, wide, piped):
    assert not re.search(r"\x1b\[[0-9;]*m", text), "colour"
END

# Help, too, but for commands that are to be copied; the words are those of a pipe.
timeout 20 python3 on_terminal.py 70 "$offhook" advise --help >narrow.txt || fail "advise --help on a terminal"
"$offhook" advise --help >piped.txt
python3 - narrow.txt piped.txt <<'END' || fail "help on a terminal"
import sys
narrow, piped = (open(f, encoding="utf-8").read() for f in sys.argv[1:])
assert narrow.split() == piped.split(), "other words"
wide = [line for line in narrow.splitlines() if len(line) > 70 and not line.startswith("  offhook ")]
assert not wide, wide
END

# Colour: of verdicts, titles and errors; the text without it is what NO_COLOR, TERM=dumb and a pipe give.
call() {
  timeout 120 python3 on_terminal.py 100 "$offhook" run "$source_dir/examples/$1" --set transfer.bytes=1000 --set transfer.time_limit_s=60 --out "out-$1"
}
for example in int.toml thr-8-spinner.toml; do
  NO_COLOR='' call $example >coloured.txt
  call $example >plain.txt
  NO_COLOR='' TERM=dumb call $example >dumb.txt
  python3 - $example coloured.txt plain.txt dumb.txt <<'END' || fail "colour of $example"
import re, sys
coloured, plain, dumb = (re.sub(r"\r[^\r\n]*\x1b\[K", "", open(f, encoding="utf-8", newline="").read()) for f in sys.argv[2:])
assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain == dumb, "other words with colour"
assert "\x1b" not in plain, "an escape with NO_COLOR"
code, word, headline = (32, "sufficient", "Sufficient:") if sys.argv[1] == "int.toml" else (31, "insufficient", "Insufficient:")
assert f"\x1b[1;{code}m{word}\x1b[0m" in coloured, "no colour of the verdict"
assert f"\x1b[1;{code}m{headline}" in coloured, "no colour of the headline"
END
done
NO_COLOR='' timeout 20 python3 on_terminal.py 100 "$offhook" runn >error.txt && fail "runn is a command"
grep -qF "$(printf '\033[1;31moffhook: error:\033[0m ')" error.txt || fail "an error without colour"
finish
