#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# offhook card and offhook kernel, as far as they go without a virtual machine (tests/live/vm/bench.py is with one).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

head -c 8000 "$offhook" >sent
call() { "$offhook" card --in-process --send sent --receive got "$@"; }
hash_of() { sed -n 's/.*"hash":"\([0-9a-f]*\)".*/\1/p' <<<"$1"; }

first=$(call --hash 14)
cmp sent got || fail "the far modem did not get the file"
for part in '"overrun":0' '"near_received":8000'; do grep -q "$part" <<<"$first" || fail "no $part in $first"; done
[ "$(hash_of "$first")" = "$(hash_of "$(call --hash 14)")" ] || fail "the same call gave other samples"
[ "$(hash_of "$first")" != "$(hash_of "$(call --hash 14 --seed 2)")" ] || fail "the seed changed nothing"
[ "$(hash_of "$first")" != "$(hash_of "$(call --hash 14 --role call)")" ] || fail "the role changed nothing"
call --hash 20 --pump v32bis >/dev/null || fail "V.32bis"
cmp sent got || fail "V.32bis did not carry the file"

expect_error "expected a socket and --ram" card
expect_error "expected stepped, real, slowed:FACTOR or guest" card socket --ram ram --clock fast
expect_error "expected FAULT@SECONDS" card socket --ram ram --fault gone
expect_error "expected gone, frozen, garbage or storm" card socket --ram ram --fault odd@3
expect_error "is no key of the line" card --in-process --set host.tick_hz=100
expect_error "that cannot be" card --in-process --block 300
expect_error "cannot be opened" kernel none
expect_error "FIFO" kernel none --context "FIFO 500"
finish
