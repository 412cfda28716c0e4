#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, version, man page and completions, all from the one CLI11 tree.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "offhook 0." --version
expect 0 "Exit status:" --help
expect 0 "Subcommands:" help
expect 0 "Usage: offhook measure latency " help measure latency
expect_error "offhook needs a command: run, "
expect_error "offhook run needs SCENARIO.toml; offhook run --help" run
expect_error '--seed: "abc"; expected a number' run plain.toml --seed abc
expect_error "--seed needs N" run plain.toml --seed
expect_error '--x-max: "3.5"; expected a whole number from 1 to 64' law g-lite --x-max 3.5
expect_error '"b" is one argument too many' schedule a b c
expect_error "'--host' is not an option of offhook advise, but an argument without a name" advise --host linux
touch plain.toml call.wav
expect_error 'No such file or directory; the nearest is "plain.toml"' run plan.toml
expect_error 'No such file or directory; the nearest is "call.wav"' decode cal.wav
for range in "--threads N (1 to 1024)" "--context CONTEXT (default: DPC)" "(not with --tasks)"; do
  case "$range" in --threads*) command=law ;; *) command=mttf ;; esac
  "$offhook" "$command" --help | grep -qF -- "$range" || fail "$command --help has no $range"
done
if "$offhook" man | grep -E "UINT|FLOAT|NONNEG| in \[[0-9]"; then fail "the library's words in the man page"; fi
expect_error "'advis' is not a command of offhook; the nearest command is 'advise'" advis rt-audio
expect_error "'--frobnicate' is not an option of offhook; all of them: offhook --help" --frobnicate

# Every command has help with examples, stands in the man page and in every completion.
commands=$("$offhook" --help | sed -n '/^Subcommands:/,/^$/p' | awk '/^  [a-z]/ {print $1}')
[ -n "$commands" ] || fail "no commands in --help"
"$offhook" man >page.1 || fail "man"
for shell in bash zsh fish; do "$offhook" completion "$shell" >"complete.$shell" || fail "completion $shell"; done
for command in $commands; do
  expect 0 "Examples:" "$command" --help
  grep -q "Exit status: 0 " out.txt || fail "no exit status in the help of $command"
  grep -q "^.SS offhook $command" page.1 || fail "no $command in the man page"
  for shell in bash zsh fish; do grep -q "$command" "complete.$shell" || fail "no $command in $shell's completion"; done
done
if command -v man >/dev/null; then
  [ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z page.1 2>&1 >/dev/null)" ] ||
    fail "the man page has roff warnings"
fi
expect_error 'expected one of bash, zsh, fish' completion tcsh

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
completions_of offhook exp | grep -qx export || fail "bash: exp -> export"
completions_of offhook export --per | grep -qx -- --perfetto || fail "bash: export --per -> --perfetto"
completions_of offhook completion "" | grep -qx fish || fail "bash: completion -> fish"
bash -n complete.bash || fail "bash -n"
if command -v zsh >/dev/null; then zsh -n complete.zsh || fail "zsh -n"; fi
if command -v fish >/dev/null; then fish -n complete.fish || fail "fish -n"; fi
finish
