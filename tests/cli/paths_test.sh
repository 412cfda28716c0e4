#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Paths, sizes and names as a hostile user or file would give them: nothing of the user's is deleted or written through.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >call.toml <<TOML
name = "call"
context = "THR 24"
pump.kind = "cost-profile"
pump.cost_profile = "pentium2-450-vendor"
transfer.bytes = 2000
TOML
quietly() { timeout 60 "$offhook" "$@" >out.txt 2>err.txt || fail "offhook $*: $(cat err.txt)"; }
mode() { stat -c %a "$1"; }

# A scenario's name is no way out of the output folder.
for name in .. . ../../escaped /tmp/offhook-escaped "$(printf 'x%.0s' {1..101})"; do
  expect_error "expected a file's name of at most 100 characters" run call.toml --set "name=\"$name\""
done
{ [ -e out ] || [ -e /tmp/offhook-escaped ]; } && fail "a name left the folder"

# umask; what a call was is its owner's.
(umask 022; expect 0 "" run call.toml --out run)
for file in events.ohlog trace.perfetto; do [ "$(mode run/$file)" = 600 ] || fail "$file: $(mode run/$file)"; done
for file in summary.json report.html scenario.toml; do [ "$(mode run/$file)" = 644 ] || fail "$file: $(mode run/$file)"; done
chmod 640 run/events.ohlog
(umask 077; expect 0 "" run call.toml --out run)
[ "$(mode run/summary.json)" = 644 ] || fail "a mode that was given is not kept"
[ "$(mode run/events.ohlog)" = 640 ] || fail "a mode that was given is not kept: $(mode run/events.ohlog)"

# Links in an output folder are never followed, for any file.
mkdir trap linked
for file in events.ohlog summary.json scenario.toml trace.perfetto report.html; do
  echo precious >"trap/$file"
  ln -s "../trap/$file" "linked/$file"
