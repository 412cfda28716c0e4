#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every page names the command that wrote it, as a line that a shell reads back. One command at least for each kind of page.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >check.py <<'END'
"""check.py KIND PAGE ARGUMENT...: the page is of this kind, and its command is `offhook ARGUMENT...`, read by a shell."""
import html, json, re, subprocess, sys, urllib.request
kind, place, *words = sys.argv[1:]
text = urllib.request.urlopen(place).read().decode() if place.startswith("http:") else open(place).read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
assert data["kind"] == kind and re.match(r"Offhook \d", data["made_by"]), (data["kind"], data["made_by"])
line = html.unescape(re.search(r'^<meta name="offhook-command" content="(.*)">$', text, re.MULTILINE)[1])
read = subprocess.run(["bash", "-c", "printf '%s\\0' " + line], capture_output=True, check=True, text=True).stdout
assert read.split("\0")[:-1] == ["offhook", *words], line
END
kinds=()
# page KIND FILE ARGUMENTS...: the command writes FILE.
page() {
  local kind=$1 file=$2
  shift 2
  timeout "${OFFHOOK_PATIENCE_S:-300}" "$offhook" "$@" >out.txt 2>err.txt
  [ -s "$file" ] || fail "offhook $* wrote no $file: $(tail -3 err.txt)"
  python3 check.py "$kind" "$file" "$@" || fail "offhook $*: another command in $file"
  kinds+=("$kind")
}

example=$source_dir/examples
page call "it's a run/report.html" run "$example/res-2-8.toml" --set transfer.bytes=2000 --out "it's a run"
# shellcheck disable=SC2016  # the name has a dollar sign
page call 'r $HOME.html' report "it's a run" --html 'r $HOME.html'
page call lossy/report.html run "$example/thr-8-spinner.toml" --set transfer.bytes=2000 --out lossy
page call live/report.html modem null --seconds 0.5 --best-effort --json --out live
page compare c.html compare "it's a run" lossy --html c.html -q
cat >grid.toml <<'END'
repeats = 1
[scenario]
pump.kind = "cost-profile"
transfer.bytes = 2000
[axes]
context = ["INT", "THR 24"]
END
page sweep swept/report.html sweep grid.toml --out swept
"$offhook" sweep plan grid.toml --shards 1 --out cut >out.txt && "$offhook" sweep run cut --shard 1/1 >out.txt
page sweep cut/report.html sweep merge cut
page reproduce again/report.html reproduce jones.fig1 --out again
page law law/report.html advise law g-lite --buffers 2 --out law
advice=(advise g-lite nt2000-p2-450 --seconds 1 --repeats 1 --set context=INT --out advice --memo memo.html)
page advice advice/report.html "${advice[@]}"
page memo memo.html "${advice[@]}"
page mttf mttf.html mttf win98-games --hours 0.01 -n 2 -t 8 -q --html mttf.html
page host host.html measure host --repeats 3 --applications 0 --best-effort --html host.html
page schedule schedule.html schedule "$example/system.json" --html schedule.html
page trunk trunk.html trunk-test rtp:127.0.0.1:47500,127.0.0.1:47502 rtp:127.0.0.1:47502,127.0.0.1:47500 --seconds 12 \
  --best-effort --html trunk.html
page decode call.html decode "$example/call.wav" --html call.html
mkdir calls && cp "$example/call.wav" calls/
page decode calls.out/call.wav-1.html decode calls --out calls.out
index=$(sed -n 's/^<meta name="offhook-command" content="\(.*\)">$/\1/p' calls.out/index.html)
[ "$index" = "offhook decode calls --out calls.out" ] || fail "index.html names $index"
grep -qF "Command: <code>$index</code>" calls.out/index.html || fail "index.html has no footer"
page sweep demo/report.html demo --bytes 1500 --repeats 1 --json --out demo

live=(modem null --seconds 20 --best-effort --page 47510)
"$offhook" "${live[@]}" >out.txt 2>err.txt &
served=$!
for _ in $(seq 100); do
  python3 check.py live http://127.0.0.1:47510/ "${live[@]}" 2>check.txt && break
  kill -0 $served 2>kill.txt || break
  sleep 0.1
done
if grep -q "no HTTP library" err.txt; then
  echo "skipped: a live page (no HTTP library)"
elif [ -s check.txt ]; then
  fail "a live page: $(tail -1 check.txt)"
fi
kill $served 2>kill.txt
wait $served
kinds+=(live)

# The kinds that the page's code draws are those above.
# shellcheck disable=SC2013  # each name is one word
for kind in $(sed -n '/^const pages = {/,/};/s/^ *\([a-z]*\): {name.*/\1/p' "$source_dir/src/page/assets/page.js"); do
  [[ " ${kinds[*]} " == *" $kind "* ]] || fail "no command above writes a page of kind $kind"
done
finish
