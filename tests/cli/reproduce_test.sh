#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `reproduce`: claims by name, resumed, the same bytes however it is run, and the hard ones within their tolerance.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "jones.table3" reproduce --list
expect_error "is neither a claim nor a figure; the nearest is" reproduce jones.tabel3
expect 0 "inputs, which are not results" reproduce jones --out one --threads 1
grep -q '"falls_short":\[\]' <(tr -d "\n " <one/results.json) || fail "what falls short"
cp -r one again
rm again/claims/jones.table3.json again/results.json
echo damaged >again/claims/jones.fig1.interrupt_period.json
expect 0 "claims kept from an earlier run" reproduce jones --out again --threads 2
for id in jones.table1 jones.table2 jones.table3 jones.fig2; do
  expect 0 "hard" reproduce "$id" --out parts --threads 2
done
for file in results.json results.csv; do
  cmp -s "one/$file" "again/$file" || fail "$file depends on threads, or on what was kept"
done
same_page one/report.html again/report.html || fail "report.html depends on threads, or on what was kept"
cmp -s one/claims/jones.table1.json parts/claims/jones.table1.json || fail "a claim depends on those beside it"
expect 0 '"seed": 2' reproduce jones.fig1 --out parts --seed 2 --json

# Labels of published levels stand beside the figures, not upon what was simulated: Figure 2 has three, Figure 14 two.
if command -v chromium >/dev/null; then
  timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --virtual-time-budget=4000 \
    --user-data-dir="$work/profile" --dump-dom "file://$PWD/one/report.html" >page.dom 2>/dev/null
  python3 - <<'END' || fail "labels cover data"
import re

drawings = re.findall(r'<svg[^>]*aria-label="(Figure[^"]*)"(.*?)</svg>', open("page.dom").read(), re.S)
labels = {}
for title, drawing in drawings:
    right = max(float(x) for x in re.findall(r'<line[^>]* x2="([0-9.]+)"', drawing))
    levels = [float(x) for x in re.findall(r'<text x="([0-9.]+)"[^>]*class="published level"', drawing)]
    assert all(x > right for x in levels), (title, right, levels)
    labels[title.split(":")[0]] = len(levels)
assert labels["Figure 2"] == 3 and labels["Figure 14"] == 2, labels
END
else
  echo "skipped: where labels stand in figures needs chromium"
fi

