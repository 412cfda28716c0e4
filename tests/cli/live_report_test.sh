#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A live call's record: its report can be made again elsewhere, and says on what host the call was.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 '"command_line"' modem null --seconds 0.5 --best-effort --json --out call
expect 0 again.html report call --html again.html
for page in call/report.html again.html; do
  grep -q '"kernel command line"' $page || fail "$page: no host"
  grep -q 'Live call: FIFO 50' $page || fail "$page: no title"
done
cp call/events.ohlog away.ohlog
expect 0 away.html report away.ohlog
grep -q '"kernel command line"' away.html || fail "no host in the report of the log alone"

# The kernel beside it, on one clock: recorded by us, and by trace-cmd.
expect_error "none.txt" report export call --kernel none.txt --perfetto x.perfetto
printf 'a 1 [000] 1.000000: sched:sched_switch: prev_comm=a prev_pid=1 prev_prio=120 ==> next_comm=b next_pid=2 next_prio=120\n' >old.txt
expect_error "its clock (not named)" report export call --kernel old.txt --perfetto x.perfetto
expect_error "none of its events lies within the call" report export call --kernel old.txt --kernel-offset-ns 5 --perfetto x.perfetto
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/instances ]; then
  expect 0 "events of the kernel recorded" modem null --seconds 1 --best-effort --json --out traced --trace-kernel
  expect 0 '"kernel_offset_ns":0' report export traced --perfetto live.perfetto --json
  for track in "CPU 0" "modem service"; do grep -q "$track" live.perfetto || fail "no $track in the trace"; done
  expect 0 "" trace traced/kernel.txt -o traced.load
  if command -v trace-cmd >/dev/null; then
    for clock in mono local; do
      instance=/sys/kernel/tracing/instances/offhook-clock-$$
      mkdir "$instance"
      echo $clock >"$instance/trace_clock"
      for e in sched/sched_switch irq/softirq_entry irq/softirq_exit; do echo 1 >"$instance/events/$e/enable"; done
      timeout 60 "$offhook" modem null --seconds 1 --best-effort --json --out board >/dev/null 2>&1
      echo 0 >"$instance/tracing_on"
      timeout -k 1 30 trace-cmd extract -B "$(basename "$instance")" -o $clock.dat >/dev/null 2>&1
      [ -d "$instance" ] && rmdir "$instance"
      [ $clock = mono ] && [ -s mono.dat ] && expect 0 mono.dat report export board --kernel mono.dat \
        --kernel-offset-ns 0 --perfetto board.perfetto --json  # extract does not write an instance's clock down, record -C does
    done
    [ -s local.dat ] && expect_error "cannot be compared with the log's" report export board --kernel local.dat --perfetto board.perfetto
  else
    echo "skipped: no trace-cmd (package trace-cmd)"
  fi
else
  echo "skipped: the kernel's trace needs root and tracefs"
fi
finish
