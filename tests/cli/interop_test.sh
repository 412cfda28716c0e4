#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `./dev interop PROGRAM`: our own modem is the other program; what a program may do wrong.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

interop=(python3 "$source_dir/tests/interop/interop.py" --offhook "$offhook" --calls 1 --roles call)
export OFFHOOK=$offhook
ours="python3 $source_dir/tests/interop/offhook_far_end.py"

# tried STATUS PROGRAM CELL: its standard output is in out.txt, its standard error in err.txt
tried() {
  local status=$1
  timeout 550 "${interop[@]}" "$2" --cells "$3" --out "$work/out" >out.txt 2>err.txt
  got=$?
  [ "$got" = "$status" ] || fail "interop \"$2\" ended with $got, expected $status: $(tail -3 err.txt)"
}

tried 0 "$ours" "clean"
grep -qF "| clean | 1 of 1 | 33600 33600 | 0 | 0 |" out.txt || fail "clean: $(cat out.txt)"
grep -q "^1 of 1: clean" err.txt || fail "no progress: $(cat err.txt)"
tried 0 "$ours" "clean"
[ -s err.txt ] && fail "a kept result was made again: $(cat err.txt)"
grep -qF "| clean | 1 of 1 |" out.txt || fail "kept: $(cat out.txt)"
# A near echo at both ends: that of PROGRAM comes back by the socket, and it is told when (driver.device_delay_samples).
tried 0 "$ours" "2-wire: near echo 12 dB, far 30, mu-law"
grep -qE "^\| 2-wire.* \| 1 of 1 \| (28800|31200|33600) (28800|31200|33600) \|" out.txt || fail "near echo: $(cat out.txt)"
printf '{"by": 1}' >"$work/out/clean-call-1/result.json"
tried 0 "$ours" "clean"
[ -s err.txt ] || fail "a damaged result was believed"

# What a program may say: that it cannot; nothing; something that never becomes a modem.
tried 0 "$ours" "at most 4800"
grep -qF "| at most 4800 bit/s | not possible |" out.txt || fail "not possible: $(cat out.txt)"
cat >leaves.sh <<'END'
#!/bin/sh
[ "$1" = describe ] && echo '{"name": "leaves", "address": ""}' && exit 0
exec python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
while s.connect_ex("socket"): time.sleep(0.1)
s.recv(1000)'
END
chmod +x leaves.sh
tried 2 "$work/leaves.sh" "clean"
grep -q "| clean | 0 of 1 |.*the far end closed its socket" out.txt || fail "leaves: $(cat out.txt)"
tried 1 "/bin/echo" "clean"
grep -q "expected one JSON object" err.txt || fail "echo: $(cat err.txt)"
tried 1 "nowhere" "clean"
grep -q "no program that can be started" err.txt || fail "nowhere: $(cat err.txt)"
tried 1 "$ours" "no such cell"
grep -q "all of them: ./dev interop --list" err.txt || fail "no such cell: $(cat err.txt)"
"${interop[@]}" --list >list.txt || fail "--list"
grep -q "^drop-out of 2 s: v34, .*line.interruption_ms=2000" list.txt || fail "--list: no drop-out"
grep -q "^round trip 600 ms: v34, .*line.delay_ms=300" list.txt || fail "--list: no round trip"
grep -q "^V.90, round trip 500 ms: v90, .*trunk.delay_ms=250" list.txt || fail "--list: no round trip on a trunk"
# Each cell keeps its results in a folder of its own: +7 Hz and -7 Hz once shared one, and neither was kept.
python3 - "$source_dir/tests/interop" <<'END' || fail "two cells keep their results in one folder"
import sys
sys.path.insert(0, sys.argv[1])
import interop
names = [cell["name"] for cell in interop.cells()]
sys.exit(len({interop.slug(name) for name in names}) != len(names))
END

# Our own modem with itself, as two programs over a line.
line_of_two=$(dirname "$offhook")/../tests/line_of_two
if [ -x "$line_of_two" ]; then
  timeout 550 python3 "$source_dir/tests/interop/interop.py" "$ours" --itself --line "$line_of_two" --calls 1 --cells "V.32bis" \
    --out "$work/itself" >out.txt 2>err.txt || fail "--itself: $(tail -3 err.txt)"
    grep -qE "^\| V.32bis \| 1 of 1 \| [0-9]+ \|" out.txt || fail "--itself: $(cat out.txt)"
  [ "$(head -c 4 "$work/itself/V.32bis-call-1/call/received.bin" | wc -c)" = 4 ] || fail "--itself: nothing was received"
fi
finish
