#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `run`: what it leaves, its exit status, and every way in which a user can get it wrong.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >call.toml <<'END'
name = "call"
context = "INT"
[transfer]
bytes = 1500
END
cat >cost.toml <<'END'
context = "RES 2/8 strict"
[pump]
kind = "cost-profile"
[transfer]
bytes = 20000
END

# A sufficient context: status 0, and a whole folder.
expect 0 "sufficient" run call.toml --out a
for name in events.ohlog summary.json line.wav trace.perfetto report.html scenario.toml; do
  [ -s "a/$name" ] || fail "no a/$name"
done
# A figure on a page is some paper's.
grep -oE "\(Figures? [0-9][^)]*\)" a/report.html >figures.txt || fail "no figure is named on the page"
grep -v " of [A-Z]" figures.txt && fail "a figure without its paper"
# The effective scenario gives the same bytes again: log, summary, recording.
expect 0 "sufficient" run a/scenario.toml --out b
for name in events.ohlog summary.json line.wav scenario.toml; do cmp -s "a/$name" "b/$name" || fail "$name differs"; done
expect 0 "sufficient" run call.toml --seed 2 --out c
cmp -s a/events.ohlog c/events.ohlog && fail "another seed, the same log"

# An insufficient one: 2.
expect 2 "insufficient" run cost.toml --context "RES 1/32 strict" --set transfer.time_limit_s=60 --out d
# A slow one: compared with the same call in INT, which only a loss makes necessary. The report keeps the comparison.
expect 2 "marginal" run cost.toml --context "RES 3/16 strict" --set transfer.bytes=200000 --seed 2 --out slow
grep -q "^call, RES 3/16 strict (2.93/15.62 ms)$" out.txt || fail "a reservation without its times"
grep -q "slower than the same call in INT" out.txt || fail "no comparison with INT"
python3 - <<'END' || fail "slow: summary.json"
import json
s = json.load(open("slow/summary.json"))
assert s["complete"] and s["reference"]["complete"] and not s["reference"]["lost_samples"], s["reference"]
assert s["transfer_s"] > 1.05 * s["reference"]["transfer_s"]
END
cp slow/report.html first.html
expect 0 "slow/report.html" report slow
same_page slow/report.html first.html || fail "slow: report differs from run's"
expect 0 "Sufficient by itself" run cost.toml --context "RES 3/16 strict" --set transfer.bytes=200000 --seed 2 --reference never --out e
expect 0 "same call in INT" run cost.toml --reference always --out e
grep -q '"reference"' a/summary.json && fail "a call without losses was compared"
# --json is JSON and nothing else, on standard output.
expect 0 '"verdict"' run cost.toml --out e --json
python3 -m json.tool out.txt >/dev/null || fail "--json is no JSON"
[ -s err.txt ] && fail "--json with something on standard error"
# A hold in mid-transfer: the bytes are whole, summary, table and log have it, and the same seed gives the same bytes.
cat >hold.toml <<'END'
context = "RES 2/8"
[line]
kind = "digital-trunk"
[pump]
modem = "v90"
[hold]
at_s = 3
away_s = 4
limit = "20 s"
[transfer]
bytes = 40000
END
expect 0 "for 4.0" run hold.toml --out hold
expect 0 "for 4.0" run hold/scenario.toml --out hold2
for name in events.ohlog summary.json line.wav scenario.toml; do
  cmp -s "hold/$name" "hold2/$name" || fail "a hold: $name differs"
done
grep -q "Modem-on-hold: for 4.0" hold/report.html || fail "hold: the page does not say so"
expect_error 'unknown key "los"; the nearest known key is "line.loss_db"' run hold.toml --set los=3
expect_error '"tape" is not a card; expected null, file:IN.wav,OUT.wav, unix:PATH, alsa:NAME, portaudio:NAME, rtp:LOCAL,REMOTE, audiosocket:HOST:PORT, dahdi:CHANNEL, kernel:N or sip:USER@HOST' modem tape
expect_error '--seconds: "-1"; expected a number from 0.001 to 1000000000' modem null --seconds=-1
expect 0 "V22 (not possible: card and driver queue 525 ms" modem null --device-delay 500 --seconds 0.2 --context OTHER --interrupt-priority 0 --best-effort
python3 - <<'END' || fail "hold: summary.json"
import json
s = json.load(open("hold/summary.json"))
h = s["hold"]
assert s["complete"] and s["bytes_delivered"] == 40000 and h["limit_s"] == 20, s
assert "refused_at_s" not in h and h["asked_at_s"] < h["away_at_s"] < h["resumed_at_s"] < h["data_at_s"], h
assert 4 <= h["resumed_at_s"] - h["away_at_s"] < 4.05, h
END
expect 0 "time_ns,cpu,kind,id,name,argument" report export --csv hold
grep -q ",pump_hold," out.txt || fail "no pump_hold in the log"
grep -q '"hold"' a/summary.json && fail "a hold that nobody asked for"
expect_error "hold.at_s is 3" run hold.toml --set pump.modem=v34
# A file of one's own.
head -c 700 /dev/urandom >file.bin
expect 0 "700 of 700" run call.toml --file file.bin --out f
# Report and exports, made again from the folder.
cp a/report.html first.html
expect 0 "a/report.html" report a
same_page a/report.html first.html || fail "report differs from run's"
expect 0 "time_ns,cpu,kind,id,name,argument" report export --csv a
expect 0 '"complete":true' report export a --perfetto t.perfetto --json
cmp -s a/trace.perfetto t.perfetto || fail "export --perfetto differs from run's"
# A log that was cut off, as a killed process leaves it: everything before it, and the place. A damaged one is an error.
head -c 100000 a/events.ohlog >cut.ohlog
expect 0 "cut.ohlog" report export --csv cut.ohlog
[ "$(wc -l <out.txt)" -gt 1000 ] || fail "nothing exported of the cut log"
expect 0 '"truncated":true' report export cut.ohlog --csv cut.csv --json
{ head -c 90000 cut.ohlog; head -c 500 /dev/zero; tail -c +90501 a/events.ohlog; } >damaged.ohlog
expect 1 "does not match its checksum" report export --csv damaged.ohlog
expect 0 "the file ends within a chunk" report cut.ohlog
grep -q "cut.ohlog" cut.html || fail "the report does not say that its log is cut"

