#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A bare system: its events, its figures, and descriptions that are wrong.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >system.json <<'EOF'
{"horizon_ns": 30, "entities": [
  {"name": "timer", "kind": "interrupt", "level": 1, "offset_ns": 2, "period_ns": 20, "cost_ns": 1, "dpc": "work"},
  {"name": "work", "kind": "dpc", "cost_ns": 2},
  {"name": "audio", "kind": "edf", "offset_ns": 0, "period_ns": 20, "cost_ns": 4, "deadline_ns": 10}]}
EOF
cat >expected.csv <<'EOF'
time_ns,cpu,entity,event
0,0,audio,start
2,0,audio,preempt
2,0,timer,start
3,0,timer,finish
3,0,work,start
5,0,work,finish
5,0,audio,resume
7,0,audio,finish
20,0,audio,start
22,0,audio,preempt
22,0,timer,start
23,0,timer,finish
23,0,work,start
25,0,work,finish
25,0,audio,resume
27,0,audio,finish
EOF
expect 0 "27,0,audio,finish" schedule system.json --json summary.json
"$offhook" schedule system.json --csv schedule.csv || fail "--csv"
diff expected.csv schedule.csv || fail "schedule.csv"
grep -q '"resp_max": 7' summary.json || fail "summary.json"
expect_error "nowhere.json" schedule nowhere.json
: >empty.json
expect_error "empty.json:1:1: invalid JSON" schedule empty.json
sed s/cost_ns/cots_ns/ system.json >typo.json
expect_error 'the nearest known key is "cost_ns"' schedule typo.json
# low holds m for 4 ns from 1 on, high wants it at 3, middle comes at 4.
cat >locks.json <<'EOF'
{"horizon_ns": 100, "locks": "plain", "entities": [
  {"name": "low", "kind": "fp", "priority": 1, "period_ns": 100, "cost_ns": 8,
   "critical_sections": [{"mutex": "m", "after_ns": 1, "length_ns": 4}]},
  {"name": "middle", "kind": "fp", "priority": 5, "offset_ns": 4, "period_ns": 100, "cost_ns": 20},
  {"name": "high", "kind": "fp", "priority": 9, "offset_ns": 2, "period_ns": 100, "cost_ns": 3,
   "critical_sections": [{"mutex": "m", "after_ns": 1, "length_ns": 1}]}]}
EOF
expect 0 "28,0,high,finish" schedule locks.json
for locks in inherit proxy; do
  sed "s/plain/$locks/" locks.json >helped.json
  expect 0 "8,0,high,finish" schedule helped.json
done
sed 's/plain/proxi/' locks.json >wrong.json
expect_error 'locks is "proxi"; the nearest is "proxy", expected one of plain, inherit, proxy' schedule wrong.json
sed 's/"length_ns": 4/"length_ns": 8/' locks.json >wrong.json
expect_error "critical_sections[0]: ends after 9 ns; expected at most the cost_ns of 8" schedule wrong.json
sed 's/"mutex"/"mutecks"/' locks.json >wrong.json
expect_error 'the nearest known key is "mutex"' schedule wrong.json
[ ! -w /dev/full ] || expect_error "No space left" schedule system.json --csv /dev/full
# SCHED_DEADLINE is admitted as the kernel does: 95 % of the one CPU, 90 where the fair class has its server.
dl() { printf '{"name": "%s", "kind": "deadline-ticks", "budget_ns": %s, "res_period_ns": 100, "period_ns": 100, "cost_ns": 1}' "$1" "$2"; }
printf '{"horizon_ns": 100, "entities": [%s]}' "$(dl a 95)" >dl.json
expect 0 "a" schedule dl.json
printf '{"horizon_ns": 100, "entities": [%s]}' "$(dl a 96)" >dl.json
expect_error "entities[0] 'a': sched_setattr of 'a' fails with EBUSY: SCHED_DEADLINE admits at most 95 %" schedule dl.json
printf '{"horizon_ns": 100, "entities": [%s, %s]}' "$(dl a 90)" "$(dl b 90)" >dl.json
expect_error "it asks for 90 % and others have 90 %" schedule dl.json
printf '{"horizon_ns": 100, "entities": [%s, {"name": "f", "kind": "linux-6.12", "nice": 0, "period_ns": 100, "cost_ns": 1}]}' "$(dl a 95)" >dl.json
expect_error "less 5 % for the fair server" schedule dl.json
# The Gantt chart: every segment of the events, and the page without them when CSV is asked for too.
"$offhook" schedule "$source_dir/examples/system.json" --html gantt.html --csv gantt.csv || fail "schedule --html"
python3 - gantt.html gantt.csv <<'PYTHON' || fail "the segments of the page differ from the events"
import csv, json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
rows = list(csv.DictReader(open(sys.argv[2], encoding="utf-8")))
names = [e["name"] for e in data["entities"]]
begun = {(int(r["time_ns"]) / 1000, r["entity"]) for r in rows if r["event"] in ("start", "resume")}
drawn = {(s[0], names[s[2]]) for s in data["segments"]}
misses = sum(r["event"] == "miss" for r in rows)
sys.exit(not (data["kind"] == "schedule" and drawn and drawn <= begun and len(begun - drawn) <= 1 and len(data["misses"]) == misses))
PYTHON
if command -v chromium >/dev/null; then
  expect 0 "1 figure in figures" schedule "$source_dir/examples/system.json" --figures figures
  for file in gantt.svg gantt.png gantt.csv page.html; do [ -s "figures/$file" ] || fail "no figures/$file"; done
  head -c 100 figures/gantt.svg | grep -q "^<svg " || fail "gantt.svg is no SVG"
  [ "$(head -n 1 figures/gantt.csv)" = "name,from_us,to_us" ] || fail "gantt.csv: $(head -n 1 figures/gantt.csv)"
else
  echo "skipped: --figures, without Chromium"
fi
refusal=$(env PATH=/nowhere "$offhook" schedule "$source_dir/examples/system.json" --figures figures 2>&1)
[[ $refusal == *"needs Chromium"* ]] ||
  fail "--figures without a browser"

finish
