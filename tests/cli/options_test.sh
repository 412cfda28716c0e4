#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One set of option names over all commands; where --json and --csv write.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Every option of every command, by the man pages: what one name means it means everywhere.
"$offhook" help man --out pages || fail "man"
python3 - pages "$source_dir/docs/formats.md" <<'PY' || fail "option names"
import pathlib, re, sys
pages = [page.read_text(encoding="utf-8").replace("\\-", "-") for page in sorted(pathlib.Path(sys.argv[1]).glob("*.1"))]
formats = open(sys.argv[2], encoding="utf-8").read()
values = {"--json": "[FILE.json]", "--csv": "[FILE.csv]", "--perfetto": "[FILE.perfetto]", "--html": "FILE",
          "--seed": "N", "--repeats": "N", "--shards": "N", "--threads": "N"}
kept = {"--out": ("DIR", "FILE", "HOST.toml"), "--set": ("KEY=VALUE", "line.KEY=VALUE")}
gone = {"--repetitions", "--summary", "--output"}
seen, bad, of, command = set(), [], {}, None
for line in (line for page in pages for line in page.splitlines()):
    plain = re.sub(r"\\f.", "", line)
    if line.startswith(".B offhook"):
        command = line.removeprefix(".B offhook").strip() or None
        of.setdefault(command, set())
    found = re.match(r"(?:-\w, )?(--[a-z-]+)(?: (\S+))?$", plain.strip())
    if not found:
        continue
    name, value = found.groups()
    seen.add(name)
    of[command].add(name)
    if name in gone or (name in values and value != values[name]) or (name in kept and value not in kept[name]):
        bad.append(plain)
missing = (values.keys() | kept.keys()) - seen
print("\n".join(bad + [f"no command has {m}" for m in missing]))
# The table of docs/formats.md; a name before subcommands alone is no command.
common = ["--json", "--csv", "--html", "--out", "--repeats", "--seed"]
rows = [f"| `{c}` |" + "".join(" yes |" if o in has else " |" for o in common)
        for c, has in of.items() if c not in (None, "measure")]
absent = [f"docs/formats.md has no row: {row}" for row in rows if row not in formats]
named = re.findall(r"^\| `([a-z -]+)` \|(?: yes \|| \|){6}$", formats, re.M)
absent += [f"docs/formats.md has a row of no command: {name}" for name in named if name not in of]
print("\n".join(absent))
sys.exit(bool(bad or missing or absent))
PY

# Alone on standard output, or in a file beside the text for people; anywhere among the arguments.
"$offhook" advise law --json g-lite >alone.json 2>err.txt || fail "--json before an argument"
"$offhook" advise law g-lite --json file.json --csv file.csv >people.txt || fail "--json FILE --csv FILE"
cmp alone.json file.json || fail "the file has other bytes than standard output"
grep -q "Recommended" people.txt || fail "nothing for people beside the files"
"$offhook" advise law g-lite --csv | cmp - file.csv || fail "--csv has other bytes than its file"
"$offhook" advise law g-lite --json=equals.json >/dev/null || fail "--json=FILE"
cmp alone.json equals.json || fail "--json=FILE has other bytes"
expect_error "only one of them can go to standard output" advise law g-lite --json --csv
expect_error "only one of them can go to standard output" schedule "$source_dir/examples/system.json" --json --csv
expect_error "nowhere/a.json: No such file" devices --json nowhere/a.json
expect_error "out.txt" hosts win98-web --json out.txt
[ ! -e out.txt ] || [ ! -s out.txt ] || ! grep -q '^\[' out.txt || fail "a name that ends otherwise was taken for the file"

# A script's variable that is not set.
expect_error 'scenario: ""; expected SCENARIO.toml' run ""
expect_error 'host: ""; expected HOST' hosts ""
expect_error '--set: ""; expected KEY=VALUE' run "$source_dir/examples/int.toml" --set ""

# Names that never were in a release are errors.
expect_error "--repetitions" measure kernel --repetitions=20
expect_error "--summary" schedule "$source_dir/examples/system.json" --csv now.csv --summary before.json
# A file for the end is tried at the beginning, before an hour's work.
expect_error "--html: nowhere/page.html: No such file or directory" decode "$source_dir/examples/call.wav" --html nowhere/page.html
expect_error "--hgrm: nowhere/l.hgrm: No such file or directory" measure latency --seconds 1000 --best-effort --hgrm nowhere/l.hgrm
finish
