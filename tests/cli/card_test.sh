#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# offhook line card and offhook modem kernel, as far as they go without a virtual machine (tests/live/vm/bench.py is with one).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

head -c 8000 "$offhook" >sent
call() { "$offhook" line card --in-process --send sent --receive got "$@"; }
hash_of() { sed -n 's/.*"hash":"\([0-9a-f]*\)".*/\1/p' <<<"$1"; }

first=$(call --hash 14)
cmp sent got || fail "the far modem did not get the file"
for part in '"overrun":0' '"near_received":8000'; do grep -q "$part" <<<"$first" || fail "no $part in $first"; done
[ "$(hash_of "$first")" = "$(hash_of "$(call --hash 14)")" ] || fail "the same call gave other samples"
[ "$(hash_of "$first")" != "$(hash_of "$(call --hash 14 --seed 2)")" ] || fail "the seed changed nothing"
[ "$(hash_of "$first")" != "$(hash_of "$(call --hash 14 --role call)")" ] || fail "the role changed nothing"
call --hash 20 --pump v32bis >/dev/null || fail "V.32bis"
cmp sent got || fail "V.32bis did not carry the file"

# An ADSL modem's card: 276 kHz one way, 1104 the other, and cells.
head -c 15600 "$offhook" >cells
dmt() { "$offhook" line card --in-process --pump dmt --send cells --receive got --hash 2.4 --set 'loop.cable="CSA 6"' "$@"; }
first=$(dmt)
cmp cells got || fail "the far ADSL modem did not get the cells"
for part in '"overrun":0' '"underrun":0' '"near_received":15600'; do grep -q "$part" <<<"$first" || fail "no $part in $first"; done
[ "$(hash_of "$first")" = "$(hash_of "$(dmt --block 552)")" ] || fail "blocks of another length gave other samples"
[ "$(hash_of "$first")" != "$(hash_of "$(dmt --role call)")" ] || fail "the role changed nothing over a loop"
cmp cells got || fail "the exchange's end as the soft one did not carry the cells"
expect_error 'line.loss_db has no effect with line.kind = "subscriber-loop"' line card --in-process --pump dmt --set line.loss_db=3
expect_error "expected no --no-v42" line card --in-process --pump dmt --no-v42

# A modem's card at either end of a digital trunk.
v90() { call --pump v90 --hash 20 "$@"; }
first=$(v90)
cmp sent got || fail "the digital modem did not get the file"
for part in '"overrun":0' '"underrun":0' '"near_received":8000'; do grep -q "$part" <<<"$first" || fail "no $part in $first"; done
[ "$(hash_of "$first")" = "$(hash_of "$(v90 --block 40)")" ] || fail "blocks of another length gave other samples on a trunk"
second=$(v90 --set trunk.near_end='"digital"' --set trunk.robbed_bits=1)
grep -q '"near_received":8000' <<<"$second" || fail "the digital modem at the card did not get the file: $second"
cmp sent got || fail "the analogue modem did not get the file"
cat >trunk.toml <<'EOF'
name = "trunk"
[line]
kind = "digital-trunk"
[pump]
modem = "v90"
[transfer]
bytes = 16000
EOF
third=$("$offhook" line card --in-process --scenario trunk.toml --hash 20)
grep -q '"near_received":16000' <<<"$third" || fail "the trunk of a scenario did not carry its file: $third"
expect_error "sent: is a file; expected a device of the module offhook" modem kernel sent
expect_error "/dev/null: belongs to another driver" modem kernel /dev/null
expect_error "/dev/offhook31: cannot be opened" run trunk.toml --host kernel:31
expect_error "expected no --far-card" line card --in-process --pump v90 --far-card other
expect_error 'trunk.pad_db has no effect with line.kind = "analogue"' line card --in-process --set trunk.pad_db=3

expect_error "expected a socket and --ram" line card
expect_error "expected stepped, real, slowed:FACTOR or guest" line card socket --ram ram --clock fast
expect_error "expected FAULT@SECONDS" line card socket --ram ram --fault gone
expect_error "expected gone, frozen, garbage or storm" line card socket --ram ram --fault odd@3
expect_error "unknown key of the line" line card --in-process --set host.tick_hz=100
expect_error "invalid block length or transmit lead" line card --in-process --block 300

# A scenario's call: line, far modem and file are the scenario's, which a card and a run read alike.
example=$source_dir/examples/kernel.toml
first=$("$offhook" line card --in-process --scenario "$example" --receive got --hash 16)
grep -q '"near_received":16000' <<<"$first" || fail "the scenario's file did not come: $first"
[ "$(wc -c <got)" = 16000 ] || fail "the far modem heard $(wc -c <got) bytes"
"$offhook" run "$example" --out simulated --json >simulated.json || fail "the same scenario on a simulated host"
grep -q '"bytes_delivered": *16000' simulated.json || fail "the simulated host carried something else"
expect_error "--scenario and --pump cannot be combined" line card --in-process --scenario "$example" --pump v34
expect_error "/dev/offhook31: cannot be opened; expected a device of the module offhook" run "$example" --host kernel:31
[ ! -e out/kernel ] || fail "a run without a device left a folder"
expect_error "expected kernel, or kernel:N" run "$example" --host nt2000
expect_error "this host is nt2000-p2-450" run "$example" --host kernel --set host.name=nt2000-p2-450
expect_error "load: with --host kernel" run "$example" --host kernel --set load.spinner=true
expect_error "sent: is a file; expected a device of the module offhook" modem kernel sent
expect_error "/dev/null: belongs to another driver" modem kernel /dev/null
expect_error "/dev/offhook31: cannot be opened" measure latency --host kernel:31 --context SOFTIRQ
expect_error "cannot be combined" measure latency --host kernel --cpu 0

# Another program's modem at the far end: here a second run of ours, over a line without echo.
head -c 2000 "$offhook" >near.bin && head -c 3000 /dev/zero >far.bin
"$offhook" run "$source_dir/examples/int.toml" --far-end unix:far.sock --file far.bin --expect near.bin --out far --json \
  --set pump.modem=v34 --set pump.role=call --set line.near_echo_db=100 --set line.far_echo_db=100 >far.json 2>far.err &
second=$!
"$offhook" line card --in-process --far-end unix:far.sock --role call --send near.bin --hash 15 \
  --set line.near_echo_db=60 --set line.far_echo_db=60 >near.json || fail "card --far-end"
wait $second || fail "the far end: $(tail -1 far.err)"
grep -q '"near_received":3000' near.json || fail "what came from the far end: $(cat near.json)"
cmp near.bin far/received.bin || fail "what came to the far end"
expect_error "expected no --far-end" line card --in-process --far-end unix:far.sock --receive got
expect_error "expected unix:PATH" line card --in-process --far-end far.sock
expect_error "is on a telephone line" line card --in-process --far-end unix:far.sock --pump dmt
expect_error "expected trunk.near_end" line card --in-process --far-end unix:far.sock --pump v90

expect_error "cannot be opened" modem kernel none
expect_error "FIFO" modem kernel none --context "FIFO 500"
finish
