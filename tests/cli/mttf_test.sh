#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Mean time to underrun from a host's latencies and from histograms; schedulability; what is wrong with them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "1 h 07 min" mttf win98-games --context "THR 28" --buffers 4 --buffer-ms 16 --hours 1
expect 0 "with virus scanner" mttf win98-office --context "THR 28" --virus-scanner -n 2 -t 16 --hours 1
"$offhook" mttf win98-games -n 2,3 -t 4,6 --hours 2 --json a.json --csv a.csv -q >a.txt || fail "mttf"
"$offhook" mttf win98-games -n 2,3 -t 4,6 --hours 2 --json - -q >b.json || fail "mttf --json -"
diff a.json b.json || fail "the same seed, other bytes"
[ "$(wc -l <a.csv)" = 5 ] || fail "a.csv: $(cat a.csv)"
grep -q '^buffers,buffer_ms,' a.csv || fail "no header in a.csv"

printf 'latency_us,count\n10,999\n9000,1\n' >my.csv
expect 0 "never" mttf my.csv -n 2 -t 16 --hours 0.1
expect 0 "my.csv" mttf my.csv -n 2 -t 4 --hours 0.1
printf '  10 0.5 999\n  9000 1.0 1000\n' >my.hgrm
expect 0 "worst 9 ms" mttf my.hgrm -n 2 -t 4 --hours 0.1
expect_error "my.txt\" is not in" mttf my.txt
expect_error "FIFO 3 is Linux's; this host is win98-games: INT, DPC, THR 1..255" mttf win98-games --context "FIFO 3"
# A radio's own buffers, and the share of its slots that is missed.
expect 0 "too many" mttf my.csv --device soft-radio --slot-us 625 --hours 0.1
printf 'latency_us,count\n10,999\n200,1\n' >short.csv
expect 0 "in time" mttf short.csv --device soft-radio --slot-us 625 --hours 0.1
expect_error "a buffer of 4 ms is longer than a slot of 0.625 ms" mttf short.csv --slot-us 625 --hours 0.1
expect 0 '"miss_ratio": 0.0,' mttf short.csv --device soft-radio --slot-us 625 --hours 0.1 --json - -q
expect 0 "is ready after 40 % of it" mttf win98-workstation --device full-rate-dsl --context INT --hours 1 -q
expect_error "--buffers and --device cannot be combined" mttf short.csv --device soft-radio -n 2
printf 'latency_us,count\n10,x\n' >bad.csv
expect_error "bad.csv:2: expected a latency and a count" mttf bad.csv
expect_error "has no latency distributions" mttf nt2000-p2-450
expect_error "device.toml: has no table [latency]; expected a file of offhook measure host-profile" mttf "$source_dir/examples/device.toml"
expect_error "has no DPCs" mttf ce3-sh4 --context DPC
expect_error "no data about reservations" mttf win98-web --context "RES 2/8"
expect_error "expected either" mttf
expect_error "nowhere/a.json: No such file" mttf win98-web --json nowhere/a.json --hours 100000

expect 0 "schedulable" mttf --tasks "$source_dir/examples/schedulability.toml" --hours 0.2 --csv tasks.csv
[ "$(wc -l <tasks.csv)" = 5 ] || fail "tasks.csv: $(cat tasks.csv)"
expect 0 "" mttf win98-games --context "THR 28" --buffers 4 --buffer-ms 16 --hours 1 --html mttf.html -q
grep -q '"kind":"mttf"' mttf.html || fail "no page"
expect_error "no/page.html" mttf win98-games --hours 1 --html no/page.html
printf '[[computation]]\nname = "a"\n' >bad.toml
expect_error "expected a period_ms" mttf --tasks bad.toml

# A call on such a host.
expect 0 "sufficient" run "$source_dir/examples/table3-3-16.toml" --context "THR 28" --set host.name=win98-office --out call
expect_error "has no DPCs" run "$source_dir/examples/table3-3-16.toml" --context DPC --set host.name=ce3-pentium --out no
finish
