#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `measure`: every kind runs, says what it lacks, and gives JSON. No test here asserts a time.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

for context in "OTHER" "FIFO 20" "RES 4ms/20ms"; do
  expect 0 "99.9 %" measure latency --context "$context" --seconds 0.3 --best-effort --hgrm l.hgrm --json l.json
  python3 -c 'import json; json.load(open("l.json"))["latency"]["p99.9"]' || fail "latency: no JSON"
  grep -q "Percentile" l.hgrm || fail "no hgrm"
  expect 0 '"deadline_hits"' measure stolen --context "$context" --seconds 0.3 --best-effort --json
done
expect 2 '"over_threshold_us"' measure latency --context OTHER --seconds 20 --on-threshold 0.001 --best-effort --json
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/instances ]; then
  expect 0 "switched to thread" measure latency --stages --top --seconds 0.7 --best-effort
  expect 2 "had the CPU" measure cause --context OTHER --seconds 20 --on-threshold 1 --best-effort
  compgen -G "/sys/kernel/tracing/instances/offhook-$$-*" >/dev/null && fail "the tracefs instance was left behind"
else
  echo "skipped: --stages and cause need root and tracefs"
fi
# This machine as a host: read back by advise and mttf, graded as measured.
expect 0 "a host from" measure host-profile --context OTHER --seconds 0.5 --load none --load spin --best-effort --out mine.toml
# Whether a context suffices is the machine's affair: 0 or 2.
timeout 300 "$offhook" advise rt-audio mine.toml --seconds 1 --repeats 1 --set "context=THR 50" >out.txt 2>err.txt
case $? in 0 | 2) ;; *) fail "advise on the measured host: $(tail -3 err.txt)" ;; esac
grep -qF "The host's numbers: measured: offhook measure host-profile, 1 s" out.txt || fail "advice without the measured host's source"
expect 0 "underruns" mttf mine.toml --context "THR 50" --buffers 2 --buffer-ms 4 --hours 0.01 --quiet
expect 0 "measured" hosts mine.toml
# Each class and priority is its own; the first printed example works where no load's program is installed.
expect 0 "FIFO 30, none" measure host-profile --context "FIFO 30" --context OTHER --seconds 0.2 --best-effort --out two.toml
grep -q "^\[\[latency.thread\]\]" two.toml || fail "one context of two"
first=$("$offhook" measure host-profile --help | grep -m1 "sudo offhook measure host-profile")
read -ra words <<<"${first#*sudo offhook }"
[[ "${words[*]}" == *"--seconds 100 "*"--out mine.toml" ]] || fail "another first example: ${words[*]}"
words=("${words[@]/#100/0.05}")
mkdir -p empty
PATH=$PWD/empty "$offhook" "${words[@]/#mine.toml/first.toml}" --best-effort >out.txt 2>err.txt || fail "the first example without stress-ng: $(tail -3 err.txt)"
grep -q "load cpu is skipped: no stress-ng" err.txt || fail "a load that is missing is not named"
expect 0 "measured" hosts first.toml
expect_error "nowhere/mine.toml" measure host-profile --seconds 0.1 --best-effort --out nowhere/mine.toml
# Loads: listed, one after the other, ended with the measurement and with Ctrl-C; a command at the threshold.
expect 0 "ghostscript" measure latency --load help
expect 0 "spin " measure latency --load none --load spin --context OTHER --seconds 0.3 --best-effort --hgrm l.hgrm --json l.json
python3 -c 'import json; assert [l["load"] for l in json.load(open("l.json"))["loads"]] == ["none", "spin"]' || fail "loads"
[ -s l-spin.hgrm ] || fail "no hgrm of a load"
expect_error 'the nearest is "spin"' measure latency --load spinn
TMPDIR=$work timeout -s INT 1.5 "$offhook" measure latency --load spin --context OTHER --seconds 60 --best-effort >/dev/null 2>&1
compgen -G "$work/offhook-load-*" >/dev/null && fail "a load was left behind"
# shellcheck disable=SC2016  # for the command's shell
expect 2 "late by " measure latency --load spin --context OTHER --seconds 20 --on-threshold 0.001 'echo late by $OFFHOOK_US' --best-effort
for kind in "stolen --context OTHER --seconds 20" "kernel --repeats 20" "cost --pump v22bis --seconds 1"; do
  # shellcheck disable=SC2086  # a list of words
  expect 2 "passed" measure $kind --best-effort --hgrm "h-${kind%% *}" --on-threshold 0.01 'echo passed'
