#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Advice for shipped devices and hosts, one's own host file, and what is wrong with others.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "RES 1/6 strict (0.9766/5.859 ms): nothing is lost" advise vendor-modem nt2000-p2-450 --seconds 10 --repeats 2 --out modem
for f in advice.json report.html; do [ -s "modem/$f" ] || fail "$f is missing"; done
"$offhook" advise vendor-modem nt2000-p2-450 --seconds 10 --repeats 2 --threads 1 --json >one.json 2>/dev/null || fail "--json"
cmp one.json modem/advice.json || fail "other bytes on one thread"
# The vendor's way: 1.8 ms at interrupt level, against 100 us; and a thread of the spinner's priority starves.
python3 - <<'EOF' || fail "advice.json"
import json
trials = {t["context"]: t for t in json.load(open("one.json"))["trials"]}
assert trials["INT"]["loses_nothing"] and not trials["INT"]["within_pc99"] and trials["INT"]["isr_max_us"] > 1700
assert trials["DPC"]["loses_nothing"] and not trials["DPC"]["within_pc99"] and trials["DPC"]["isr_max_us"] < 100
assert trials["THR 24"]["loses_nothing"] and trials["THR 24"]["within_pc99"]
assert not trials["THR 8"]["loses_nothing"]
assert trials["INT"]["timer_late_max_ms"] > trials["THR 24"]["timer_late_max_ms"] + 1
# The page's line is the time that a block can wait: what is queued less the block that is being played.
advice = json.load(open("one.json"))
assert advice["limit_ms"] < advice["lead_ms"], advice["limit_ms"]
# Nothing lost, and yet a block that was too late: never both.
assert all(t["margin_ms"] >= 0 for t in trials.values() if "refusal" not in t and t["loses_nothing"])
EOF
# What a reservation would do on a host that is drawn from measured latencies, nobody knows.
expect 0 "no reservation has been measured" advise rt-audio win98-office --seconds 5 --repeats 1
# Rare latencies, not a slow host: deeper buffers are found, and do suffice when asked for.
"$offhook" advise bluetooth win98-office --seconds 10 --repeats 1 --json >few.json 2>/dev/null
[ $? = 2 ] || fail "two buffers of 0.3 ms suffice on Windows 98"
deep=$(python3 -c 'import json; a = json.load(open("few.json")); assert a["buffers_that_suffice"] > a["buffers"]; print(a["buffers_that_suffice"])') ||
  fail "no deeper buffers found"
expect 0 "nothing is lost" advise bluetooth win98-office --seconds 10 --repeats 1 --set "device.buffers.count=$deep"
# No buffers make up for more work than there is time for.
expect 2 "need 125.0 % of the CPU" advise g-lite nt2000-p2-450 --seconds 5 --repeats 1 --set device.work.block_us=5000
# Less than a clock tick is no margin for a reservation: the next safer one is advised, and both are told.
expect 0 "RES 1/2 strict (0.9766/1.953 ms): nothing is lost" advise vendor-modem nt2000-p2-450 --seconds 5 --repeats 2 --set device.buffers.lead_samples=130
grep -q "RES 1/3 strict (0.9766/2.93 ms): It left only" out.txt || fail "the thin one is not told"
# A radio's slots: what is asked for is 99.999 % of them in time, 62.5 s between losses.
expect 0 "radios may miss 1e-05, one loss in 62.5 s" advise soft-radio linux-6.12-rt-am64x --slot-us 625 --seconds 2 --repeats 1 --json
python3 - out.txt <<'END' || fail "slots"
import json, sys
a = json.load(open(sys.argv[1]))
assert a["slot_ms"] == 0.625 and abs(a["required_s"] - 62.5) < 1e-9, a
assert all(0 < t["miss_ratio_at_most"] <= 1 for t in a["trials"] if "refusal" not in t)
END
expect_error "longer than a slot; expected 4000 us or more" advise g-lite linux-rt --slot-us 625
expect_error "--between-losses and --slot-us cannot be combined" advise soft-radio linux-rt --slot-us 625 --between-losses 1
# The memo, and why each other context was passed over.
expect 0 "passed_over_for" advise g-lite nt2000-p2-450 --seconds 5 --repeats 1 --memo memo.html --json
python3 - out.txt memo.html <<'END' || fail "memo"
import json, re, sys
advice = json.load(open(sys.argv[1]))
memo = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[2]).read())[1])
for t in advice["trials"]:
    assert (t["context"] == advice["context"]) != bool(t["against"]), t["context"]
