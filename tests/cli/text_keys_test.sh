#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `offhook help keys csv` and `keys json` beside what the commands write, and beside docs/formats.md.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "claim: name of the claim" help keys csv reproduce
grep -q "^mttf:" out.txt && fail "keys csv reproduce has the other documents"
expect_error "no document of json has 'cheese' in its name" help keys json cheese

cat >grid.toml <<'END'
repeats = 2
[scenario]
context = "RES 1/8 strict"
pump.kind = "cost-profile"
load.spinner = true
transfer.bytes = 20000
transfer.time_limit_s = 60
[axes]
context.x_ticks = [1, 3]
END
sed 's/^context = .*/device = "g-lite"\ncontext = "RES 3\/8 strict"/; /^pump\|^transfer/d' grid.toml >device.toml
cat >dsl.toml <<'END'
[scenario]
device = "g-lite"
line.kind = "subscriber-loop"
transfer.protocol = "atm"
transfer.device_s = 1.5
[axes]
context = ["INT"]
END
cat >radio.toml <<'END'
[scenario]
device = "soft-radio"
line.kind = "air"
transfer.device_s = 0.1
[axes]
context = ["INT"]
END
# What a command writes to standard output or, after a name, to that file. program: another build of offhook.
examples=$source_dir/examples
wrote() {
  local kind=$1 document=$2 file=$3
  shift 3
  timeout 300 "${program:-$offhook}" "$@" >said.txt 2>err.txt
  case $? in 0 | 2) ;; *) fail "offhook $*: $(tail -3 err.txt)" ;; esac
  [ "$file" = - ] && file=said.txt
  mkdir -p "$kind.$document" && cp "$file" "$kind.$document/$(find "$kind.$document" -type f | wc -l)"
}
wrote json run - run "$examples/int.toml" --set transfer.bytes=500 --out run --json
wrote json run - run "$examples/int.toml" --set transfer.bytes=500 --set link.compression=v42bis --reference always --out run --json
wrote json run - run "$examples/g-lite.toml" --set transfer.device_s=2 --out run --json
wrote json trunk-test - trunk-test rtp:127.0.0.1:47400,127.0.0.1:47402 rtp:127.0.0.1:47402,127.0.0.1:47400 --seconds 12 --best-effort --json
wrote json modem - modem null --seconds 0.2 --best-effort --json
wrote json export - report export run --csv events.csv --json
wrote csv events events.csv report export run --csv events.csv
wrote json report - report run --json
wrote json devices - devices --json
wrote json sweep-printed - sweep grid.toml --out sweep --json
wrote json sweep sweep/results.json sweep grid.toml --out sweep --json
wrote csv sweep sweep/results.csv sweep grid.toml --out sweep --json
wrote csv sweep devices/results.csv sweep device.toml --out devices --json
wrote csv sweep dsl/results.csv sweep dsl.toml --out dsl --json
if ldd "$offhook" | grep -q libliquid; then
  wrote csv sweep radio/results.csv sweep radio.toml --out radio --json
fi
cc -shared -fPIC -I"$source_dir/include" "$examples/plugins/pulse.c" -o libpulse.so || fail "pulse.c is not compiled"
pulse=(--plugin ./libpulse.so)
wrote json run - "${pulse[@]}" run "$examples/plugins/pulse.toml" --out pulse --json
wrote csv sweep pulse-map/results.csv "${pulse[@]}" sweep "$examples/plugins/pulse-map.toml" --out pulse-map --json
wrote json measure-device - "${pulse[@]}" measure device "$examples/plugins/pulse.toml" --context OTHER --best-effort --seconds 1 --json
wrote json sweep-plan - sweep plan grid.toml --shards 2 --out cut --json
wrote json sweep-run - sweep run cut --shard 1/2 --json
wrote json demo - demo --bytes 500 --repeats 1 --out demo --json
wrote json law - advise law g-lite --json
wrote csv law - advise law g-lite --csv
wrote json law - advise law vendor-modem --confirm --seconds 5 --phases 2 --x-max 2 --out law --json
wrote json law-check - advise law --check 20 --json
wrote json advise - advise g-lite nt2000-p2-450 --seconds 5 --repeats 1 --json
wrote json advise - advise bluetooth win98-office --seconds 5 --repeats 1 --json
wrote json advise - advise rt-audio linux-hz250 --seconds 2 --repeats 1 --json
wrote json advise - advise soft-radio linux-6.12-rt-am64x --slot-us 625 --seconds 2 --repeats 1 --json
wrote csv advise - advise bluetooth win98-office --seconds 5 --repeats 1 --csv
wrote csv advise - advise soft-radio linux-6.12-rt-am64x --slot-us 625 --seconds 2 --repeats 1 --csv
wrote csv admit - advise admit "$examples/several-devices.toml" --seconds 1 --step 0.5 --most 1.5 --csv
wrote json admit - advise admit "$examples/several-devices.toml" --seconds 1 --step 0.5 --most 1.5 --json
wrote json mttf - mttf win98-games -n 2 -t 4 --hours 1 --json
wrote csv mttf - mttf win98-games -n 2 -t 4 --hours 1 --csv
wrote csv mttf - mttf "$examples/latency.hgrm" --device soft-radio --slot-us 625 --hours 0.01 --csv
wrote json tasks - mttf --tasks "$examples/schedulability.toml" --hours 0.1 --json
wrote csv tasks - mttf --tasks "$examples/schedulability.toml" --hours 0.1 --csv
wrote json schedule - schedule "$examples/system.json" --json
wrote csv schedule - schedule "$examples/system.json" --csv
wrote json reproduce - reproduce jones.fig1 --repeats 1 --out claims --json
wrote json reproduce - reproduce jones.table3 --repeats 1 --perturb phi=+100% --out perturbed --json
wrote csv reproduce claims/results.csv reproduce jones.fig1 --repeats 1 --out claims --json
wrote csv reproduce - reproduce jones.fig1 --repeats 1 --out claims --csv
wrote json compare - compare sweep sweep --json
wrote csv compare - compare sweep sweep --csv
wrote json hosts - hosts --json
wrote csv hosts - hosts --csv
wrote json trace - trace "$examples/board.load" --json
wrote json decode - decode "$examples/call.wav" -q --json
wrote json measure-latency - measure latency --context OTHER --seconds 0.1 --best-effort --json
wrote json measure-stolen - measure stolen --context OTHER --seconds 0.1 --best-effort --json
wrote json measure-kernel - measure kernel --repeats 10 --best-effort --json
wrote json measure-cost - measure cost --pump v22bis --seconds 0.5 --json
wrote json measure-cost-device - measure cost --device "$examples/g-lite.toml" --seconds 0.5 --json
wrote json measure-host - measure host --repeats 3 --applications 1 --json
wrote json measure-bank - measure bank --channels 2 --seconds 1 --context OTHER --best-effort --json
wrote json measure-batch - measure batch --calls 1 --seconds 0.1 --json
wrote json measure-device - measure device "$examples/g-lite.toml" --context OTHER --best-effort --seconds 2 --json
wrote json card - line card --in-process --hash 0.1
without=()
if [ -w /sys/kernel/tracing/instances ]; then
  wrote json measure-cause - measure cause --context OTHER --on-threshold 1 --seconds 1 --best-effort --json
else
  without=(measure-cause) && echo "skipped: measure cause, without tracefs or its rights"
fi
"$offhook" help keys csv >csv.txt && "$offhook" help keys json >json.txt
python3 "$source_dir/tests/cli/text_keys.py" "$source_dir/docs/formats.md" "${without[@]}" || fail "text_keys.py"
finish
