#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several soft devices on one host: admitted or not, and which breaks first.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

several=$source_dir/examples/several-devices.toml
expect 0 "Admitted." advise admit "$several" --seconds 2 --step 0.1
grep -q "soft ADSL, G.lite fails first" out.txt || fail "what breaks first: $(cat out.txt)"
expect 0 '"breaks_first"' advise admit "$several" --seconds 2 --step 0.1 --most 1.2 --json
python3 - <<'END' || fail "admit: JSON"
import json
a = json.load(open("out.txt"))
assert a["admitted"] and a["bound"] == 1 and abs(a["reserved"] - (3 / 8 + 1 / 4 + 1 / 8)) < 1e-12, a
assert abs(a["demand"] - sum(d["demand"] for d in a["devices"])) < 1e-12 and len(a["devices"]) == 4
assert [g["growth"] for g in a["growths"]][0] == 1 and all(d["samples_lost"] == 0 for d in a["growths"][0]["devices"])
END
cp out.txt first.txt
expect 0 '"breaks_first"' advise admit "$several" --seconds 2 --step 0.1 --most 1.2 --json
cmp -s out.txt first.txt || fail "the same command, another result"
# Too small a share is not admitted, and loses; slots that do not fit are refused when the scenario is read.
expect 2 "Not admitted: see the law." advise admit "$several" --seconds 1 --most 1 --set 'context="RES 1/8"'
expect_error "cannot be admitted" advise admit "$several" --set 'context="RES 13/16"'
expect_error "expected a soft device" advise admit "$source_dir/examples/int.toml"
# Devices without a scenario: more urgent the less a block can wait.
expect 0 "Admitted." advise admit g-lite rt-audio vendor-modem --host linux-hz250 --seconds 2 --step 0.5
grep -Eq "^soft ADSL, G.lite +THR 87" out.txt || fail "the shortest wait is the most urgent: $(cat out.txt)"
grep -Eq "^low-latency audio +THR 85" out.txt || fail "the longest wait is the least urgent: $(cat out.txt)"
expect 0 "Admitted." advise admit g-lite rt-audio --host nt2000-p2-450 --context "RES 3/8" --context "RES 1/8" --seconds 2 --step 0.5
expect 0 "low-latency audio 2" advise admit rt-audio rt-audio --host linux-hz250 --seconds 1 --most 1
expect_error "expected --host, or one scenario" advise admit g-lite rt-audio
expect_error "g-lite: a device without a host; expected --host" advise admit g-lite
expect_error "device.toml: a device without a host; expected --host" advise admit "$source_dir/examples/device.toml"
expect_error "expected one for each, in their order" advise admit g-lite rt-audio --host linux-hz250 --context "THR 50"
# A run of the same file has them beside it.
expect 0 "Sufficient" run "$several" --set transfer.device_s=1 --out r
expect 0 "report.html" report r
grep -q "load.soft_device" r/scenario.toml || fail "the run's scenario is another"
finish
