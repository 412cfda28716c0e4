# SPDX-License-Identifier: MIT
# For the scripts of this folder: each runs the built program, $1, and is a ctest of its own.
# shellcheck shell=bash
set -u
offhook=$1
source_dir=$2
work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { printf 'FAIL: %s\n' "$*"; failures=$((failures + 1)); }

# expect STATUS TEXT ARGS...: the program ends with STATUS, and what it prints has TEXT in it.
expect() {
  local status=$1 text=$2 got
  shift 2
  timeout "${OFFHOOK_PATIENCE_S:-300}" "$offhook" "$@" >out.txt 2>err.txt  # a sanitizer takes ten times as long
  got=$?
  [ "$got" = "$status" ] || fail "offhook $* ended with $got, expected $status: $(tail -3 err.txt)"
  cat out.txt err.txt | grep -qF -- "$text" || fail "offhook $*: no \"$text\" in: $(head -c 2000 out.txt err.txt)"
}

# One clear error: a single line on standard error that begins as all errors do.
expect_error() {
  local text=$1
  shift
  expect 1 "$text" "$@"
  { [ "$(wc -l <err.txt)" = 1 ] && grep -q '^offhook: error: ' err.txt; } || fail "offhook $*: not one error line: $(cat err.txt)"
}

# Two pages of equal data. Their footers name the commands that wrote them, which differ.
same_page() {
  cmp -s <(grep -v '^<meta name="offhook-command"' "$1") <(grep -v '^<meta name="offhook-command"' "$2")
}

finish() {
  [ "$failures" = 0 ] && echo "all passed" && exit 0
  exit 1
}
