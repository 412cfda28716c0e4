#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Devices that steal time beside a call: named by kind, in full, swept over, and wrong in every way.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >cost.toml <<'END'
context = "RES 2/8 strict"
[pump]
kind = "cost-profile"
[transfer]
bytes = 20000
END
cat >load.toml <<'END'
context = "THR 24"
[pump]
kind = "cost-profile"
[transfer]
bytes = 20000
[[load.device]]
kind = "network"
window = 48
[[load.device]]
kind = "ide-dma"
to_s = 20
END
expect 0 "sufficient" run load.toml --out g
expect 0 "sufficient" run g/scenario.toml --out h
cmp -s g/events.ohlog h/events.ohlog || fail "the effective scenario's devices give another log"
cmp -s g/scenario.toml h/scenario.toml || fail "the effective scenario's devices read back otherwise"
expect 0 "sufficient" run cost.toml --set load.device="usb scsi" --out i
expect_error 'load.device: "floppy" is not in' run cost.toml --set load.device=floppy
expect_error '--set load.device=3: load.device is 3; expected tables' run cost.toml --set load.device=3
expect_error 'two devices are named "usb"' run cost.toml --set load.device="usb usb"
bad() { { cat cost.toml; printf '[[load.device]]\n%s\n' "$1"; } >bad.toml; }
bad 'kind = "drum"'
expect_error 'bad.toml:7:1: load.device: "drum" is not in' run bad.toml
bad 'isr_ms = 3'
expect_error 'bad.toml:7:1: unknown key "isr_ms"' run bad.toml
bad 'isr_us = -1'
expect_error 'bad.toml:7:10: isr_us is -1; expected a number, 0 to' run bad.toml
bad 'kind = "ide-pio"
isr_us = 4000'
expect_error 'bad.toml:6:8: load.device: interrupts and DPCs would take 115 % of the CPU' run bad.toml
bad 'kind = "usb"
from_s = 3
to_s = 2'
expect_error 'bad.toml:9:1: load.device "usb" ends before it begins' run bad.toml

# An axis of a sweep, in the short form.
cat >grid.toml <<'END'
base = "cost.toml"
repeats = 1
[axes]
load.device = ["", "ide-dma", "network usb"]
END
expect 0 "" sweep grid.toml --out grid
expect 0 "ide-pio" help keys load
finish
