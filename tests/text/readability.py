#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the readability of everything that users read, and names the sentences to rewrite.

    readability.py [--commit COMMIT] [--list | --check | --sample N [--seed S]] [SOURCE]

It measures six kinds of text: the Markdown files, the help (string literals of src/program/command), other messages
(string literals of the remaining sources), data (comments and texts of the scenarios, devices, hosts and system files),
the comments of the public headers, and the comments of the sources. For each kind it prints the number of sentences, their mean length in words, the sentences of more than 25 and of more than
40 words, and the number of places with one of the habits below. --commit measures a commit instead of the working tree, so that two commits can be
compared. --list names each long sentence and each habit with its file. --sample prints N random sentences of docs, help,
messages, data and headers for a reader to judge. --check also names the long sentences and habits of docs, help, messages
and data, and the entries of CAVEATS.md with more than two sentences; the exit status is 1 if there are any. Without --check it is
0: this is a report.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

LONG, TOO_LONG = 25, 40  # words
CHECKED = ("docs", "help", "messages", "data")
LEAST_WORDS = 4  # shorter texts are headings, keys or table cells

HABITS = {
    "fronted object, inverted verb": r"\b(?:says|say|decides|tells) (?:the|`\w+(?:\(\))?`\.)|^Of (?:a|the|its|two|V\.\d+)\b[^,.]*\b(?:are|is)\b",
    "free relative clause as a noun": r"^What (?!happened)\w+(?=[^?]*$)|\bwhat (?:is|was|are|were|it|they|comes|came|does|has|had|can|else|becomes)\b(?=[^?]*$)"
    r"|\b(?:who|whoever|whatever) (?:calls|answers|writes|reads|waits|can|is|has|asks|wants|owns)\b(?=[^?]*$)",
    "inanimate subject that says, knows, looks": r"\b(?:says|knows|tells|asks|looks)\b",
    "conditional without if": r"^(?:Where|Killed|Interrupted|Stopped),? |[,:] where (?:it|there|that|this|no|they|nothing|nobody)\b|; (?:interrupted|killed|stopped),",
    "so many, so much, so long": r"\bso (?:many|much|long)\b(?! (?:as|that))",
    "calque verb": r"\b(?:goes on|go on(?! hook)|went on|stands in|stand in|stood in|is told from|are told from|taken off|comes to nothing|made anew|mended|is had|be had"
    r"|comes? out|came out|begin anew|goes by)\b",
    "beside, but for, thrice, at the most, for ever": r"\b(?:beside|besides|but for|thrice|at the most|for ever|as ever|for want of|anew|all the same)\b",
    "double negation": r"\b(?:none that|(?<!`)nobody|no second way|is no \w+ that is no|not none)\b",
    "distributive article": r"\b(?:a|one) (?:row|line|file|page|thread|channel|block) a (?:\w+)\b"
    r"|\b(?:samples|bits|ns|us|ms|events|times|runs|bytes|octets|rows|instructions|segments) an? (?:second|sample|symbol|block|call|row|CPU|core|minute|tone|run|cell|character)\b",
    "everyday word for a field term": r"\b(?:yardstick|filled in|fill in|passed over|to begin with|at work|hold the CPU|takes? off|under way|agreed on|of one's own)\b",
    "dated note in a manual": r"\b(?:on|in|of) (?:20\d\d-\d\d-\d\d|\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d)\b|\bhas been seen\b",
}
PATTERNS = {habit: re.compile(pattern, re.MULTILINE) for habit, pattern in HABITS.items()}


class Tree:
    """Files of the working tree, or of a commit."""

    def __init__(self, source: Path, commit: str | None):
        self.source, self.commit = source, commit

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", self.source, *arguments], capture_output=True, check=True, text=True)
        return done.stdout

    def names(self) -> list[str]:
        listed = self.git("ls-tree", "-r", "--name-only", self.commit) if self.commit else self.git("ls-files")
        return [name for name in listed.splitlines() if self.commit or (self.source / name).is_file()]

    def text(self, name: str) -> str:
        return self.git("show", f"{self.commit}:{name}") if self.commit else (self.source / name).read_text()


