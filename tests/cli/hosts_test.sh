#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Hosts that schedule in their own way, and several reservations, admitted or refused together.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >cost.toml <<'END'
[pump]
kind = "cost-profile"
[load]
spinner = true
[transfer]
bytes = 20000
time_limit_s = 120
END
for host in nt2000-boosts linux-hz250 linux-rt linux-rk-p3-500 rez-c-p3-500; do
  expect 0 "sufficient" run cost.toml --set host.name=$host --context "THR 24" --out "thr-$host"
  expect 0 "sufficient" run cost.toml --set host.name=$host --context DPC --out "dpc-$host"
done
# 3 ms of every 12 ms are enough, 1 of 12 are not; but Rez-FB makes two ticks of one, because DPCs take a little of it.
for kind in rez rez-ticks rez-c rez-fb deadline deadline-ticks deadline-hrtick hcbs; do
  at="--set host.reservations=$kind --set host.tick_hz=1000"
  # shellcheck disable=SC2086
  expect 0 "sufficient" run cost.toml $at --context "RES 3/12 strict" --out "res-$kind"
  # shellcheck disable=SC2086
  [ $kind = rez-fb ] || expect 2 "insufficient" run cost.toml $at --context "RES 1/12 strict" --out "less-$kind"
done
expect 0 "deadline-ticks" help keys scenario host.reservations
# Alone, one that reclaims has what nobody reserved: 1 ms of 12 is enough. Together they have 95 % and no more.
expect 0 "sufficient" run cost.toml --set host.reservations=deadline-reclaim --set host.tick_hz=1000 \
  --context "RES 1/12 strict" --out reclaims
expect_error "fails with EBUSY" run cost.toml --set host.reservations=deadline-reclaim --context "RES 32/33 strict"

# Linux as it was later. In a control group that has 3 of every 12 ms a fair thread suffices, with 1 of 12 it does not.
for kind in linux-6.6 linux-6.12 linux-6.12-rt linux-6.18-rt linux-7.0-scx-simple; do
  at="--set host.name=linux-hz250 --set host.scheduler=$kind"
  [ "${kind%-rt}" = "$kind" ] || at="--set host.name=linux-rt --set host.scheduler=$kind"
  for context in SOFTIRQ "FIFO 50"; do
    # shellcheck disable=SC2086
    expect 0 "sufficient" run cost.toml $at --context "$context" --out "$kind-${context%% *}"
  done
  # shellcheck disable=SC2086
  expect 0 "sufficient" run cost.toml $at --set host.tick_hz=1000 --set host.reservations=cpu-max \
    --set load.spinner=false --context "RES 3/12 strict" --out "quota-$kind"
  # shellcheck disable=SC2086
  expect 2 "insufficient" run cost.toml $at --set host.tick_hz=1000 --set host.reservations=cpu-max \
    --set load.spinner=false --context "RES 1/12 strict" --out "less-quota-$kind"
done
# What a network takes from a reservation is part of its budget where Linux does not account for interrupts' time.
printf 'load.spinner = true\ntransfer.bytes = 20000\n[[load.device]]\nkind = "network"\n' > network.toml
for charge in true:2:insufficient:2 true:0:sufficient:3 false:0:sufficient:2; do
  IFS=: read -r charged status verdict x <<< "$charge"
  expect "$status" "$verdict" run network.toml --set host.name=linux-hz250 --set host.tick_hz=1000 \
    --set "host.charge_stolen_time=$charged" --context "RES ${x}ms/12ms strict" --out "charged-$charged-$x"
done
expect_error "expected a scheduler of Linux that charges it, or false" run cost.toml --set host.charge_stolen_time=true
expect_error "expected host.threaded_interrupts = true" run cost.toml --set host.scheduler=linux-6.12-rt
expect_error "expected a scheduler of Linux" run cost.toml --set host.reservations=cpu-max --context "RES 3/12 strict"

# Several reservations.
cat >two.toml <<'END'
context = "RES 2/8"
[pump]
kind = "cost-profile"
[transfer]
bytes = 20000
[[load.reservation]]
name = "video"
x_ticks = 6
y_ticks = 32
END
expect 0 "sufficient" run two.toml --out two
expect 0 "sufficient" run two/scenario.toml --out again
cmp -s two/events.ohlog again/events.ohlog || fail "the effective scenario's reservations give another log"
expect_error "two.toml:6:8: reservation of 'video' (6 of every 32 ticks) cannot be admitted: all together would take" \
  run two.toml --context "RES 7/8"
expect_error "all together would take 119 % of the CPU" run two.toml --context "RES 3/3 strict" --set host.reservations=deadline
expect_error "expected a period that is a power of two" run two.toml --context "RES 3/12 strict"
expect_error 'host.reservations is "edf"; expected "rialto" or' run two.toml --set host.reservations=edf
printf '[[load.reservation]]\nx_tics = 1\n' >bad.toml
expect_error 'bad.toml:2:1: unknown key "x_tics"; the nearest known key is "x_ticks"' run bad.toml
mkfifo fifo
expect_error '"fifo" is a FIFO, and not in' hosts fifo
finish
