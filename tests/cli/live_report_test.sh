#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A live call's record: its report can be made again elsewhere, and says on what host the call was.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 '"command_line"' modem null --seconds 0.5 --best-effort --json --out call
expect 0 again.html report call -o again.html
for page in call/report.html again.html; do
  grep -q '"kernel command line"' $page || fail "$page: no host"
  grep -q 'Live call: FIFO 50' $page || fail "$page: no title"
done
cp call/events.ohlog away.ohlog
expect 0 away.html report away.ohlog
grep -q '"kernel command line"' away.html || fail "no host in the report of the log alone"
finish