def prose_of_markdown(text: str) -> list[str]:
    """Paragraphs, list items and table cells, without code blocks."""
    text = re.sub(r"^```.*?^```$", "\n", text, flags=re.DOTALL | re.MULTILINE)
    parts, current = [], []
    for line in [*text.splitlines(), ""]:
        starts_anew = not line.strip() or re.match(r"\s*([-*#|>]|\d+\.)\s", line) or line.startswith(("|", "    "))
        if starts_anew and current:
            parts.append(" ".join(current))
            current = []
        if line.startswith("|"):
            parts += [cell for cell in line.split("|") if not re.fullmatch(r"[-: ]*", cell)]
        elif line.strip() and not line.startswith(("#", "    ")):
            current.append(re.sub(r"^\s*([-*>]|\d+\.)\s", "", line).strip())
    return parts


def paragraphs(body: str) -> list[str]:
    """The paragraphs of a text, and each of its indented lines."""
    parts = [""]
    for line in body.splitlines():
        if not line.strip() or line.startswith(" "):
            parts += [line.strip(), ""]
        else:
            parts[-1] += f" {line}"
    return list(filter(None, (part.strip() for part in parts)))


def literals(text: str) -> list[str]:
    """Lines of string literals, where adjacent ones are joined, and paragraphs of raw literals."""
    raw = [part for body in re.findall(r'R"\w*\((.*?)\)\w*"', text, re.DOTALL) for part in paragraphs(body)]
    text = re.sub(r'R"\w*\(.*?\)\w*"', "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*(?://|#include|\*).*$", "", text, flags=re.MULTILINE)
    found = []
    for group in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
        found += "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', group)).replace('\\"', '"').split("\\n")
    commands = ("<!DOCTYPE", "offhook", "sudo", "trace-cmd", "perf", "qemu-system", "modprobe")
    return [one for one in found + raw if not one.lstrip().startswith(commands)]


def comments(text: str, also_in_lines: bool = True) -> list[str]:
    """Comments, with each paragraph separate. @param also_in_lines  also block comments after code"""
    block = r"/\*(.*?)\*/" if also_in_lines else r"^[ \t]*/\*((?:(?!\*/).)*?)\*/"
    found = re.findall(block + r"|((?:^[ \t]*//[^\n]*\n)+)", text, re.DOTALL | re.MULTILINE)
    bodies = [re.sub(r"^[ \t]*(?:\*|///?<?|//)[ <]?", "", block or lines, flags=re.MULTILINE) for block, lines in found]
    return [part for body in bodies for part in re.split(r"\n\s*\n|\n\s*(?=@)", body) if "SPDX" not in part]


def data_parts(text: str) -> list[str]:
    """Comments of a TOML, unit or rules file, with adjacent whole lines joined, and the strings of TOML."""
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r"^#.*$", "", text, flags=re.MULTILINE))
    found += re.findall(r"^[^#\n]+#[ ]+(.*)$", text, re.MULTILINE)
    for body in re.findall(r"(?:^#.*\n)+", text, re.MULTILINE):
        found += paragraphs(re.sub(r"^# ?", "", re.sub(r"^# SPDX.*\n", "", body), flags=re.MULTILINE))
    return found


def sentences(part: str) -> list[str]:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(part.split()).replace("**", ""))
    pieces = re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\"])|(?<=[a-z)%][.!?])\s+(?=[0-9(])|;\s+(?=[A-Z])", plain)
    return [one.strip() for one in pieces if len(one.split()) >= LEAST_WORDS]