# Latencies of a file of one's own: no service begins before the least of them.
printf '[latency]\nuse_hours = [0.001, 1]\ninterrupt_ms = [2, 3]\nthread_ms = [2, 3]\n' >own.toml
printf 'interrupt_least_ms = 1.5\nthread_least_ms = 1.5\n' >>own.toml
printf 'name = "own"\n' >device.toml
expect 0 '"interrupt_to_service"' run device.toml --context "THR 24" --set pump.kind=device --set transfer.device_s=1 \
  --set host.latencies=own.toml --json
python3 -c 'import json; f = json.load(open("out.txt"))["figures"]["interrupt_to_service"]
assert f["count"] > 50 and 1.5 <= f["p50_ms"] <= 2 and f["max_ms"] <= 3.1, f' || fail "latencies of own.toml"
expect_error "nowhere.toml" run device.toml --set host.latencies=nowhere.toml
# What a file names is beside it, wherever the command is given; what the command line names is not.
mkdir elsewhere
printf 'name = "beside"\nbuffers.count = 3\nisr.mean_us = 5\nisr.max_us = 9\n' >elsewhere/card.toml
printf '[block]\nrate_hz = 8000\nplan_samples = [80]\n[work]\nblock_us = 500\nphi = 1\n' >>elsewhere/card.toml
printf 'tick_hz = 500\n' >elsewhere/box.toml
"$offhook" trace "$source_dir/examples/board.load" -o elsewhere/t.load >/dev/null || fail "no load"
printf 'device = "card.toml"\nhost.name = "box.toml"\nload.trace = "t.load"\ntransfer.device_s = 1\n' >elsewhere/call.toml
expect 0 "nothing was lost" run elsewhere/call.toml --out beside
expect 0 "nothing was lost" run beside/scenario.toml --out again
cmp -s beside/events.ohlog again/events.ohlog || fail "the effective scenario names other files"
expect_error "card.toml: No such file or directory" run call.toml --set device=card.toml

# What users get wrong: one line each, status 1.
expect_error "nowhere.toml: No such file or directory" run nowhere.toml
expect_error "nowhere.bin: No such file or directory" run call.toml --file nowhere.bin
: >empty.bin
expect_error "empty.bin: is empty; expected at least one byte" run call.toml --file empty.bin
echo 'sede = 1' >unknown.toml
expect_error 'unknown.toml:1:1: unknown key "sede"; the nearest known key is "seed"' run unknown.toml
printf '[context]\nkind = "reservation"\nx_ticks = 9\ny_ticks = 8\n' >over.toml
expect_error "over.toml:4:1: reservation of 9 ticks in every 8 cannot be admitted: 112 % of the CPU" run over.toml
expect_error '--context: "RES 2" is not a valid context: at character 6, its end, expected /' run call.toml --context "RES 2"
expect_error '--seed: "-1"; expected a whole number, 0 or more' run call.toml --seed -1
expect_error '--set loud=1: unknown key "loud"' run call.toml --set loud=1
expect_error "line.loss_db is 99; expected a number, -20 to 60" run call.toml --set line.loss_db=99
: >in-the-way
expect_error "in-the-way" run call.toml --out in-the-way
expect_error "in-the-way" run call.toml --out in-the-way/below
if [ "$(id -u)" != 0 ]; then
  mkdir locked && chmod a-w locked
  expect_error "locked: Permission denied" run call.toml --out locked
