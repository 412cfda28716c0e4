#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The soft radio as people meet it: examples in every context, what is lost and by whom, a sweep, its cost, the law.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

short=(--set transfer.device_s=0.2)
for name in radio radio-ofdm; do
  cp "$source_dir/examples/$name.toml" .
  for context in INT DPC "THR 24" "RES 3/4 strict"; do
    expect 0 "Sufficient" run $name.toml "${short[@]}" --context "$context" --out r
  done
done
expect 0 "every burst arrived" run radio.toml "${short[@]}" --out r
python3 - <<'END' || fail "radio: summary"
import json
radio = json.load(open("r/summary.json"))["radio"]
assert radio["slot_ms"] == 0.625 and radio["in_data"] and 0 < radio["longest_service_of_slot"] < 1, radio
for way in ("received", "sent"):
    d = radio[way]
    assert d["bursts_due"] > 100 and d["bursts_missed"] == d["bursts_broken"] == d["wrong_bits"] == 0, d
    assert d["miss_ratio"] == 0 and 1e-3 < d["miss_ratio_at_most"] < 0.05 and d["bits_compared"] > 50000, d
END
cp r/report.html first.html
expect 0 "r/report.html" report r
same_page r/report.html first.html || fail "radio: report differs from run's"
# The host loses bursts, and is told apart from the air.
expect 2 "Insufficient: " run radio.toml "${short[@]}" --context "RES 1/4 strict" --out r
expect 0 "all losses were caused by the radio channel" run radio.toml "${short[@]}" --set air.snr_db=5 --out r
python3 - <<'END' || fail "radio: blame"
import json
radio = json.load(open("r/summary.json"))["radio"]
assert radio["received"]["bursts_late"] == radio["sent"]["bursts_late"] == 0, radio
assert radio["received"]["bursts_broken"] + radio["sent"]["bursts_broken"] > 0, radio
END
# A device that is none, and keys of another line.
expect_error "expected a device on it, such as device = " run "$source_dir/examples/int.toml" --set 'line.kind="air"' --out r
expect_error "a card of 1104000 samples/s; expected 4000000 for radio-burst" run radio.toml --set 'device="g-lite"' --out r
expect_error "has no effect with line.kind" run radio.toml --set line.loss_db=3 --out r
expect_error 'expected "radio-burst" or "radio-ofdm"' run radio.toml --set 'air.waveform="wifi"' --out r
# The plane, by the real pump and by the law; the cost of the pump as a device for the law.
sed "s/to = 5/to = 2/; s/to = 10/to = 4/" "$source_dir/examples/radio-map.toml" >map.toml
expect 0 "" sweep map.toml --out map --threads 2
grep -q '"bursts_due_received"' map/results.json || fail "radio: a sweep's rows say nothing of bursts"
expect 0 "received " measure cost --device radio.toml --seconds 0.1 --profile mine.toml
expect 0 "share" advise law mine.toml --tick-hz 8192 --json
finish
