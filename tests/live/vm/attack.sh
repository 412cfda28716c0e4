#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What SECURITY.md says of peers and paths, in a machine of its own: as root, and as a user who is nobody else's.
#   ./dev vm attack          attack.sh UNIT_DRIVER OFFHOOK SOURCE [units|paths]
set -u
unit_driver=$1 offhook=$2 source=$3 only=${4:-}
peers='SharedCard*:*LocalSocket*:*Output*:*OwnLink*'
status=0
# A user without a home, and what it needs writable; the folder of the sources it sees read-only.
for user in 0 65534; do
  as=(setpriv "--reuid=$user" "--regid=$user" --clear-groups env HOME=/tmp TMPDIR=/tmp)
  if [ "$only" != paths ]; then
    echo "== peers and paths, unit tests, as user $user"
    "${as[@]}" "$unit_driver" --gtest_brief=1 --gtest_filter="$peers" || status=1
  fi
  if [ "$only" != units ]; then
    echo "== paths, sizes and names, the program, as user $user"
    "${as[@]}" bash "$source/tests/cli/paths_test.sh" "$offhook" "$source" || status=1
  fi
done
exit $status
