#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Hosts with several CPUs: pinned, moving, in the log and its exports, and advised.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

example=$source_dir/examples/two-cpus.toml
fast="--set pump.kind=cost-profile --set transfer.time_limit_s=60"
# shellcheck disable=SC2086
{
  expect 0 "sufficient" run "$example" $fast --out one
  expect 2 "insufficient" run "$example" $fast --set context.interrupt_cpu=0 --set context.cpu=0 --out zero
  expect 0 "sufficient" run one/scenario.toml --out again
  cmp -s one/events.ohlog again/events.ohlog || fail "the effective scenario gives another log"
  for host in linux-hz250 linux-rt nt2000-boosts; do
    expect 0 "sufficient" run "$example" $fast --set host.name=$host --set host.cpus=2 --out "on-$host"
  done
}
# The log says where things ran, and so do the exports.
"$offhook" report export one/events.ohlog --csv one.csv || fail "csv"
grep -q '^[0-9]*,1,run,[0-9]*,modem thread,' one.csv || fail "no modem thread on CPU 1"
grep -q '^[0-9]*,0,run,[0-9]*,modem thread,' one.csv && fail "the pinned thread ran on CPU 0"
grep -q '^[0-9]*,0,run,[0-9]*,ide-dma,' one.csv || fail "no disk on CPU 0"
"$offhook" report export one/events.ohlog --perfetto one.perfetto || fail "perfetto"
grep -qa 'CPU 1' one.perfetto || fail "no track of CPU 1"

cat >host.toml <<'END'
host.cpus = 2
load.spinner = true
[[load.device]]
kind = "interrupts-off"
END
expect 0 "pinned to CPU 1, away from the interrupts of CPU 0" advise bluetooth host.toml --seconds 5 --repeats 1
expect_error "context.cpu is 1; expected at most 0" run "$example" --set host.cpus=1 --set context.interrupt_cpu=0
finish