def kind_of(name: str) -> str | None:
    if name.endswith(".md"):
        return None if name.startswith("tests/") else "docs"
    if name.startswith("include/") and name.endswith(".h"):
        return "headers"
    if name.startswith("system/") or (name.endswith(".toml") and name.startswith(("examples/", "traces/data/"))):
        return "data"
    if name.startswith("src/program/command/") and name.endswith(".cpp"):
        return "help"
    sources = ("src/", "driver/", "traces/", "hostsim/", "dsp/")
    return "messages" if name.startswith(sources) and name.endswith((".cpp", ".c", ".js", ".h")) else None


def parts_of(name: str, kind: str, text: str) -> list[tuple[str, str]]:
    """@return (kind, part) of each part of a file"""
    if kind == "docs":
        return [(kind, part) for part in prose_of_markdown(text)]
    if kind == "headers":
        return [(kind, part) for part in comments(text)]
    if kind == "data":
        return [(kind, part) for part in data_parts(text)]
    found = [] if name.endswith(".h") else [(kind, part) for part in literals(text)]
    return found + [("comments", part) for part in comments(text, also_in_lines=False)]


def long_entries(caveats: str) -> list[str]:
    """Names of the entries with more than two sentences."""
    entries = re.findall(r"^- \*\*(.+?)\*\*((?:.|\n(?! *\n|- |#))*)", caveats, re.MULTILINE)
    return [name for name, text in entries if len(re.split(r"(?<=[.!?])\s+(?=[A-Z`0-9(])", text.strip())) > 2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", help="measure this commit (default: the working tree)")
    parser.add_argument("--list", action="store_true", help="name each long sentence and each habit")
    parser.add_argument("--check", action="store_true", help="fail if docs, help, messages or data need a rewrite")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print N random sentences instead")
    parser.add_argument("--seed", type=int, default=1, help="seed of --sample (default: 1)")
    parser.add_argument("source", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    tree = Tree(options.source, options.commit)
    lengths = {kind: [] for kind in ("docs", "help", "messages", "data", "headers", "comments")}
    places = dict.fromkeys(lengths, 0)
    pool, failures = [], 0
    for name in tree.names():
        kind_of_file = kind_of(name)
        if not kind_of_file:
            continue
        parts = parts_of(name, kind_of_file, tree.text(name))
        for kind, sentence in ((kind, s) for kind, part in parts for s in sentences(part)):
            if kind != "comments":
                pool.append(f"{name}: {sentence}")
            words = len(sentence.split())
            lengths[kind].append(words)
            habits = [
                habit
                for habit, pattern in PATTERNS.items()
                if pattern.search(sentence) and not (habit.startswith("dated") and name.startswith("docs/results/"))
            ]
            places[kind] += len(habits)
            wrong = words > TOO_LONG or bool(habits)
            failures += wrong and kind in CHECKED
            if wrong and (options.list or (options.check and kind in CHECKED)):
                reasons = habits + ([f"{words} words"] if words > TOO_LONG else [])
                print(f"{kind}: {name}: {', '.join(reasons)}: {sentence[:160]}")
    if options.sample:
        print("\n".join(random.Random(options.seed).sample(pool, min(options.sample, len(pool)))))
        return 0
    print(f"{'text':9} {'sentences':>9} {'mean words':>10} {'over 25':>8} {'over 40':>8} {'habits':>7}")
    for kind, counts in lengths.items():
        mean = sum(counts) / max(len(counts), 1)
        print(
            f"{kind:9} {len(counts):9} {mean:10.1f} {sum(n > LONG for n in counts):8}"
            f" {sum(n > TOO_LONG for n in counts):8} {places[kind]:7}"
        )
    if options.check:
        entries = long_entries(tree.text("CAVEATS.md"))
        print("".join(f"CAVEATS.md: more than two sentences: {name}\n" for name in entries), end="")
        failures += len(entries)
    return 1 if options.check and failures else 0


if __name__ == "__main__":
    sys.exit(main())
