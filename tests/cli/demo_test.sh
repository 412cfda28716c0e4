#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `demo`, smaller than it is for people: every row of Table 3 in its published class, contexts in equal time.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

everything="independent, 4 of 4; derived, 2 of 2; calibrated, 12 of 12"
expect 0 "$everything" demo --out one --bytes 1500 --threads 1 --json
expect 0 "$everything" demo --out two --bytes 1500 --threads 2 --json
same_page one/report.html two/report.html || fail "report.html depends on the number of threads"
for name in int-spinner/events.ohlog res-2-8-spinner/summary.json thr-24-spinner/line.wav; do
  cmp -s "one/$name" "two/$name" || fail "$name depends on the number of threads"
done
python3 - two/summary.json <<'END' || fail "contexts"
import json, sys
rows = {r["name"]: r for r in json.load(open(sys.argv[1]))["contexts"]}
reference = rows["INT + spinner"]["mean_s"]
for name in ("DPC + spinner", "THR 24 + spinner", "RES 2/8 + spinner"):
    assert abs(rows[name]["mean_s"] / reference - 1) < 0.01, name
for name in ("INT + spinner", "DPC + spinner", "THR 24 + spinner"):
    assert rows[name]["pending_max_samples"] <= 30, name
assert rows["THR 8 + spinner"]["complete"] == 0
END
finish
