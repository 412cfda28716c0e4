#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls of V.90 and V.92 on a simulated trunk, decoded from line.wav: both directions are read to the end, at the rates
# that the modems had, and the whole file is among the octets.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# call NAME EXAMPLE KEY=VALUE...: runs a call and decodes its line.
call() {
  local name=$1 example=$2 sets=()
  shift 2
  for set in "$@"; do sets+=(--set "$set"); done
  expect 0 "the file arrived" run "$source_dir/examples/$example.toml" --context INT --out "$name" --set transfer.bytes=20000 "${sets[@]}"
  expect 0 "verdict: V.9" decode -q "$name/line.wav" --json "$name/decoded.json" --html "$name/page.html"
}

call clean v90 seed=1
call robbed v90 seed=2 trunk.pad_db=6 trunk.robbed_bits=1
call a-law v90 seed=3 'trunk.law="a-law"' 'trunk.codec="a-law"'
call echo v90 seed=4 trunk.near_echo_db=8
call clock v90 seed=5 trunk.clock_ppm=-70
call pcm v92 seed=6
python3 - <<'END' || fail "v90: decoded calls"
import json
for name in ("clean", "robbed", "a-law", "echo", "clock", "pcm"):
    run, call = (json.load(open(f"{name}/{file}.json")) for file in ("summary", "decoded"))
    near, verdict = run["figures"]["ends"][0], call["verdict"]
    up, down = ({**way, "run": near[key]} for way, key in zip(verdict["directions"], ("sent_bps", "received_bps")))
    assert verdict["probability"] > 0.95, (name, verdict)
    assert f'"headline":"{verdict["technology"]}"' in open(f"{name}/page.html").read(), verdict
    for way in (up, down):
        assert abs(way["bit_rate"] - way["run"]) <= 1, (name, way)
    assert down["data"] == "data decoded to the end" and down["bad_frames"] == 0 < down["good_frames"], (name, down)
    octets = sum(data["octet_count"] for data in call["trainings"][0]["downstream"]["data"])
    assert octets == run["bytes_delivered"] == 20000, (name, octets)
    assert verdict["technology"] == ("V.92 PCM upstream" if name == "pcm" else "V.90"), (name, verdict)
    assert up["data"] == "data decoded to the end" and up["bad_frames"] == 0 < up["good_frames"], (name, up)
END
finish
