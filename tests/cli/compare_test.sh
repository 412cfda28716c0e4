#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# offhook compare: two runs, sweeps, decoded calls, many calls of two modems; what cannot be compared.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

short=(--set transfer.bytes=500)
"$offhook" run "$source_dir/examples/res-2-8.toml" "${short[@]}" --out one --json >/dev/null || fail "run"
"$offhook" run "$source_dir/examples/int.toml" "${short[@]}" --out two --json >/dev/null || fail "run"
expect 0 "Both runs are sufficient." compare one two
grep -qE '^context +RES 2/8 +INT' out.txt || fail "no row of the contexts: $(cat out.txt)"
expect 0 "quantities are equal." compare one one
expect 2 "differ by more than 5 %" compare one two --limit 5
expect 0 "0 quantities differ by more than 0 %" compare one one --limit 0
"$offhook" compare one two --csv a.csv --json a.json --html a.html --quiet >/dev/null || fail "compare"
[ "$(head -n 1 a.csv)" = "item,quantity,unit,a,b,difference,ratio" ] || fail "a.csv: $(head -n 2 a.csv)"
grep -q '^,transfer_s,s,' a.csv || fail "no transfer_s in a.csv"
grep -q '"kind": "run"' a.json || fail "a.json"
grep -q '"kind":"compare"' a.html || fail "a.html"

# A recording and its JSON are the same call; folders of either are two modems.
mkdir first second
"$offhook" decode "$source_dir/examples/call.wav" --json first/1.json --quiet >/dev/null || fail "decode"
cp first/1.json first/2.json
cp first/1.json second/1.json
sed 's/"technology": "V.34"/"technology": "no modem found"/; s/"bit_rate"/"bit_rate_"/' first/1.json >second/2.json
expect 0 "Both calls are V.34." compare first/1.json "$source_dir/examples/call.wav" --quiet
grep -q "quantities are equal" out.txt || fail "a recording differs from its JSON: $(cat out.txt)"
expect 0 "first connected in 2 of 2 calls, second in 1 of 2." compare first second

printf 'base = "%s/examples/int.toml"\n[scenario]\ntransfer.bytes = 500\n[axes]\nseed = [1, 2]\n' "$source_dir" >grid.toml
"$offhook" sweep grid.toml --out sweep --json >/dev/null || fail "sweep"
expect 0 "is the same in both sweeps" compare sweep sweep

expect_error "expected two results of one kind" compare one sweep
mkdir empty
expect_error "empty: expected summary.json of a run" compare empty one
echo '{"a": 1}' >other.json
expect_error "other.json: expected a run, a sweep" compare other.json one
echo '{' >broken.json
expect_error "broken.json: " compare broken.json one
echo text >notes.txt
expect_error "Expected the folder of a run or a sweep, a .json file, or a recording." compare notes.txt one
expect_error "needs A" compare
finish
