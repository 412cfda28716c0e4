#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `reproduce`: no simulated value is chosen by the published one. Results of cota.mttf and cota.table4 have the values of
# settings, so these cannot be told apart there.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python3 "$source_dir/tests/cli/published_answers.py" "$offhook" "$source_dir" jones cota.table1 cota.table3 siemens.table1 chen >out.txt 2>&1 ||
  fail "a value depends on the published one: $(tail -5 out.txt)"
grep -q "published results 20 % higher" out.txt || fail "$(tail -3 out.txt)"
finish
