#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `sweep`: the same bytes on any number of threads, in any number of shards, and after a kill.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >grid.toml <<'END'
repeats = 4
[scenario]
context = "RES 1/8 strict"
pump.kind = "cost-profile"
load.spinner = true
transfer.bytes = 20000
transfer.time_limit_s = 60
[axes]
context.x_ticks = [1, 2, 3, 4]
context.y_ticks = { from = 3, to = 17, step = 2 }
END

expect 0 "cells" sweep plan grid.toml --shards 3 --out cut
expect 0 "report.html" sweep grid.toml --out one --threads 1
expect 0 "report.html" sweep grid.toml --out four --threads 4
same() {
  for name in results.csv results.json; do cmp -s "one/$name" "$1/$name" || fail "$name of $1 differs"; done
  same_page one/report.html "$1/report.html" || fail "report.html of $1 differs"
}
same four
{ grep -qw sufficient one/results.json && grep -qw insufficient one/results.json; } || fail "a grid without both verdicts tests little"

# A task of the job array for Slurm; a folder with what a shell would take for its own.
expect 0 "on Slurm" sweep plan grid.toml --shards 3 --out "it's \$HOME"
(cd / && OFFHOOK=$offhook SLURM_ARRAY_TASK_ID=2 sh "$work/it's \$HOME/slurm.sh") || fail "the script for Slurm"
expect 0 "already done" sweep run "it's \$HOME" --shard 2/3
rm -r "it's \$HOME"

# In shards, one of them twice.
for shard in 3 1 2; do expect 0 "shard $shard of 3" sweep run cut --shard "$shard/3"; done
before=$(sha256sum cut/shards/* | sha256sum)
expect 0 "already done" sweep run cut --shard 2/3
[ "$before" = "$(sha256sum cut/shards/* | sha256sum)" ] || fail "running a shard twice changed it"
expect 0 "report.html" sweep merge cut
same cut

# Runs as CSV, alone on standard output or in a file.
expect 0 "context.x_ticks" sweep merge cut --csv
cmp -s out.txt one/results.csv || fail "sweep merge --csv is not results.csv"
expect 0 '"cells"' sweep grid.toml --out one --csv runs.csv --json
cmp -s runs.csv one/results.csv || fail "sweep --csv FILE is not results.csv"
expect_error "standard output" sweep grid.toml --out one --csv --json

# Killed in the middle, again and again: the same command goes on.
for pause in 0.3 0.5 0.8; do
  "$offhook" sweep grid.toml --out killed --threads 2 >/dev/null 2>&1 &
  pid=$!
  sleep "$pause"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
done
expect 0 "report.html" sweep grid.toml --out killed
same killed
# Interrupted: 130 and word of how to go on.
sed 's/repeats = 4/repeats = 400/' grid.toml >long.toml
"$offhook" sweep long.toml --out long >out.txt 2>err.txt &
pid=$!
sleep 1
kill -INT $pid
wait $pid
[ $? = 130 ] || fail "Ctrl-C: not 130"
grep -q "rerun the command to resume" err.txt || fail "Ctrl-C: $(cat err.txt)"

# What merging and starting refuse.
expect_error "holds another sweep" sweep long.toml --out one
expect_error "expected I/3 with I from 1 to 3" sweep run cut --shard 4/3
expect_error "expected I/3 with I from 1 to 3" sweep run cut --shard 2/5
cp -r cut missing && rm missing/shards/shard-000002.ndjson
expect_error "1 of 3 shards are missing: 2" sweep merge missing
cp -r cut foreign
expect 0 "" sweep plan grid.toml --shards 4 --out other
expect 0 "" sweep run other --shard 2/4
cp other/shards/shard-000002.ndjson foreign/shards/
expect_error "shard 2 of 3 is foreign" sweep merge foreign
cp -r cut damaged && sed -i '3s/[0-9]/5/;3s/0/1/' damaged/shards/shard-000002.ndjson
expect_error "shard 2 of 3 is damaged" sweep merge damaged
cp -r cut plan && sed -i 's/"repeats": 4/"repeats": 5/' plan/plan.json
expect_error "plan/plan.json: damaged" sweep merge plan
expect_error "nowhere/plan.json: No such file or directory" sweep merge nowhere
printf '[axes]\ncontext.x_tick = [1]\n' >bad.toml
expect_error 'unknown key "context.x_tick"; the nearest known key is "context.x_ticks"' sweep bad.toml
expect_error "GRID.toml" sweep
expect 0 '"verdict"' sweep grid.toml --out one --json
python3 -m json.tool out.txt >/dev/null || fail "--json is no JSON"
# Three axes: one column and one entry per axis on the page, not a composite name.
printf 'base = "%s/examples/int.toml"\n[scenario]\ntransfer.bytes = 200\n[axes]\nseed = [1, 2]\nload.spinner = [true, false]\ncontext = ["INT", "DPC"]\n' "$source_dir" >axes.toml
"$offhook" sweep axes.toml --out axes --json >/dev/null || fail "a sweep with three axes"
grep -q '"axes":\["seed","load.spinner","context"\]' axes/report.html || fail "no names of axes in the page"
grep -q '"axes":\["1","true","INT"\]' axes/report.html || fail "no values of axes in the page"
finish
