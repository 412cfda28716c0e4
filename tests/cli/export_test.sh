#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Event logs that cannot be read, and outputs that cannot be written.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect_error "nowhere.ohlog" report export --csv nowhere.ohlog
: >empty.ohlog
expect_error "empty.ohlog" report export --csv empty.ohlog
echo "this is no log, it is a line of text that goes on for a while" >text.ohlog
expect_error "text.ohlog" report export text.ohlog --perfetto x.perfetto
expect_error "expected --perfetto or --csv" report export empty.ohlog
finish
