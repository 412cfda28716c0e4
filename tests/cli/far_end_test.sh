#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `run --far-end`: two programs that know nothing of each other but samples, and what may go wrong between them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >call.toml <<'END'
name = "call"
context = "INT"
[line]
loss_db = 3
near_echo_db = 40
[transfer]
time_limit_s = 60
END
sed 's/name = "call"/name = "answer"\n/' call.toml >answer.toml
printf '[pump]\nrole = "answer"\n' >>answer.toml
head -c 1500 /dev/urandom >from-call.bin
head -c 900 /dev/urandom >from-answer.bin

# Our own modem at both ends, in two processes: both files arrive, at both rates.
for rate in 8000 9600; do
  timeout 300 "$offhook" run answer.toml --far-end "unix:s$rate,rate=$rate" --file from-answer.bin \
    --expect from-call.bin --out "answer$rate" >answer.txt 2>&1 &
  expect 0 "2400 of 2400" run call.toml --far-end "unix:s$rate,rate=$rate" --file from-call.bin \
    --expect from-answer.bin --out "call$rate"
  cmp from-answer.bin "call$rate/received.bin" || fail "at $rate Hz: the call modem received something else"
  wait
  cmp from-call.bin "answer$rate/received.bin" || fail "at $rate Hz: the answer modem received something else: $(cat answer.txt)"
done

# Without V.42: both files arrive as start-stop characters, and the summary says what the line would have taken.
timeout 300 "$offhook" run answer.toml --far-end unix:none --file from-answer.bin --expect from-call.bin --out answer-none \
  --set link.error_control=none >answer.txt 2>&1 &
expect 0 "the bit rate of the line needs" run call.toml --far-end unix:none --file from-call.bin --expect from-answer.bin \
  --out call-none --set link.error_control=none
wait
cmp from-answer.bin call-none/received.bin || fail "without V.42 the call modem received something else"
cmp from-call.bin answer-none/received.bin || fail "without V.42 the answer modem received something else: $(cat answer.txt)"
grep -q '"at_line_rate_s": 6.25' call-none/summary.json || fail "1500 characters at 2400 bit/s: $(grep at_line call-none/summary.json)"

# A peer that leaves, and one that is no modem at all.
timeout 120 python3 "$source_dir/examples/far-end-peer.py" "$work/noise" 3000 >peer.txt &
peer=$!
expect 2 "before data mode" run call.toml --far-end unix:noise --file from-call.bin --out noise.out \
  --set transfer.time_limit_s=30
wait "$peer"
grep -q "^heard" peer.txt || fail "the example peer heard nothing"
timeout 120 python3 - "$work/gone" <<'END' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
while s.connect_ex(sys.argv[1]) != 0: time.sleep(0.1)
s.recv(1000)
END
expect 2 "the far end closed its socket" run call.toml --far-end unix:gone --file from-call.bin --out gone.out

# The digital end of a trunk: our own modem there, in a context of its own, by either law and with two clocks.
printf '[line]\nkind = "digital-trunk"\n[pump]\nmodem = "v90"\n[trunk]\nnear_end = "digital"\n' >digital.toml
expect 0 "6000 of 6000" run digital.toml --set transfer.bytes=6000 --set trunk.clock_ppm=100 --out digital
expect 0 "6000 of 6000" run digital.toml --set transfer.bytes=6000 --set trunk.law=a-law --set pump.role=answer --out a-law

# What users get wrong.
expect_error 'trunk.near_end is "digital", whose octets pump.modem = "v34" does not take' run digital.toml \
  --set pump.modem=v34
expect_error 'trunk.near_end has no effect with line.kind = "analogue"' run digital.toml \
  --set line.kind=analogue --set pump.modem=v34
expect_error 'expected trunk.near_end = "digital"' run digital.toml --set trunk.near_end=analogue --far-end unix:nobody
expect_error 'is not the address of a far end; expected unix:PATH[,rate=8000|9600]' run call.toml --far-end tcp:1
expect_error '"rate=44100" is not recognised' run call.toml --far-end unix:x,rate=44100
expect_error '"ahead=-1" is not recognised' run call.toml --far-end unix:x,ahead=-1
expect_error 'has no path' run call.toml --far-end unix:
expect_error "nowhere/x: No such file or directory" run call.toml --far-end unix:nowhere/x
expect_error "expected pump.kind = \"real\"" run call.toml --far-end unix:nobody --set pump.kind='"cost-profile"'
finish
