#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Budgets, limits of the system, processes that were killed, and names that command a terminal: each once broke what
# SECURITY.md promises. tests/fuzz/budget.py measures the budgets themselves.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >call.toml <<TOML
name = "call"
context = "THR 24"
pump.kind = "cost-profile"
pump.cost_profile = "pentium2-450-vendor"
transfer.bytes = 2000
TOML
"$offhook" run call.toml --out run >/dev/null 2>&1 || fail "run"

# repeated TEXT N: the text so many times.
repeated() { python3 -c 'import sys; sys.stdout.write(sys.argv[1] * int(sys.argv[2]))' "$1" "$2"; }
# peak MB STATUS ARGS...: the program ends with STATUS and needs at most so many MB.
peak() {
  python3 - "$offhook" "$@" <<'PY' || fail "offhook ${*:3}: $(tail -1 err.txt)"
import os, subprocess, sys
offhook, most, status, *words = sys.argv[1:]
with open("err.txt", "wb") as err:
    process = subprocess.Popen([offhook, *words], stdout=subprocess.DEVNULL, stderr=err)
    _, ended, used = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(ended)
print(words[0], process.returncode, used.ru_maxrss // 1024, "MB")
sys.exit(process.returncode != int(status) or used.ru_maxrss > int(most) * 1024)
PY
}

# The memory of decode is that of the recording at 8000 Hz, whatever rate the file has.
python3 - <<'PY'
import wave
for name, rate, seconds in (("narrow.wav", 8000, 20), ("wide.wav", 192000, 20)):
    with wave.open(name, "wb") as out:
        out.setnchannels(2); out.setsampwidth(2); out.setframerate(rate)
        for _ in range(seconds):
            out.writeframes(bytes(4 * rate))
PY
sanitized=$("$offhook" --version >/dev/null 2>&1; grep -qs asan "$(dirname "$offhook")/../CMakeCache.txt" && echo yes)
# What the program and its libraries take without a recording.
own=$(python3 - "$offhook" <<'PY'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "--version"], stdout=subprocess.DEVNULL, check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PY
)
if [ -z "$sanitized" ]; then
  peak $((own + 12)) 2 decode -q narrow.wav
  peak $((own + 12)) 2 decode -q wide.wav  # 49 MB of samples in the file; 41 MB were needed
  # Two stations, each with the other's echo: the samples are in memory once, the searches keep a piece.
  python3 - <<'PY'
