#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `trace`: text and load give the same; a replay is the same every time and steals what it recorded; damage has a place.
# Where nobody has mounted tracefs it is mounted for this test alone.
if [ "$(id -u)" = 0 ] && [ ! -d /sys/kernel/tracing/instances ] && [ -z "${OFFHOOK_TRACEFS_TRIED:-}" ] &&
  unshare -m mount -t tracefs none /sys/kernel/tracing 2>/dev/null; then
  export OFFHOOK_TRACEFS_TRIED=1
  # shellcheck disable=SC2016  # of the shell within
  exec unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing; exec bash "$0" "$@"' "$0" "$@"
fi
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Ten seconds in which every 20 ms a FIFO 50 thread has the CPU for 9 ms and an interrupt for 100 us.
python3 - >board.txt <<'EOF'
def line(us, event):
    print(f"            x     1 [000] {us // 1000000}.{us % 1000000:06d}: {event}")
def switch(us, a, pa, b, pb):
    prio = {"hog": 49, "swapper/0": 120}
    line(us, f"sched:sched_switch: prev_comm={a} prev_pid={pa} prev_prio={prio[a]} prev_state=S ==> next_comm={b} next_pid={pb} next_prio={prio[b]}")
for k in range(500):
    t = 5_000_000 + k * 20_000
    switch(t, "swapper/0", 0, "hog", 9)
    line(t + 500, "irq:irq_handler_entry: irq=24 name=eth0")
    line(t + 600, "irq:irq_handler_exit: irq=24 ret=handled")
    switch(t + 9_100, "hog", 9, "swapper/0", 0)
EOF
expect 0 "FIFO/RR 50" trace board.txt -o board.load
expect 0 "45.0" trace board.load
if ! "$offhook" trace board.txt --json >a.json || ! "$offhook" trace board.load --json >b.json; then fail "--json"; fi
cmp a.json b.json || fail "the load says other than its text"
expect 0 "eth0" trace board.txt --without hog
grep -q hog out.txt && fail "--without"

cat >call.toml <<'EOF'
host.name = "linux"
pump.kind = "cost-profile"
transfer.bytes = 20000
load.trace = "board.load"
EOF
for context in "INT" "DPC" "THR 120" "THR 80" "RES 1/2 strict"; do
  timeout 100 "$offhook" run call.toml --context "$context" --json --out one >one.json 2>err.txt
  timeout 100 "$offhook" run call.toml --context "$context" --json --out one >two.json 2>>err.txt
  cmp one.json two.json || fail "$context: two runs differ"
  python3 - "$context" <<'EOF' || fail "$context: $(tail -2 err.txt)"
import json, sys
pending = json.load(open("one.json"))["figures"]["total"]["pending_max_samples"]
# Below the hog the driver waits up to 9 ms, 72 samples more than above it.
print(sys.argv[1], pending)
open("pending." + sys.argv[1].replace(" ", "").replace("/", ""), "w").write(str(pending))
EOF
done
[ "$(cat pending.THR80)" -ge $(($(cat pending.THR120) + 60)) ] || fail "THR 80 beside FIFO 50: $(cat pending.THR80), above it $(cat pending.THR120)"

head -c 100 board.load >cut.load
expect_error "cut.load: byte" trace cut.load
expect_error "no CPU 3; expected load.trace_cpu to be one of: 0" run call.toml --set load.trace_cpu=3
expect_error "nowhere.dat: No such file" run call.toml --set load.trace=nowhere.dat
printf '\x17\x08\x44tracing6\0\0\x08' >short.dat
expect_error "short.dat: byte" trace short.dat

# A real one, where this machine lets us: recorded, read, cut and spoilt at many places.
if [ "$(id -u)" = 0 ] && command -v trace-cmd >/dev/null && [ -d /sys/kernel/tracing/instances ]; then
  instance=/sys/kernel/tracing/instances/offhook-test-$$
  mkdir "$instance" && {
    echo mono >"$instance/trace_clock"
    for e in sched/sched_switch irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry irq/softirq_exit timer/hrtimer_expire_entry timer/hrtimer_expire_exit; do
      echo 1 >"$instance/events/$e/enable"
    done
    timeout -k 1 5 sh -c 'for k in 1 2 3 4 5; do sleep 0.05; ls / >/dev/null; done'
    echo 0 >"$instance/tracing_on"
    timeout -k 1 30 trace-cmd extract -B "$(basename "$instance")" -o real.dat >/dev/null 2>&1
    [ -d "$instance" ] && rmdir "$instance"
  }
  if [ -s real.dat ]; then
    expect 0 "softirq" trace real.dat -o real.load --json
    expect 0 "softirq" trace real.load --json
    size=$(stat -c %s real.dat)
    for share in 1 10 30 60 90 99; do
      head -c $((size * share / 100)) real.dat >cut.dat
      expect_error "cut.dat: byte" trace cut.dat
    done
    # Spoilt inside, it is read or refused, never a crash.
    for seed in $(seq 1 24); do
      python3 -c "
import random, sys
random.seed($seed); b = bytearray(open('real.dat', 'rb').read())
for k in range(20): b[random.randrange(len(b))] ^= 1 << random.randrange(8)
open('bad.dat', 'wb').write(b)"
      timeout 60 "$offhook" trace bad.dat >out.txt 2>err.txt
      case $? in 0 | 1) ;; *) fail "damaged .dat, seed $seed: status $?" ;; esac
    done
  else
    echo "skipped: no .dat could be recorded here"
  fi
else
  echo "skipped: recording needs root, trace-cmd and tracefs"
fi
finish