done
expect 0 "" run call.toml --out linked
for file in trap/*; do [ "$(cat "$file")" = precious ] || fail "$file was written through a link"; done
for file in linked/*; do [ ! -L "$file" ] || fail "$file is still a link"; done
mkdir odd && mkfifo odd/summary.json
expect_error "odd/summary.json: is a FIFO; expected a file" run call.toml --out odd
[ -p odd/summary.json ] || fail "the FIFO was replaced"

# What the user names may be anything, and stays what it is.
quietly report export run --csv /dev/null
[ -c /dev/null ] || fail "/dev/null is no device any more"
"$offhook" report export run --csv /dev/stdout >csv.txt 2>err.txt || fail "/dev/stdout: $(cat err.txt)"
[ "$(wc -l <csv.txt)" -gt 100 ] || fail "/dev/stdout got nothing"
mkfifo pipe.csv && { timeout 20 cat pipe.csv >from_pipe.txt & }
quietly report export run --csv pipe.csv
wait
cmp -s from_pipe.txt csv.txt || fail "a FIFO got other bytes"
[ -p pipe.csv ] || fail "the FIFO was replaced"
echo old >target.csv && ln -s target.csv link.csv
quietly report export run --csv link.csv
{ [ -L link.csv ] && cmp -s target.csv csv.txt; } || fail "a link that was named is not followed"
expect_error "No space left" report export run --csv /dev/full

# Two runs into one folder.
timeout 100 "$offhook" run call.toml --set transfer.bytes=2000000000 --set transfer.time_limit_s=10000000 --out busy >busy.txt 2>&1 &
pid=$!
for _ in $(seq 100); do [ -s busy/events.ohlog ] && break; sleep 0.1; done
expect_error "busy: another run writes to this folder" run call.toml --out busy
[ -s busy/events.ohlog ] || fail "the first run's log is gone"
# SIGHUP, as a terminal that is closed sends it, completes what was recorded.
pkill -HUP -P $pid 2>/dev/null || kill -HUP $pid
wait $pid
[ $? = 129 ] || fail "SIGHUP: not 129"
grep -q '"interrupted": true' busy/summary.json || fail "SIGHUP: no summary"
expect 0 "" run call.toml --out busy

# Sockets: only one that was left behind is replaced.
echo precious >file
mkdir folder
for place in file folder; do
  expect_error "$place: is a $place; expected a socket" run call.toml --far-end "unix:$PWD/$place" --set pump.kind=real
  expect_error "$place: is a $place; expected the socket of a card" modem "unix:$place" --context OTHER --interrupt-priority 0 --best-effort
  expect_error "$place: is a $place; expected a socket" line "$place" b --priority 0 --best-effort
done
[ "$(cat file)" = precious ] || fail "the file is gone"
ln -s nowhere dangling
expect_error "dangling: is a symbolic link" line dangling b --priority 0 --best-effort
expect_error "dangling: is a symbolic link" run call.toml --far-end "unix:$PWD/dangling" --set pump.kind=real
[ -L dangling ] || fail "the link is gone"
"$offhook" line a b --priority 0 --best-effort >line.txt 2>&1 &
pid=$!
for _ in $(seq 50); do [ -S b ] && break; sleep 0.1; done
[ "$(mode a)$(mode b)" = 600600 ] || fail "sockets are $(mode a) $(mode b)"
expect_error "a: is the path of both cards; expected two paths" line a a --priority 0 --best-effort
expect_error "a: another program listens at this path" line a c --priority 0 --best-effort
[ -S a ] || fail "the first line's socket is gone"
rm b && echo precious >b
kill -INT $pid
wait $pid
[ ! -e a ] || fail "its own socket is left"
[ "$(cat b)" = precious ] || fail "at its end it removed what is not its own"
# One SIGINT is enough while a far end is waited for.
"$offhook" run call.toml --far-end "unix:$PWD/wait" --set pump.kind=real --out waits >wait.txt 2>&1 &
pid=$!
for _ in $(seq 50); do [ -S wait ] && break; sleep 0.1; done
kill -INT $pid
wait $pid
grep -q "interrupted before a far end connected" wait.txt || fail "waiting: $(cat wait.txt)"
[ ! -e wait ] || fail "the socket is left"

# --tty: a link of its own only, also after SIGHUP, SIGPIPE and kill -9.
echo precious >ttyX
expect_error "ttyX: is a file; expected no such file" modem null --tty ttyX --context OTHER --interrupt-priority 0 --best-effort
[ "$(cat ttyX)" = precious ] || fail "--tty replaced a file"
rm ttyX && ln -s file ttyX
expect_error "ttyX: is a link to file; expected no such file" modem null --tty ttyX --context OTHER --interrupt-priority 0 --best-effort
[ -L ttyX ] || fail "--tty replaced a link that is not its own"
rm ttyX
if [ -e /dev/ptmx ]; then
  start_modem() {
    : >modem.txt
    "$offhook" modem null --tty ttyX --context OTHER --interrupt-priority 0 --best-effort >modem.txt 2>&1 &
    pid=$!
    for _ in $(seq 100); do grep -q "^modem on" modem.txt 2>/dev/null && break; sleep 0.1; done
    [ -L ttyX ] || fail "no terminal: $(cat modem.txt)"
  }
  for signal in HUP PIPE TERM; do
    start_modem
    kill -$signal $pid
    wait $pid
    [ ! -L ttyX ] || fail "SIG$signal leaves the link"
  done
  start_modem
  expect_error "ttyX: a running modem uses it" modem null --tty ttyX --context OTHER --interrupt-priority 0 --best-effort
  kill -KILL $pid
  wait $pid 2>/dev/null
  [ -L ttyX ] || fail "kill -9 removed the link, which the next lines are about"
  start_modem
  kill -INT $pid
  wait $pid
  [ ! -L ttyX ] || fail "the link is left"
fi

# Sizes are looked at before memory is asked for: a clear message within a second, and in 512 MiB.
truncate -s 1000000000000 sparse.toml
cp sparse.toml sparse.dat
{ printf 'repeats = 1\n[axes]\n'; for key in context.x_ticks context.y_ticks host.tick_hz line.loss_db; do
    echo "$key = { from = 1, to = 1000 }"; done; } >grid.toml
python3 - <<'PY' >deep.toml
print("a." * 500000 + "a = 1")
PY
in_a_gigabyte=yes
(ulimit -v 1000000 && "$offhook" --version) >/dev/null 2>&1 || in_a_gigabyte=no
[ "$in_a_gigabyte" = yes ] || echo "skipped: limits of memory, in which this build (of a sanitizer) does not start"
limited() {
  [ "$in_a_gigabyte" = yes ] || return 0
  local text=$1
  shift
  # shellcheck disable=SC2030,SC2031  # a count of its own, which is the exit status
  (ulimit -v 1000000; failures=0; expect_error "$text" "$@"; exit "$failures") || failures=$((failures + 1))
}
for command in "run" "sweep" "advise law" "mttf --tasks"; do
  # shellcheck disable=SC2086
  limited "is nested too deep" $command deep.toml
  # shellcheck disable=SC2086
  limited "sparse.toml: has 1000000000000 bytes; expected at most" $command sparse.toml
  # shellcheck disable=SC2086
  [ "$command" = law ] || limited "/dev/zero" $command /dev/zero
done
limited "is nested too deep" advise vendor-modem deep.toml
limited "sparse.dat: has 1000000000000 bytes" run call.toml --file sparse.dat
limited "/dev/zero: does not end" run call.toml --file /dev/zero
limited "sparse.dat: has 1000000000000 bytes" trace sparse.dat
limited "/dev/zero: does not end" trace /dev/zero
limited "transfer.bytes is 1000000000000; expected at most" run call.toml --set pump.kind=real --set transfer.bytes=1000000000000
limited "the grid has over 100000 cells" sweep grid.toml
limited "offhook: error: /dev/zero: not an audio file" decode /dev/zero
limited "/dev/zero" report export --csv /dev/zero

# Names that are no UTF-8, and that would command a terminal.
latin=$(printf 'caf\xe9')
cp call.toml "$latin.toml"
expect 0 "" run "$latin.toml" --out "$latin" --json
python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' out.txt || fail "no JSON beside $latin"
expect 0 "" report "$latin" --json
python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' out.txt || fail "no JSON of $latin"
printf 'base = "%s.toml"\nrepeats = 2\n' call >"$latin-grid.toml"
expect 0 "" sweep "$latin-grid.toml" --out "$latin-sweep" --json
python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' out.txt || fail "no JSON of the sweep of $latin"
expect 0 "" sweep merge "$latin-sweep"
esc=$(printf 'x\033]0;owned\007y\n.toml')
cp call.toml "$esc"
expect 0 "" run "$esc" --set 'name="\u001b[2J\u009b2J"' --out "$esc.out"
expect_error 'x\x1b]0;owned\x07y\x0a.toml2: No such file' run "${esc}2"
! grep -q "$(printf '\033')" out.txt err.txt || fail "an escape sequence was printed"
expect 0 "" run "$esc" --set 'name="\u001b[2J\u009b2J"' --out "$esc.out"
! LC_ALL=C grep -q "$(printf '[\033\233]')" out.txt err.txt || fail "an escape sequence was printed: $(od -c out.txt | head)"
finish
