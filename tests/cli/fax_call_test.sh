#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A fax call on a simulated host: its result in words, JSON, rows of a sweep and on the page; its line, decoded; what is
# refused; the device for the law.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cp "$source_dir/examples/fax.toml" .
short=(--set fax.lines=200)
expect 0 "every page arrived whole" run fax.toml "${short[@]}" --out r
expect 0 "pages lost" run fax.toml "${short[@]}" --context "RES 3/8 strict" --set pump.role=answer --out answer
expect 0 "Sufficient: every block was on time, and every page arrived whole." run fax.toml "${short[@]}" --out again
cmp -s r/summary.json again/summary.json || fail "fax: two runs of the same seed differ"
python3 - <<'END' || fail "fax: summary"
import json
fax = json.load(open("r/summary.json"))["fax"]
assert fax["pages_due"] == fax["pages_whole"] == fax["pages_confirmed"] == len(fax["pages"]) == 2, fax
assert fax["pages_lost"] == fax["frames_again"] == fax["bad_lines"] == fax["refused_pages"] == 0, fax
assert fax["complete"] and fax["error_correction"] and fax["failure"] == "", fax
assert all(p["modulation"] == "V.17" and p["bit_rate"] == 14400 for p in fax["pages"]), fax
END
cp r/report.html first.html
expect 0 "r/report.html" report r
same_page r/report.html first.html || fail "fax: report differs from run's"
expect 0 "V.17" decode r/line.wav
# Late blocks: repaired with error correction, damage without.
late=(--set 'load.device=[{ name = "holder", every_us = 5000000, isr_us = 120000, level = 31 }]' --context INT)
expect 2 "Marginal: samples were lost, but every page arrived whole." run fax.toml "${short[@]}" "${late[@]}" --out late
expect 2 "Insufficient: pages were damaged." run fax.toml "${short[@]}" "${late[@]}" --set fax.error_correction=false --out damaged
expect 2 "T.30" run fax.toml "${short[@]}" --context "THR 4" --out starved
python3 - <<'END' || fail "fax: late blocks"
import json
late, damaged, starved = (json.load(open(f"{n}/summary.json"))["fax"] for n in ("late", "damaged", "starved"))
assert late["frames_again"] > 0 and late["pages_lost"] == 0, late
assert damaged["bad_lines"] > 0 and damaged["pages_lost"] > 0, damaged
assert starved["pages_lost"] == 2 and not starved["complete"] and starved["failure"], starved
END
expect 0 "lost and recovered from copies, 0 lost with all copies" run fax.toml "${short[@]}" --set fax.gateway=true --set fax.packet_loss=0.05 --out gateway
expect 0 "33600 bit/s, V.34" run fax.toml "${short[@]}" --set fax.v34=true --out v34
python3 - <<'END' || fail "fax: V.34"
import json
v34, v17 = (json.load(open(f"{n}/summary.json"))["fax"] for n in ("v34", "r"))
assert all(p["modulation"] == "V.34" and p["bit_rate"] > 14400 for p in v34["pages"]), v34
assert v34["pages_whole"] == 2 and v34["lasted_s"] < v17["lasted_s"], v34
END
grep -q '"modulation":"V.34"' v34/report.html || fail "fax: the page does not name V.34"
# Refusals.
expect_error "expected fax.error_correction = true" run fax.toml --set fax.v34=true --set fax.error_correction=false --out r
expect_error "expected fax.gateway = false" run fax.toml --set fax.v34=true --set fax.gateway=true --out r
expect_error 'expected a device that sends them, such as device = "fax"' run "$source_dir/examples/int.toml" --set fax.pages=1 --out r
expect_error "has no effect without pages" run fax.toml "${short[@]}" --set fax.pages=0 --out r
expect_error "fax.packet_loss has no effect without a packet network; expected fax.gateway = true" run fax.toml "${short[@]}" --set fax.packet_loss=0.1 --out r
expect_error 'expected line.kind = "analogue"' run fax.toml --set 'line.kind="digital-trunk"' --out r
expect_error "samples/s; expected 8000" run fax.toml --set 'device="g-lite"' --out r
expect_error "expected \`offhook fax\`" measure device fax.toml
# A sweep's rows, and the device for the law.
cat >grid.toml <<'END'
[scenario]
device = "fax"
fax.pages = 1
fax.lines = 100
transfer.device_s = 60
[axes]
context = ["INT", "DPC"]
END
expect 0 "" sweep grid.toml --out grid
grep -q "fax_pages_whole" grid/results.csv || fail "fax: a sweep's rows say nothing of pages"
expect 0 "gap" advise law fax --json
finish