named = [c for names, _ in memo["against"] for c in names]
assert sorted(named + [t["in_full"] for t in advice["trials"] if not t["against"]]) == sorted(t["in_full"] for t in advice["trials"])
assert not advice["with_reserve"] and memo["verdict"] == "sufficient", "a margin, and no limit broken"
END
# A context that is asked about is the only one.
expect 0 "THR 20: nothing is lost" advise g-lite nt2000-p2-450 --seconds 5 --repeats 1 --set "context=THR 20"
grep -q "^INT" out.txt && fail "INT was tried beside the one asked about"
expect 2 "THR 8 does not suffice" advise g-lite nt2000-p2-450 --seconds 5 --repeats 1 --set context.kind=thread --set context.priority=8
# Runs that are done are kept: a line that is lost is run again, a spoilt one too, and the advice is the same.
[ "$(grep -c '"run"' modem/runs.jsonl)" -gt 10 ] || fail "no runs kept"
cp modem/advice.json first.json && cp modem/runs.jsonl all.jsonl
{ head -n 6 all.jsonl | sed 's/"blocks":[0-9]*/"blocks":1/'; tail -n +7 all.jsonl | head -n 8; tail -n 1 all.jsonl | head -c 40; } >modem/runs.jsonl
expect 0 "RES 1/6 strict (0.9766/5.859 ms): nothing is lost" advise vendor-modem nt2000-p2-450 --seconds 10 --repeats 2 --out modem
cmp -s modem/advice.json first.json || fail "other advice from kept runs"
kept=$(wc -c <modem/runs.jsonl)
expect 0 "RES 1/6 strict (0.9766/5.859 ms): nothing is lost" advise vendor-modem nt2000-p2-450 --seconds 10 --repeats 2 --out modem
[ "$(wc -c <modem/runs.jsonl)" = "$kept" ] || fail "runs that were kept ran again"
# The advice against other seeds: what was counted is kept as well, and read back instead of counted again.
verify=(advise g-lite nt2000-p2-450 --seconds 5 --repeats 1 --set "context=THR 20" --verify 0.01 --out verify)
expect 0 "verified: THR 20 lost samples in 0 of 44997 blocks, 5 runs of 0.01 h with other seeds" "${verify[@]}"
[ "$(grep -c '"run"' verify/verified.jsonl)" = 5 ] || fail "what was counted is not kept"
cp verify/advice.json first.json && kept=$(wc -c <verify/verified.jsonl)
expect 0 "verified: THR 20" "${verify[@]}"
cmp -s verify/advice.json first.json || fail "verified otherwise from what was kept"
[ "$(wc -c <verify/verified.jsonl)" = "$kept" ] || fail "what was kept was counted again"
cat >host.toml <<'EOF'
host.name = "nt2000-p2-450"
load.spinner = false
EOF
expect 0 "THR 8" advise rt-audio host.toml --seconds 5 --repeats 1
printf 'tick_hz = 1000\n' >alone.toml
expect 0 "on alone" advise rt-audio alone.toml --seconds 5 --repeats 1
printf 'tick_hz = 7\n' >bad.toml
expect_error "bad.toml:1:11: tick_hz is 7; expected" advise rt-audio bad.toml
expect_error "is not in" advise rt-audio nowhere
printf 'context = "INT"\nload.spinner = true\n' >context.toml
expect_error "context.toml:1:1: this host file sets a context" advise rt-audio context.toml

# Contexts by the host's own names; what was simulated; and a trace, whose length is all the evidence there is.
board="$source_dir/examples/board.load"
expect 0 "FIFO 50: nothing is lost" advise rt-audio --trace "$board" --seconds 5 --repeats 3 --set "context=FIFO 50"
grep -q "Warning: the trace lasts 4 s and was replayed 4 times: that supports 1.33 s between losses" out.txt || fail "no warning of a short trace"
grep -q "Warning: the file does not name its kernel" out.txt || fail "a kernel that nobody named"
"$offhook" advise rt-audio --trace "$board" --seconds 5 --repeats 3 --set "context=FIFO 50" --json >trace.json 2>/dev/null || fail "trace.json"
python3 - <<'END' || fail "a recording of 4 s"
import json
a = json.load(open("trace.json"))
(t,) = a["trials"]
assert t["between_losses"]["evidence"] == "seen" and t["between_losses"]["low_s"] <= 4.01 / 3, t["between_losses"]
assert a["with_reserve"] and a["required_s"] is None
END
expect 0 "THR 50 (SCHED_FIFO 50): nothing is lost" advise rt-audio linux-hz250 --trace "$board" --seconds 5 --repeats 1 --set "context=THR 50"
grep -q "Simulated: 5.* in each context, on linux-hz250, with CPU 0 of the recorded" out.txt || fail "not what was simulated"
expect 2 "Evidence that would suffice: a recording of 3 h or more" advise rt-audio --trace "$board" --seconds 3 --repeats 1 --set "context=FIFO 50" --between-losses 1
expect_error "names no version. Expected --trace" advise rt-audio linux
# A thread of the load is what its file says: above the device's, it takes the CPU from it on every Linux.
sed 's/work_us = 3000/work_us = 19000/' "$source_dir/examples/host.toml" >busy.toml
for host in linux-hz250 linux-rt linux-6.12-rt-am64x; do
  sed "s/\"linux-hz250\"/\"$host\"/" busy.toml >"busy-$host.toml"
  expect 2 "THR 12 does not suffice" advise "$source_dir/examples/device.toml" "busy-$host.toml" --seconds 2 --repeats 1 --set "context=THR 12"