done
for file in h-stolen h-kernel/set-event.hgrm h-cost/connected.hgrm; do grep -q Percentile $file || fail "no $file"; done
expect_error "expected a time in us" measure stolen --on-threshold soon
expect 0 "syscall (dup)" measure host --repeats 3 --applications 1 --html host.html --json host.json
python3 - <<'EOS' || fail "measure host"
import json
host = json.load(open("host.json"))
rows = {r["name"]: r for r in host["rows"]}
assert rows["syscall"]["median"] > 0 and rows["syscall"]["repetitions"] == 3, rows["syscall"]
assert {m["stride"] for m in host["memory"]} == {16, 128, 1024, 4096, 0}
assert all(r["median"] > 0 or r["skipped"] or r["name"].startswith("null") for r in host["rows"]), rows
for r in host["rows"]:
    assert "published" in r or not r["application"], r
    for os, then in r.get("published", {}).items():
        assert r["skipped"] or abs(r["faster"][os] * r["median"] / then - 1) < 1e-9, r
EOS
grep -q "Memory access time" host.html || fail "no page"
expect 0 "Queue Send/Recv" measure kernel --repeats 20 --best-effort
for pump in v22bis v34; do
  expect 0 "ns per sample" measure cost --pump $pump --seconds 1 --profile $pump.toml
  { grep -q "^# Pump $pump" $pump.toml && grep -q '^\[connected\]' $pump.toml; } || fail "no profile"
done
expect 0 "500 of 500" run "$source_dir/examples/int.toml" --set pump.cost_profile=v34.toml --set transfer.bytes=500

expect_error 'THR 24 is Windows NT'"'"'s; this host is Linux, outside the kernel: FIFO 1..99' measure latency --context "THR 24"
expect_error 'a bank of 3 channels; expected an even number' measure bank --channels 3 --best-effort
expect 0 "2 of 2 calls gave identical samples when run alone" measure batch --pump v21 --calls 2 --seconds 0.2
expect_error '"v17"; expected one of bell103, v21, v23, bell212a, v22, v22bis, v32bis, v34, auto' measure cost --pump v17
# A DMT pump as the device that it is: what it costs here is a device of one's own.
expect 0 "gross down" measure cost --device "$source_dir/examples/g-lite.toml" --seconds 0.3 --profile mine.toml
expect 0 "share" advise law mine.toml --json
# The declared work of a device: a block takes what it declares, and the worst is named.
timeout 60 "$offhook" measure device rt-audio --context OTHER --seconds 1 --best-effort --json >device.json 2>err.txt
case $? in 0 | 2) ;; *) fail "measure device rt-audio: $(tail -3 err.txt)" ;; esac
python3 - <<'EOS' || fail "measure device of a device file"
import json
d = json.load(open("device.json"))
assert d["device"] == "low-latency audio" and d["scenario"] == "" and d["blocks"] > 50, d
worst = d["worst_block"]
assert worst["declared_us"] == 500 and worst["after_us"] >= worst["took_us"] > 0, worst
EOS
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/instances ]; then
  timeout 60 "$offhook" measure device rt-audio --context OTHER --seconds 1 --best-effort --cause >out.txt 2>err.txt
  grep -q "Worst block" out.txt || fail "measure device --cause: $(tail -3 err.txt)"
fi
expect_error "a device file has no far end" measure device rt-audio --recorded
expect_error 'line.kind = "subscriber-loop" or "air", or device.pump' measure cost --device "$source_dir/examples/int.toml"
expect_error 'nowhere/x' measure latency --seconds 0.05 --best-effort --hgrm nowhere/x
finish