fi
# A full disk: by a log that may not grow, as the shell's file size limit makes it.
(ulimit -f 200; trap '' XFSZ; timeout 100 "$offhook" run call.toml --out full >out.txt 2>err.txt; echo $? >status)
[ "$(cat status)" = 1 ] || fail "full disk: status $(cat status)"
{ [ "$(wc -l <err.txt)" = 1 ] && grep -q '^offhook: error: full/' err.txt; } || fail "full disk: $(cat err.txt)"
expect 0 "" report export --csv full # what was written before is readable
[ "$(wc -l <out.txt)" -gt 1000 ] || fail "nothing left of the log on the full disk"
timeout 100 "$offhook" run call.toml --out g >/dev/full 2>err.txt && fail "full standard output: status 0"
grep -q "^offhook: error: .*No space left on device" err.txt || fail "full standard output: $(cat err.txt)"
# Standard error that is full or closed: the status is said still, and what is written is not a message.
for command in "run nothere.toml" "runn" "run call.toml --set x=1"; do
  # shellcheck disable=SC2086  # words
  { timeout 100 "$offhook" $command 2>/dev/full; [ $? = 1 ] || fail "$command: full standard error"; }
  # shellcheck disable=SC2086
  { timeout 100 "$offhook" $command 2>&-; [ $? = 1 ] || fail "$command: closed standard error"; }
done
timeout 100 "$offhook" run call.toml --out deaf <&- >&- 2>&-
[ $? = 1 ] || fail "all standard streams closed: expected an error of standard output"
cmp -s deaf/events.ohlog g/events.ohlog || fail "all standard streams closed: another event log"

# A device that is no modem has blocks and buffers: neither bytes nor the modem's ring of 512.
expect 0 "3 of 4416 samples" run --context "RES 10/17 strict" --out buffers <(printf 'device = "g-lite"\n[transfer]\ndevice_s = 1\n')
grep -Eqi "bytes|512|ring" out.txt && fail "a device that is no modem is told of bytes or a ring"
grep -q "3 buffers of 4,416 samples" buffers/report.html || fail "the page does not say what the buffers hold"
# A soft DSL modem: the real pump in every context; a summary with its tones; what a starved one is told.
cat >dsl.toml <<'END'
name = "dsl"
device = "g-lite"
[line]
kind = "subscriber-loop"
[loop]
cable = "CSA 6"
[load]
spinner = true
[transfer]
device_s = 2
END
for context in INT DPC "THR 24" "RES 2/7 strict"; do
  expect 0 "every superframe was correct" run dsl.toml --context "$context" --out dsl
  python3 - <<'END' || fail "dsl: $context"
import json
dmt = json.load(open("dsl/summary.json"))["dmt"]
for way, least in (("down", 2e6), ("up", 4e5)):
    d = dmt[way]
    assert d["gross_bit_rate"] == 4000 * sum(t["bits"] for t in d["tones"]) > least, d["gross_bit_rate"]
    assert d["crc_errors"] == d["wrong_bits"] == 0 and d["bits_compared"] > 1e5, d
END
done
cp dsl/report.html first.html
expect 0 "dsl/report.html" report dsl
same_page dsl/report.html first.html || fail "dsl: report differs from run's"
expect 0 "0 HEC errors" run dsl.toml --context INT --set transfer.protocol=atm --out dsl
python3 - <<'END' || fail "dsl: cells"
import json
dmt = json.load(open("dsl/summary.json"))["dmt"]
for way in ("down", "up"):
    d = dmt[way]
    assert d["cells"] > 500 and d["hec_errors"] == d["delineation_losses"] == 0 and d["bits_compared"] <= 384 * d["cells"], d
END
expect_error "expected line.kind = \"subscriber-loop\" as well" run call.toml --set transfer.protocol=atm --out dsl
expect 2 "the start-up did not complete" run dsl.toml --context "RES 1/5 strict" --out dsl
expect_error "expected a device on it" run call.toml --set 'line.kind="subscriber-loop"' --out dsl

# Ctrl-C: 130, and what was recorded is kept, with a report.
timeout 100 "$offhook" run call.toml --set transfer.bytes=2000000 --set transfer.time_limit_s=100000 --out h >out.txt 2>err.txt &
pid=$!
for _ in $(seq 100); do [ -s h/events.ohlog ] && [ "$(stat -c %s h/events.ohlog)" -gt 1000000 ] && break; sleep 0.1; done
pkill -INT -P $pid 2>/dev/null || kill -INT $pid
wait $pid
[ $? = 130 ] || fail "Ctrl-C: not 130"
grep -q '"interrupted": true' h/summary.json || fail "Ctrl-C: no summary"
[ -s h/report.html ] || fail "Ctrl-C: no report"
expect 0 '"complete":true' report export h --csv h.csv --json

# A result of another configuration is not replaced without a word; one of the same configuration is.
expect 0 "sufficient" run cost.toml --out replaced
expect 0 "sufficient" run cost.toml --out replaced
if grep -q replacing err.txt; then fail "the same configuration: $(cat err.txt)"; fi
expect 0 "replaced: replacing the result of a run with another configuration (seed)" run cost.toml --out replaced --seed 8
finish
