#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are compiled together (UNITY in CMake) must mean the same as each file alone.

    tests/text/hidden_names_test.py TREE

A constant or type of an anonymous namespace hides the one of the same name that another file of its module takes from the
namespace around it. The compiler does not report that, so this test does. Exit status: 1 if a name is hidden.
"""
import pathlib
import re
import sys

CONSTANT = re.compile(r"^(?:inline |extern |static )*(?:constexpr|const)\b[^(=]*?\b(\w+)\s*(?:\[\w*\]\s*)?(?:=|\{|;|\()")
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?)\s+(\w+)|^using\s+(\w+)\s*=")
OPENS, CLOSES = "namespace {", "}  // namespace"


class File:
    def __init__(self, path):
        text = re.sub(r'//(?! namespace).*|"(?:[^"\\]|\\.)*"', "", path.read_text(encoding="utf-8"))
        found = re.search(r"^namespace (offhook[\w:]*) \{", text, re.M)
        self.path, self.namespace = path, found[1] if found else ""
        self.words = set(re.findall(r"\w+", text))
        self.hidden, self.open = set(), set()  # names of the anonymous namespace, and of the one around it
        inside = False
        for line in text.splitlines():
            if line in (OPENS, CLOSES):
                inside = line == OPENS
            elif name := CONSTANT.match(line) or TYPE.match(line):
                (self.hidden if inside else self.open).add(name[name.lastindex])


def around(outer, inner):
    return inner == outer or inner.startswith(outer + "::")


def main():
    tree = pathlib.Path(sys.argv[1])
    headers = [File(h) for top in ("dsp", "driver", "hostsim", "traces", "src") for h in (tree / top).rglob("*.h")]
    wrong, modules = [], 0
    for top in ("driver", "hostsim", "traces", "src"):
        for path in re.findall(r"offhook_module\((\S+)[^)]*\bUNITY\b", (tree / top / "CMakeLists.txt").read_text(encoding="utf-8")):
            modules += 1
            files = [File(f) for f in sorted((tree / path).glob("*.cpp"))]
            for a in files:
                for other in [*headers, *files]:
                    if other is a or not around(other.namespace, a.namespace):
                        continue
                    for name in a.hidden & other.open:
                        users = [f.path.name for f in files if f is not a and name in f.words and name not in f.hidden]
                        if users:
                            wrong.append(f"{a.path}: {name} hides that of {other.path.name} from {', '.join(users)}; rename it")
    print("\n".join(wrong) or f"{modules} modules, no hidden name")
    return 1 if wrong or modules < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