done
expect_error 'class is "fifo", which host nt2000-p2-450 with scheduler fixed-priority does not have' \
  advise rt-audio busy.toml --set host.name=nt2000-p2-450
# A host of nothing but assumptions has a but, and no week.
expect 0 "Warning: this host was not measured" advise rt-audio linux-hz250 --seconds 3 --repeats 1
grep -q "Priority order on this host" out.txt || fail "no order of priorities"
"$offhook" advise rt-audio linux-hz250 --seconds 3 --repeats 1 --json >hz250.json 2>/dev/null || fail "hz250.json"
python3 - <<'END' || fail "an assumed host"
import json
a = json.load(open("hz250.json"))
assert a["assumed"] and a["with_reserve"]
assert all(t["between_losses"]["low_s"] <= 1.01 for t in a["trials"] if "refusal" not in t)
assert any(t["context"].startswith("RES ") and "us/" in t["context"] or "ms/" in t["context"] for t in a["trials"]), "no reservation in us"
assert any(line.startswith("chrt -f ") for line in a["commands"]), a["commands"]
assert "SCHED_OTHER, nice 0: a thread that never blocks" in a["priorities"]
END
# One line names the scheduler: reservations are Linux's, not Rialto's slots with their law.
printf 'scheduler = "linux"\n' >line.toml
expect 0 "SCHED_DEADLINE" advise rt-audio line.toml --seconds 2 --repeats 1 --set "context=RES 1/2 strict"
grep -q "reservation law, if" out.txt && fail "the law of slots for SCHED_DEADLINE"
printf 'scheduler = "linux"\nreservations = "rialto"\n' >slots.toml
expect_error "whose slots do not exist on Linux" advise rt-audio slots.toml
# Nor for groups under a limit: cpu.max promises nothing, and a budget of HCBS is checked at ticks.
for limit in "cpu-max:cpu.max is a limit: it promises no CPU time" "hcbs:The law does not cover it"; do
  printf 'scheduler = "linux"\nreservations = "%s"\n' "${limit%%:*}" >group.toml
  expect 0 "${limit#*:}" advise rt-audio group.toml --seconds 2 --repeats 1 --set "context=RES 1/4 strict"
  grep -q "a week or more" out.txt && fail "a week from ${limit%%:*}"
done
expect_error "fails with EBUSY: SCHED_DEADLINE admits at most 95 % for 1 CPU" run "$source_dir/examples/int.toml" --context "RES 100/100 strict" --set host.name=linux-hz250
# A histogram of cyclictest: what its header does not say is asked for.
{
  echo "# Histogram"
  for us in 10 20 30; do printf '%06d %06d\n' $us 3000; done
  printf '# Total: 000009000\n# Max Latencies: 00120\n# Histogram Overflows: 00001\n'
} >cyc.hist
expect_error '--measured-at "FIFO 80" and --measured-seconds S' advise rt-audio cyc.hist
expect 0 "cyclictest, 9001 waits of FIFO 80 in 9 s" advise rt-audio cyc.hist --measured-at "FIFO 80" --measured-seconds 9 --seconds 3 --repeats 1
"$offhook" advise rt-audio cyc.hist --measured-at "FIFO 80" --measured-seconds 9 --seconds 3 --repeats 1 --json >cyc.json 2>/dev/null || fail "cyc.json"
python3 - <<'END' || fail "a histogram"
import json
a = json.load(open("cyc.json"))
trials = {t["context"]: t["between_losses"] for t in a["trials"] if "refusal" not in t}
assert a["context"] == "THR 80", a["context"]
assert trials["THR 80"]["evidence"] == "distribution" and trials["THR 80"]["low_s"] <= 3, trials["THR 80"]
assert trials["THR 25"]["evidence"] == "assumed", trials["THR 25"]
END
# rt-tests 2.40 writes "cmdline:"; with it nothing is asked for. FIFO 25 was not measured, and is not advised.
echo '{"cmdline:": "cyclictest -q -p 80 -i 1000 -h 400 --json=a.json", "sysinfo": {"release": "6.12.57"}, "thread": {"0": {"histogram": {"10": 2990, "12": 10}, "cycles": 3000, "max": 12}}}' >cyc.json
expect 0 "THR 80 (SCHED_FIFO 80): nothing is lost" advise rt-audio cyc.json --seconds 5 --repeats 1
grep -q "This priority was not measured on this host: only 80 and above were" out.txt || fail "an unmeasured priority"
# Hours of histogram and seconds of trace: the trace alone would support 0.67 s.
echo '{"cmdline:": "cyclictest -q -p 80 -i 1000 -h 400", "sysinfo": {"release": "6.12.57"}, "thread": {"0": {"histogram": {"10": 2999990, "12": 10}, "cycles": 3000000, "max": 12}}}' >hours.json
expect 0 "limit the time that others take from a block's work" advise rt-audio hours.json --trace "$source_dir/examples/board.load" --seconds 3 --repeats 1
echo '{"cmdline:": "cyclictest -q -h 400", "thread": {"0": {"histogram": {"10": 3000}, "cycles": 3000, "max": 10}}}' >other.json
expect_error "measured a thread of SCHED_OTHER" advise rt-audio other.json
expect 0 "cyc.hist: mean" mttf cyc.hist --buffers 2 --hours 1

