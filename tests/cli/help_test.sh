#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, version, man page and completions, all from the one CLI11 tree.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "offhook 0." --version
expect 0 "Exit status:" --help
expect 0 "Advise and simulate:" help
expect 0 "Usage: offhook measure latency " help measure latency
expect 0 "Advise and simulate:"
"$offhook" --help | cmp - out.txt || fail "offhook alone does not print --help"
expect_error "offhook measure needs a command: " measure
# A command with an argument and subcommands.
expect_error "offhook advise needs DEVICE.toml; offhook advise --help" advise
expect_error "offhook line needs CALL_PATH; offhook line --help" line
expect_error "line.kind: expected analogue or digital-trunk between two modem cards" line a b --set line.kind=subscriber-loop
expect_error "unknown key of the line; expected line.KEY=VALUE, or trunk.KEY=VALUE" line a b --set loop.cable=x
expect_error "offhook report export needs DIR_OR_LOG; offhook report export --help" report export
expect_error '"b" is one argument too many' report a b
expect 0 "Usage: offhook advise law " help advise law
"$offhook" advise --help | grep -q "or a device file (required)" || fail "advise --help does not say that it needs a device"
expect_error "offhook run needs SCENARIO.toml; offhook run --help" run
expect_error '--seed: "abc"; expected a whole number, 0 or more' run plain.toml --seed abc
expect_error "--seed needs N" run plain.toml --seed
expect_error '--x-max: "3.5"; expected a whole number from 1 to 64' advise law g-lite --x-max 3.5
expect_error '"b" is one argument too many' schedule a b c
expect_error '"b" is one argument too many (the name of a file for --json must end in .json); offhook schedule --help' schedule a --json b
expect_error "'--host' is a positional argument of offhook advise; write it without dashes" advise --host linux
touch plain.toml call.wav
expect_error 'No such file or directory; the nearest is "plain.toml"' run plan.toml
expect_error 'No such file or directory; the nearest is "call.wav"' decode cal.wav
for range in "--threads N (1 to 1024)" "--context CONTEXT (default: DPC)" "(not with --tasks)"; do
  case "$range" in --threads*) command="advise law" ;; *) command=mttf ;; esac
  # shellcheck disable=SC2086
  "$offhook" $command --help | grep -qF -- "$range" || fail "$command --help has no $range"
done
# A name with a colon in it is no range; a default is that of the program.
"$offhook" run --help | grep -qF -- "--far-end unix:PATH[,rate=8000|9600][,block=N][,ahead=N][,patience=S] (not with --host)" || fail "run --far-end"
"$offhook" measure host --help | grep -qF -- "--folder DIR (default: .)" || fail "measure host --folder"
"$offhook" measure latency --help | grep -qF -- "--context CONTEXT (default: FIFO 80)" || fail "a default of measure latency"
"$offhook" help man --out pages || fail "man --out"
if grep -hE "UINT|FLOAT|NONNEG| in \[[0-9]" pages/*.1; then fail "the library's words in the man page"; fi
expect_error "'advis' is not a command of offhook; the nearest command is 'advise'" advis rt-audio
expect_error "'law' is not a command of offhook; the nearest command is 'advise law'" law g-lite
expect_error "'--frobnicate' is not an option of offhook; offhook --help lists them" --frobnicate

# Lists of keys are in `help keys` alone.
if "$offhook" run --help | grep -q "context.x_ticks"; then fail "run --help lists the keys of a scenario"; fi
expect 0 "context.x_ticks = 2" help keys scenario context.x_ticks

# Every command has help with examples, has a man page and stands in every completion.
commands=$("$offhook" --help | sed '/^Examples:/,$d' | awk '/^  [a-z]/ {print $1}')
count=$(wc -w <<<"$commands")
{ [ "$count" -ge 18 ] && [ "$count" -le 21 ]; } || fail "--help has $count commands, expected 18 to 21: $commands"
if "$offhook" --help | grep -q "^Subcommands:"; then fail "a command of --help is in no group"; fi
for shell in bash zsh fish; do "$offhook" help completion "$shell" >"complete.$shell" || fail "completion $shell"; done
for command in $commands "advise law" "advise admit" "modem kernel" "line card" "report export" "help keys" "help man" "help completion"; do
  page=offhook-${command// /-}
  # shellcheck disable=SC2086
  expect 0 "Examples:" $command --help
  grep -q "Exit status: 0 " out.txt || fail "no exit status in the help of $command"
  grep -qF "${page//-/\\-}" pages/offhook.1 || fail "no $command in offhook(1)"
  # shellcheck disable=SC2086
  "$offhook" help man $command | cmp - "pages/$page.1" || fail "man $command is not the page of man --out"
  for section in NAME SYNOPSIS OPTIONS EXAMPLES "EXIT STATUS" "SEE ALSO"; do
    grep -qx ".SH $section" "pages/$page.1" || fail "$page(1) has no $section"
  done
  for shell in bash zsh fish; do grep -q "${command##* }" "complete.$shell" || fail "no $command in $shell's completion"; done
done
if command -v man >/dev/null; then
  for page in pages/*.[15]; do
    [ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ] ||
      fail "$page has roff warnings"
  done
fi
[ "$(head -n 3 pages/offhook-measure-latency.1 | tail -n 1 | cut -d' ' -f1)" = 'offhook\-measure\-latency' ] ||
  fail "the page of a subcommand"
for kind in scenario device host load computation system csv json; do
  grep -q "^.TH OFFHOOK.*-${kind^^} 5 " "pages/offhook-$kind.5" || fail "no page offhook-$kind(5)"
done
grep -q "context.x_ticks" pages/offhook-scenario.5 || fail "offhook-scenario(5) has no keys"
"$offhook" help man | cmp - pages/offhook.1 || fail "man is not offhook.1"
expect_error "'runn' is not a command of offhook; the nearest command is 'run'" help man runn
expect_error 'expected one of bash, zsh, fish' help completion tcsh

# The bash script really completes.
completions_of() {
  # shellcheck disable=SC1091  # made by the program
  . ./complete.bash
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  # shellcheck disable=SC2317  # _offhook calls it
  compopt() { :; }
  _offhook
  printf '%s\n' "${COMPREPLY[@]}"
}
completions_of offhook report exp | grep -qx export || fail "bash: report exp -> export"
completions_of offhook report export --per | grep -qx -- --perfetto || fail "bash: export --per -> --perfetto"
completions_of offhook help completion "" | grep -qx fish || fail "bash: completion -> fish"
# Devices, hosts, contexts with blanks in them, and keys.
completions_of offhook advise rt | grep -qx rt-audio || fail "bash: advise rt -> rt-audio"
completions_of offhook advise linux-6.12 | grep -qx linux-6.12-rt-am64x || fail "bash: advise linux-6.12 -> linux-6.12-rt-am64x"
completions_of offhook run --context TH | grep -qx "THR 24" || fail "bash: run --context TH -> THR 24"
completions_of offhook run --set line.ro | grep -qx "line.robbed_bit=" || fail "bash: run --set line.ro -> line.robbed_bit="
bash -n complete.bash || fail "bash -n"
if command -v zsh >/dev/null; then zsh -n complete.zsh || fail "zsh -n"; fi
if command -v fish >/dev/null; then fish -n complete.fish || fail "fish -n"; fi
finish
