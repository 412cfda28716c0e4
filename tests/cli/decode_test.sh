#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `decode` of several calls, several recordings, standard input and packet captures.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
call=$source_dir/examples/call.wav

python3 - "$call" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"data") + 8
frames = data[at:at + int.from_bytes(data[at - 4:at], "little")]  # mu-law, both directions
assert data[20:24] == b"\x07\x00\x02\x00" and data[24:28] == (8000).to_bytes(4, "little")
with open("two.wav", "wb") as out:
    both = frames + b"\xFF" * 2 * 5 * 8000 + frames
    out.write(data[:4] + (at - 8 + len(both)).to_bytes(4, "little") + data[8:at - 4] + len(both).to_bytes(4, "little") + both)

# Both directions as RTP in Ethernet, at the same times; packets 5, 6 and 7 of the caller are lost.
packets = []
for c in (0, 1):
    octets = frames[c::2]
    for k in range(len(octets) // 160):
        rtp = struct.pack(">BBHII", 0x80, 0, 65530 + k & 0xFFFF, 160 * k, 7 + c) + octets[160 * k:160 * k + 160]
        udp = struct.pack(">HHHH", 4000 + c, 4001 - c, 8 + len(rtp), 0) + rtp
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1 + c]),
                         bytes([10, 0, 0, 2 - c])) + udp
        if c == 1 or k not in (5, 6, 7):
            packets.append((20_000 * k + 37 * c, bytes(12) + b"\x08\x00" + ip))
packets.sort()
for name, link, head in (("call", 1, 0), ("raw", 101, 14), ("ipv4", 228, 14)):  # Ethernet; IP alone
    with open(name + ".pcap", "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link))
        for us, frame in packets:
            frame = frame[head:]
            out.write(struct.pack("<IIII", 1000 + us // 1_000_000, us % 1_000_000, len(frame), len(frame)) + frame)
PY

# Two calls are two documents, two rows and two verdicts without a retrain.
expect 0 "two.wav, call 2 at" decode -q two.wav --calls calls.csv --labels labels.txt --html page.html --payload bits
[ "$(grep -c '^verdict: V.34 ' out.txt)" = 2 ] || fail "two calls: $(grep verdict out.txt)"
{ grep -q "0 retrains" out.txt && ! grep -q "INFO0 repeated" out.txt; } || fail "two calls are one with a retrain"
[ "$(wc -l <calls.csv)" = 3 ] || fail "calls.csv: $(cat calls.csv)"
cmp -s bits/answer.bin bits/answer-2.bin || fail "the second call's payload differs"
{ [ -s page.html ] && [ -s page-2.html ]; } || fail "no page for each call"
python3 - <<'PY' || fail "labels.txt: $(head -3 labels.txt)"
starts = [float(line.split("\t")[0]) for line in open("labels.txt")]
assert len(starts) > 40 and starts[len(starts) // 2] > starts[0] + 10, starts
PY
# A call of modems has no pages of a fax, and no folder is made for them.
expect 0 "verdict: V.34" decode -q "$call" --pages pages
[ ! -e pages ] || fail "a folder for pages that are not there"
expect_error "are for one recording; use --out DIR" decode -q "$call" "$call" --pages pages
# Standard input, and the timeline as CSV.
"$offhook" decode -q - --csv <"$call" >timeline.csv || fail "standard input"
head -1 timeline.csv | grep -q '^recording,call,start_s,end_s,channel,event,detail' || fail "timeline: $(head -1 timeline.csv)"
grep -q '^standard input,1,.*,CM,' timeline.csv || fail "no CM in the timeline"
expect_error "standard input: not an audio file" decode -q - <"$offhook"

# A folder: an error of one does not end the others, and a rerun takes what is there.
mkdir -p in/sub && cp "$call" in/sub/call.wav && head -c 40000 two.wav >in/cut.wav && echo no >in/wrong.wav && echo no >in/notes.txt
expect 1 "in/wrong.wav: not an audio file" decode -q in --out out --threads 2
grep -q "index: out/index.html" out.txt || fail "no index: $(cat out.txt)"
{ grep -q 'href="call.wav-1.html"' out/index.html && grep -q "wrong.wav" out/index.html; } || fail "index.html"
{ [ "$(wc -l <out/calls.csv)" = 4 ] && [ -s out/call.wav-1.html ] && [ -s out/call.wav-1.json ]; } || fail "out: $(ls out; cat out/calls.csv)"
cp out/calls.csv before.csv
expect 1 "2 of 3 recordings were decoded by an earlier run" decode -q in --out out
cmp -s before.csv out/calls.csv || fail "the second run differs"
mkdir empty && expect_error "empty: this folder contains no audio files" decode empty
expect_error "use --out DIR for several" decode "$call" two.wav --html page.html

# A packet capture, where this build reads them.
if "$offhook" --version | grep -q libpcap; then
  expect 0 "packets lost: 3, 60 ms of silence inserted" decode -q call.pcap
  grep -q "RTP from 10.0.0.1:4000 to 10.0.0.2:4001, G.711 mu-law, .* packets, 3 lost, 0 reordered" out.txt || fail "no stream: $(grep RTP out.txt)"
  [ "$(grep -c "data decoded to the end" out.txt)" = 2 ] || fail "the call in the capture: $(head -6 out.txt)"
  for capture in raw ipv4; do
    expect 0 "packets lost: 3, 60 ms of silence inserted" decode -q "$capture.pcap"
  done
  head -c 30000 call.pcap >cut.pcap
  expect 0 "truncated" decode -q cut.pcap
  head -c 24 call.pcap >none.pcap
  expect_error "none.pcap: no call of G.711 in RTP or of T.38 among its 0 UDP packets" decode -q none.pcap
fi
finish
