#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every requirement of a checklist names tests that exist, or stands in CAVEATS.md.
# Usage: checklist_test.sh CHECKLIST SOURCE_DIR
set -euo pipefail
list=$1 source=$2 failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }

tests=$(mktemp)
trap 'rm -f "$tests"' EXIT
grep -rhoE '^TEST(_P|_F)?\(\w+, \w+\)' "$source/tests" | sed -E 's/^TEST(_P|_F)?\((\w+), (\w+)\)/\2.\3/' | sort -u >"$tests"

covered=0 open=0
while read -r id names; do
  case $id in '' | '#'*) continue ;; esac
  if [ "$names" = - ]; then
    open=$((open + 1))
    grep -qF "[$id]" "$source/CAVEATS.md" || fail "$id is not covered and CAVEATS.md does not say why: expected \"[$id]\" there"
    continue
  fi
  [ -n "$names" ] || fail "$id: expected tests or -"
  covered=$((covered + 1))
  for name in $names; do grep -qxF "$name" "$tests" || fail "$id: there is no test $name"; done
done <"$list"
duplicates=$(grep -oE '^[^# ]+' "$list" | sort | uniq -d)
[ -z "$duplicates" ] || fail "twice: $duplicates"
[ "$covered" -gt 0 ] || fail "$list lists nothing"
echo "$covered requirements covered, $open in CAVEATS.md"
[ "$failures" = 0 ]
