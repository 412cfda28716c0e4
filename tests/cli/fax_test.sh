#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fax: the errors of the live command. live.fax makes calls.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# The live command refuses before it takes the line.
echo text >no.tif
expect_error "no.tif: is not a readable TIFF file" fax send no.tif 123 null
expect_error "none.tif: No such file" fax send none.tif 123 null
mkdir folder
expect_error "folder: is a folder; expected a TIFF file" fax send folder 123 null
expect_error "folder: is a folder; expected a file" fax receive folder null
expect_error "or sip:USER@HOST (see offhook devices)" fax receive got.tif nothing
expect_error '"12 34" is not a number' fax send no.tif "12 34" null
expect_error '"12 34" cannot be dialled by SIP' fax send no.tif "12 34" sip:1@127.0.0.1,register=no
expect_error '"a b" cannot be dialled by SIP' fax gateway null sip:1@127.0.0.1,register=no --to "a b"
expect_error "exists; --force overwrites it" fax receive no.tif null
expect_error "--v34: expected a card that is not sip:" fax receive got.tif sip:1@127.0.0.1,register=no --v34
expect_error "--v34 requires error correction" fax receive got.tif null --v34 --no-error-correction
expect_error "--ident x: expected at most 20 digits" fax receive got.tif null --ident x
expect 2 "the fax failed: the time given by --seconds is over" fax receive got.tif null --now --seconds 1 --best-effort

finish
