#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `new`, `help keys` and `help`: what they write is what the other commands read, and says what the defaults are.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

quiet() { timeout 300 "$offhook" "$@" >out.txt 2>err.txt || fail "offhook $*: $(tail -3 err.txt)"; }

# A template is the defaults, with the keys commented out and with all of them in place.
quiet new scenario plain.toml
: >empty.toml
sed 's/^#\([a-z_0-9]* = \)/\1/; s/^#\(\[\[\)/\1/' plain.toml >all.toml
[ "$(grep -c '^[a-z_0-9]* = ' all.toml)" -gt 100 ] || fail "fewer than 100 keys in the template"
sed -i '/^\[\[load.device/,$d' all.toml
for file in empty plain all; do
  quiet run $file.toml --set transfer.bytes=500 --json --out $file
  cmp empty/scenario.toml $file/scenario.toml || fail "$file.toml is not the defaults"
done
expect 1 ": exists; expected an unused name" new scenario plain.toml

quiet new device mine.toml
expect 0 "my device" advise law mine.toml
quiet new host here.toml
expect 0 "my device on here" advise mine.toml here.toml --seconds 2 --set "context=THR 20"
quiet new system system.json
expect 0 "card,start" schedule system.json
expect 0 "plan_samples = " new device
expect_error '"modem"; expected one of scenario, device, host, system' new modem
expect_error '"devic"; the nearest is "device"' new devic
expect_error '"sceanrio"; the nearest is "scenario"' help keys sceanrio

for kind in scenario device host load computation system; do expect 0 "      " help keys $kind; done
expect 0 "samples per interrupt" help keys device plan
[ "$(grep -c . out.txt)" = 2 ] || fail "help keys device plan: $(cat out.txt)"
expect_error "no key of a device has 'cheese' in its name" help keys device cheese
# Every key of the sample is among them.
for key in $(grep -oE '"[a-z_]+":' "$source_dir/examples/system.json" | tr -d '":' | sort -u); do
  expect 0 "$key" help keys system "$key"
done

"$offhook" run --help >a.txt
"$offhook" help run >b.txt
cmp a.txt b.txt || fail "help run is not run --help"
expect 0 "the latency from a timer interrupt to a thread" help measure latency
expect_error "the nearest command is 'latency'" help measure latenc
expect_error "the nearest command is 'latency'; offhook measure --help lists them" measure latenc
expect_error "'--sed' is not an option of offhook run; the nearest option is '--seed'" run plain.toml --sed 7
expect_error 'the nearest is "g-lite"' advise law g-lit
for command in $("$offhook" --help | sed '/^Examples:/,$d' | awk '/^  [a-z]/ {print $1}'); do
  expect 0 "xit status" "$command" --help
done
finish