import array, random, wave
dice = random.Random(1)
loud = [[dice.gauss(0, 3000) for _ in range(24000)] for _ in (0, 1)]
block = array.array("h", bytes(4 * 48000))
for t in range(48000):
    own = [loud[c][t % 24000] * (t // 24000 == c) + dice.gauss(0, 2) for c in (0, 1)]
    late = [loud[c][(t - 37) % 24000] * (max(0, t - 37) // 24000 == c) for c in (0, 1)]
    block[2 * t], block[2 * t + 1] = (max(-32768, min(32767, int(own[c] + 0.1 * late[1 - c]))) for c in (0, 1))
with wave.open("echoes.wav", "wb") as out:
    out.setnchannels(2); out.setsampwidth(2); out.setframerate(8000)
    for _ in range(10):
        out.writeframes(block.tobytes())
PY
  peak $((own + 19)) 2 decode -q echoes.wav
  expect 2 "echo of channel 1 on channel 0" decode -q echoes.wav
fi

# JSON in time that grows with its size: before, 1.2 MB took 40 s and more.
{ printf '{"entities":['; repeated '{},' 400000; printf '{}]}'; } >system.json
OFFHOOK_PATIENCE_S=30 expect_error "system.json: missing key" schedule system.json
cp -r run wide && { printf '{"figures":['; repeated '{},' 400000; printf '{}]}'; } >wide/summary.json
OFFHOOK_PATIENCE_S=30 expect_error "not the summary of a run" report wide
{ printf '{"horizon_ns":'; repeated '[' 100; } >deep.json
expect_error "nested deeper than 64 levels" schedule deep.json
{ printf '['; repeated '0,' 2000001; } >many.json
expect_error "more than 2000000 values" schedule many.json
{ printf 'a = ['; repeated '1,' 600000; printf '1]\n'; } >many.toml
expect_error "expected at most 500000 keys and values" run many.toml --out never

# A file that memory does not suffice for is named.
if [ -z "$sanitized" ]; then
  head -c 60000000 /dev/zero | tr '\0' '#' >big.toml
  (ulimit -v 80000; expect_error "big.toml: not enough memory" run big.toml --out never; [ "$failures" = 0 ]) || fail "a limit of the system"
  python3 - <<'PY'
import wave
with wave.open("long.wav", "wb") as out:
    out.setnchannels(2); out.setsampwidth(2); out.setframerate(8000)
    for _ in range(600):
        out.writeframes(bytes(32000))
PY
  (ulimit -v 80000; expect_error "long.wav: not enough memory" decode -q long.wav; [ "$failures" = 0 ]) || fail "a limit of the system"
  { printf '{"entities":['; repeated '{},' 900000; printf '{}]}'; } >values.json
  for megabytes in 60 80 100 120 140; do
    (ulimit -v $((megabytes * 1000)); expect_error "values.json: not enough memory" schedule values.json; [ "$failures" = 0 ]) ||
      fail "a limit of the system"
  done
  (ulimit -v 80000; expect_error "big.toml: not enough memory" sweep big.toml --out never; [ "$failures" = 0 ]) || fail "a limit of the system"
  (ulimit -v 80000; expect_error "big.toml: not enough memory" advise law big.toml; [ "$failures" = 0 ]) || fail "a limit of the system"
fi

# Standard output that takes nothing is an error of every command, also of its help.
for words in --help --version "run --help" "help run" "help keys scenario" "help man" "hosts" "decode narrow.wav -q" "help completion bash" \
  "measure latency --seconds 0.1" "advise law vendor-modem"; do
  # shellcheck disable=SC2086
  timeout 100 "$offhook" $words >/dev/full 2>err.txt
  status=$?
  { [ "$status" = 1 ] && grep -q '^offhook: error: standard output: No space left on device' err.txt; } ||
    { [ "$status" = 1 ] && ! grep -q 'standard output' err.txt && echo "skipped: $words: $(head -1 err.txt)"; } ||
    fail "$words >/dev/full: status $status: $(cat err.txt)"
done

# A reader that leaves: 141 for each command, by the signal or not, and no word.
mkfifo left.pipe
{ exec 4<>left.pipe; exec 5>left.pipe; exec 4<&-; "$offhook" run call.toml --out piped --json >&5 2>err.txt; status=$?; exec 5>&-; }
[ "$status" = 141 ] || fail "run --json into a pipe that nobody reads: status $status: $(cat err.txt)"
[ -s piped/summary.json ] || fail "the run's files were not written"
for words in "decode narrow.wav -q" "decode narrow.wav -q --json" "schedule $source_dir/examples/system.json" "help keys scenario" "help run" \
  "advise law vendor-modem" "advise law vendor-modem --json" "report run --json"; do
  # shellcheck disable=SC2086
  { exec 4<>left.pipe; exec 5>left.pipe; exec 4<&-; "$offhook" $words >&5 2>err.txt; status=$?; exec 5>&-; }
  [ "$status" = 141 ] || fail "$words into a pipe that nobody reads: status $status: $(cat err.txt)"
  [ -s err.txt ] && fail "$words into a pipe that nobody reads: $(cat err.txt)"
done

# A limit of the size of files is an error that names the file.
(ulimit -f 1; expect_error "File too large" run call.toml --out limited; [ "$failures" = 0 ]) || fail "a limit of the system"
grep -q 'limited/' err.txt || fail "no file is named: $(cat err.txt)"
printf 'base = "call.toml"\nrepeats = 2\n' >grid.toml
(ulimit -f 1; expect_error "File too large" sweep grid.toml --out limited_sweep; [ "$failures" = 0 ]) || fail "a limit of the system"
grep -q 'limited_sweep/' err.txt || fail "no file is named: $(cat err.txt)"

# Special files in an output folder are refused, whatever file they stand for.
for file in line.wav received.bin events.ohlog summary.json scenario.toml trace.perfetto report.html; do
  rm -rf odd && mkdir odd && mkfifo "odd/$file"
  expect_error "odd/$file: is a FIFO; expected a file" run call.toml --out odd
  [ -p "odd/$file" ] || fail "the FIFO $file was replaced"
done

# Names that command a terminal.
for name in $'esc\x1b[31m.wav' $'line\nbreak.wav'; do
  cp narrow.wav "$name"
  expect 2 "" decode -q "$name" --html page.html --json page.json
  grep -q $'\x1b' out.txt page.html page.json && fail "a raw ESC was written"
  grep -q '^break' out.txt && fail "a name broke the line: $(head -2 out.txt)"
done
grep -qF '<title>line\x0abreak.wav' page.html || fail "title: $(grep -a -A1 title page.html | head -2)"

# After kill -9 the next start of any command removes what was left: the socket of a card, the link to a terminal.
sockets="$work/card"
"$offhook" line card "$sockets" --ram "$work/ram" >card.txt 2>&1 &
card=$!
for _ in {1..50}; do [ -S "$sockets" ] && break; sleep 0.1; done
if [ -S "$sockets" ]; then
  kill -9 $card; wait $card 2>/dev/null
  [ -S "$sockets" ] || fail "the socket went away by itself"
  "$offhook" --version >/dev/null
  [ -e "$sockets" ] && fail "the socket of a process that was killed stays"
  # One that another process has made there since is left to it.
  "$offhook" line card "$sockets" --ram "$work/ram" >card.txt 2>&1 &
  card=$!
  for _ in {1..50}; do [ -S "$sockets" ] && break; sleep 0.1; done
  "$offhook" --version >/dev/null
  [ -S "$sockets" ] || fail "the socket of a running process was removed"
  kill $card; wait $card 2>/dev/null
else
  echo "skipped: card: $(head -1 card.txt)"
fi

# A run that was killed: what there is of its log can be read, and the error says how.
cp -r run killed && rm killed/summary.json killed/report.html
expect_error "offhook report killed/events.ohlog" report killed
expect 0 "killed/events.html" report killed/events.ohlog

# libmpg123 writes a line for each thing that is wrong.
{ printf '\xff\xfb\x90\x64'; head -c 20000 /dev/zero; } >bad.mp3
expect_error "bad.mp3" decode -q bad.mp3

# A peer that sends an octet now and then has stalled: patience= is for a whole block.
python3 - "$work/peer" <<'PY' &
import socket, sys, time
peer = socket.socket(socket.AF_UNIX)
for _ in range(200):
    try:
        peer.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
try:
    while True:
        time.sleep(0.4)
        peer.send(b"\0")
except OSError:
    pass
PY
timeout 100 "$offhook" run "$source_dir/examples/int.toml" --out far --far-end "unix:$work/peer,patience=1" >out.txt 2>err.txt
grep -q 'sent no block of samples within 1 s' out.txt err.txt || fail "a peer that stalls: $(head -c 600 out.txt err.txt)"
expect_error '"patience=0" is not recognised' run "$source_dir/examples/int.toml" --far-end unix:x,patience=0

finish
