#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The law of the shipped devices, of one's own, and descriptions that are wrong.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "Gap: at most 7.6 ms" advise law g-lite
expect 0 "Gap: at most 3.6 ms" advise law g-lite --buffers 2
expect 0 "Gap: at most 19.2 ms" advise law full-rate-dsl --buffers 6
expect 0 "Share: more than 50.0 %" advise law full-rate-dsl
expect 0 "shorter than a tick" advise law bluetooth
expect 0 "Recommended:" advise law bluetooth --tick-hz 10000
expect 0 "x_ticks,x_ms,full_law_y_ms,on_host_y_ms" advise law rt-audio --csv
expect 0 '"longest_gap_ms": 29.55' advise law rt-audio --json
"$offhook" advise law vendor-modem --confirm --seconds 20 --phases 4 --x-max 3 --out one --json >one.json 2>/dev/null || fail "--confirm"
"$offhook" advise law vendor-modem --confirm --seconds 20 --phases 4 --x-max 3 --out two --threads 1 --json >two.json 2>/dev/null
cmp one.json two.json || fail "other bytes on one thread"
for f in law.csv law.json report.html more-lead.toml more-lead/plan.json; do [ -s "one/$f" ] || fail "$f is missing"; done
expect 0 "equal" advise law --check 60 --threads 1
cp out.txt checked.txt
expect 0 "equal" advise law --check 60 --threads 2
cmp out.txt checked.txt || fail "--check depends on threads"
expect_error "either a device or --check" advise law
expect_error "either a device or --check" advise law g-lite --check 3
expect_error "holds another experiment" advise law vendor-modem --confirm --seconds 21 --phases 4 --x-max 3 --out one
lite=$source_dir/examples/g-lite.toml
for buffers in 2 3; do
  expect 0 "Of 8 reservations, the law and the simulation agree on 8," advise law g-lite --buffers $buffers --confirm \
    --scenario "$lite" --phases 1 --seconds 2.2 --x-max 2 --out "real-$buffers"
done
expect_error "--scenario requires --confirm" advise law g-lite --scenario "$lite"
expect_error "expected at least 2, for a DMT pump's start-up" advise law g-lite --confirm --scenario "$lite" --seconds 1
expect_error 'line.kind = "subscriber-loop" or "air", or device.pump' advise law g-lite --confirm --scenario "$source_dir/examples/int.toml"
sed 's/phi = .*/phi = 2/' "$source_dir/traces/data/devices/g-lite.toml" >bad.toml
expect_error "work.phi is 2; expected a number, 0 to 1" advise law bad.toml
grep -v block_us "$source_dir/traces/data/devices/g-lite.toml" >missing.toml
expect_error "missing.toml: work.block_us is missing" advise law missing.toml
expect_error "expected one of: bluetooth" advise law nobody
expect_error "nowhere.toml: No such file" advise law nowhere.toml
finish