# The rows that an unpublished constant decides are those that name it, no more and no fewer.
for change in slot_priority=31 quantum_ms=-50% training_us=+50%; do
  mkdir -p "hinge-${change%%=*}/unperturbed" && cp one/claims/*.json "hinge-${change%%=*}/unperturbed/"
  expect 2 "Agreement changes in" reproduce jones --out "hinge-${change%%=*}" --perturb "$change"
done
python3 - <<'END' || fail "hinges"
import json
rows = {f'{c["id"]}, {r["what"]}': r for c in json.load(open("one/results.json"))["claims"] for r in c["rows"]}
for name in ("slot_priority", "quantum_ms", "training_us"):
    changed = json.load(open(f"hinge-{name}/results.json"))
    decided, named = set(changed["perturbation"]["decided"]), {row for row, r in rows.items() if name in r["hinges"]}
    assert decided == named and decided, (name, decided ^ named)
    # And a row that then differs says so.
    now = {f'{c["id"]}, {r["what"]}': r for c in changed["claims"] for r in c["rows"]}
    assert all(now[row]["agrees"] or f"perturbed: {name}" in now[row]["note"] or now[row]["note"] for row in decided)
END

# A constant that is perturbed changes what it should: blocks that cost a tenth more take a tenth more of the CPU.
share() { python3 -c 'import json, sys; print(next(r["simulated"] for c in json.load(open(sys.argv[1]))["claims"] for r in c["rows"] if r["what"] == "CPU share once connected"))' "$1/results.json"; }
expect 2 "FALLS SHORT" reproduce jones.fig2 --out perturbed --perturb block_us=+10%
# A row that differs says why, and one that was made to differ by what.
python3 - <<'END' || fail "a row that differs without a sentence"
import json
rows = {run: [r for c in json.load(open(f"{run}/results.json"))["claims"] for r in c["rows"] if not r["agrees"]] for run in ("one", "perturbed")}
assert len(rows["one"]) > 10 and all(len(r["note"]) > 20 for r in rows["one"]), [r for r in rows["one"] if len(r["note"]) <= 20]
assert rows["perturbed"] and all(r["note"] == "perturbed: block_us=+10%" for r in rows["perturbed"]), rows["perturbed"]
END
python3 -c "import sys; sys.exit(not 1.08 < $(share perturbed) / $(share one) < 1.1)" || fail "a tenth more work a block is no tenth more of the CPU"
# What rows say of what was tried is so: 30 samples pending need a longer block, more cases in THR 24 more long ones, and a
# tail of 5 ms and wake-ups a bucket away what takes longer than anything that is published.
row() { python3 -c 'import json, sys; print(next(r[sys.argv[3]] for c in json.load(open(sys.argv[1]))["claims"] for r in c["rows"] if r["what"] == sys.argv[2]))' "$1/results.json" "$2" "$3"; }
expect 0 "hard" reproduce jones.fig5 --out longer --perturb worst_us=3750
[ "$(row longer "INT, pending at most" simulated)" = 30.0 ] || fail "a block of 3.75 ms leaves 30 samples pending"
expect 0 "hard" reproduce jones.fig5 jones.fig10 --out training --perturb training_us=3300
[ "$(row one "THR 24, cases at INT's maximum" agrees)" = False ] || fail "the row agrees, and its note says why not"
[ "$(row training "THR 24, cases at INT's maximum" agrees)" = True ] || fail "more long blocks are more cases in THR 24"
longest() { row "$1" "INT, longest interval" simulated; }
python3 -c "import sys; sys.exit(not $(longest one) + 0.5 < $(longest training))" || fail "more long blocks are a longer tail"
expect 0 "hard" reproduce jones.fig10 --out routines --perturb isr_mean_us=43.2
case "$(row routines "RES 2/8, wake-ups one bucket away from 1 ms" simulated)" in
  "0, "* | *" 0") fail "longer routines move no wake-up into another bucket" ;;
esac
# What a table's row says of a constant is what the table has under that constant.
row one "RES 1/8, mean time" note >note.txt
grep -q "nearer with.*quantum_ms=-50%.*no nearer with.*retrain_ms=-50%" note.txt || fail "RES 1/8 of Table 1 is not what was tried on it"
# Table 3 of Cota-Robles and Held: values that were 20 % off would not agree.
expect 0 "cota" reproduce cota.table3 cota.table4 cota.schedulability --out cota
python3 - <<'END' || fail "cota.table3 agrees with values that are 20 % off"
import json
claims = {c["id"]: c["rows"] for c in json.load(open("cota/results.json"))["claims"]}
numbers = lambda words: [float(w) for w in words.removesuffix(" ms").split(", ")]
def agrees(published, simulated):
    return all(abs(s - p) <= 0.05 * p + (0.05 if p < 10 else 0.5) + 1e-9 for p, s in zip(published, simulated))
checked = 0
for row in claims["cota.table3"]:
    published, simulated = numbers(row["published"]), numbers(row["simulated"])
    # Of values with one digit, as 0.2 and 0.3, half of it is as much as 20 %.
    if row["agrees"] and any((0.05 if p < 10 else 0.5) < 0.1 * p for p in published):
        checked += 1
        assert not any(agrees([p * f for p in published], simulated) for f in (0.8, 1.2)), row
assert checked > 15, checked
assert len(claims["cota.table4"]) == 6 and all(r["agrees"] for r in claims["cota.table4"]), claims["cota.table4"]
assert len(claims["cota.schedulability"]) == 12, claims["cota.schedulability"]
END
expect 2 "FALLS SHORT" reproduce jones.table1 --out quantum --perturb quantum_ms=-50%
grep -qF "quantum_ms=-50% ($(printf %.1f "$(row quantum "RES 1/8, mean time" simulated)") s)" note.txt || fail "a note is not what a perturbed run has"
row one "RES 2/14, mean time" note >note.txt
expect 2 "FALLS SHORT" reproduce jones.ring jones.table3 --out retrained --perturb retrain_block_us=-50%
grep -q "none in jones.ring" out.txt || fail "claims that a perturbation does not change"
grep -qF "retrain_block_us=-50% ($(printf %.1f "$(row retrained "RES 2/14, mean time" simulated)") s)" note.txt || fail "the note of 2/14 is not what a perturbed run has"
# What it changes is said, also when that is nothing.
expect 0 "changes nothing in these claims" reproduce jones.ring --out ring --perturb phi=+10%
grep -q "values that can fail" out.txt || fail "the headline does not count what can fail"
expect_error 'the nearest is "phi"' reproduce jones.fig2 --perturb ph=1
expect_error "expected NAME=+10%" reproduce jones.fig2 --perturb phi=10%
expect 0 "five-fold" reproduce jones.fig1 --out scanned --repeats 1 --sensitivity 3
grep -q holds_over scanned/results.json || fail "no ranges in the JSON"
expect 0 "calibrated with Table 3 alone" reproduce jones.fig1 --out held --repeats 1 --held-out 3
grep -q '"perturbed": "phi=' held/results.json || fail "what was found is not what was run"

# The workloads of a board differ by what they do: only the graphics hold interrupts off, and only on the SH4.
expect 0 "of 20 and 0 of 20 executions" reproduce siemens.table1 --out siemens --repeats 1

# A hard claim that falls short ends with 2; a published value that no experiment looks at is an error.
mkdir data && cp -r "$source_dir"/traces/data/{hosts,profiles,published,devices} data/
export OFFHOOK_DATA_DIR=$work/data
sed -i 's/^share_percent = 14.7$/share_percent = 12.7/' data/published/claims.toml
expect 2 "FALLS SHORT" reproduce jones.fig2 --out short
sed -i 's/^rtc_hz = 1024$/rtc_hz = 1024\nunheard_of = 1/' data/published/claims.toml
expect_error "the experiment does not use: unheard_of" reproduce jones.fig10 --out short
finish
