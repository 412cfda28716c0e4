#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What SECURITY.md says of peers, paths, files and threads that spin, in a machine of its own: as root, and as a user who is
# nobody else's.
#   ./dev vm attack          attack.sh TESTS OFFHOOK SOURCE [units|files|paths]
# TESTS is the folder of unit_driver and fuzz_corpus.
set -u
tests=$1 offhook=$2 source=$3 only=${4:-}
peers='SharedCard*:CardServer*:*LocalSocket*:*Output*:*OwnLink*:Watchdog.MakesASpinner*:Watchdog.SeesASpinner*:Session.AnInterruptThatNeverEnds*'
# The parsers of files, and of what a peer or a user says; of the line there is nothing that a user's rights would change.
files=
for name in at claims computations config decode device event_log far_end latency loop plan shared_card system text \
  trace_import wav; do
  files=$files:'*'/${name}_fuzz
done
status=0
# A user without a home, and what it needs writable; the folder of the sources it sees read-only.
for user in 0 65534; do
  as=(setpriv "--reuid=$user" "--regid=$user" --clear-groups env HOME=/tmp TMPDIR=/tmp)
  if [ "${only:-units}" = units ]; then
    echo "== peers, paths and spinners, unit tests, as user $user"
    "${as[@]}" "$tests/unit_driver" --gtest_brief=1 --gtest_filter="$peers" || status=1
  fi
  if [ "${only:-files}" = files ]; then
    echo "== files and words, each fuzz target over its corpus, as user $user"
    "${as[@]}" "$tests/fuzz_corpus" --gtest_brief=1 --gtest_filter="${files#:}" || status=1
  fi
  if [ "${only:-paths}" = paths ]; then
    echo "== paths, sizes and names, the program, as user $user"
    "${as[@]}" bash "$source/tests/cli/paths_test.sh" "$offhook" "$source" || status=1
  fi
done
exit $status