# So are measured latencies of 80 s; those of six hours are not. No reservation to be tried: that is said, too.
expect 0 "Warning: this host's latencies come from 80 s of measurement" advise rt-audio ce3-sh4 --seconds 1 --repeats 1 --json a.json
python3 -c 'import json; a = json.load(open("a.json")); assert a["suffices"] and a["with_reserve"], a["headline"]' || fail "a verdict without a but on 80 s of measurement"
expect 0 "but the longest known wait leaves only 0.0" advise full-rate-dsl win98-workstation --seconds 1 --repeats 1
expect 0 "nothing is lost" advise bluetooth linux-6.12-rt-am64x --seconds 1 --repeats 1
grep -q "Warning" out.txt && fail "a warning of six hours of measurement"
grep -q "Between losses: 120 min at least, by the latencies measured on this host" out.txt || fail "not two of six hours"
grep -q "^THR 80 (SCHED_FIFO 80): nothing is lost" out.txt || fail "not the priority that was measured"
expect 0 "RES 1/2 strict (SCHED_DEADLINE 4/8 ms): nothing is lost" advise g-lite linux-hz250 --seconds 5 --repeats 1 --set "context=RES 1/2 strict"
expect 0 "with a thread that never blocks" advise g-lite nt2000-p2-450 --seconds 2 --repeats 1 --set "context=THR 20"

# Linux's own names are those of a host with measured latencies, too, and PC 99 is no rule for it.
expect 0 "FIFO 80: nothing is lost" advise rt-audio linux-6.12-rt-am64x --seconds 2 --repeats 1 --set "context=FIFO 80"
grep -q "is Linux's; this host" out.txt && fail "FIFO 80 refused on Linux"
grep -q "PC 99" out.txt && fail "PC 99 on Linux"

# Modern hosts: what they rest on is told, and a latency that nobody measured is no better than what comes after it.
expect 0 "The host's numbers: published: Texas Instruments" advise rt-audio linux-6.12-rt-am64x --seconds 3 --repeats 1
grep -q "Not tried: .*none of softirqs" out.txt || fail "a host whose softirqs nobody measured tries one"
expect 0 "The host's numbers: assumed: LatencyMon" advise rt-audio windows-10-21h1-vm --seconds 3 --repeats 1
expect 0 "The host's numbers: assumed: the rules of kernel/sched" advise g-lite linux-hz250 --seconds 2 --repeats 1 --set "context=THR 50"
expect 0 "The host's numbers: no source is given" advise rt-audio alone.toml --seconds 2 --repeats 1 --set "context=THR 20"
expect 0 "windows-gaming-pc" hosts --json hosts.json
python3 - <<'END' || fail "hosts"
import json
hosts = {h["host"]: h for h in json.load(open("hosts.json"))}
assert all(h["what"] and h["assumed"] for h in hosts.values())
assert {h["grade"] for h in hosts.values()} == {"published", "assumed"}
assert abs(hosts["linux-6.12-rt-am64x"]["latencies"]["thread"]["worst_ms"] - 0.073) < 1e-9
assert "dpc" not in hosts["linux-6.12-rt-am64x"]["latencies"] and not hosts["linux-hz250"]["latencies"]
END
expect_error 'the nearest is "linux-rt"' hosts linux-rtt
finish
