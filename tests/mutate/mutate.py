#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Would a test notice? Changes one small thing of a module at a time, and runs the module's tests.

    ./dev mutate MODULE [--seed N] [--count N]

A change (mutant) is a comparison, a sign, a constant, a logical operator, a dropped call or assignment, or two arguments of
one type swapped. libclang finds the places, of which the seed selects some. Each change is made in a copy of the tree under
build/mutate, and the dependent objects are compiled. A change that does not compile, or that gives identical objects, does
not count. Then tests run until one fails: the module's own unit tests, those of modules that use it, and complete calls of
tests/sim. A test must fail twice, because live tests may be late on a busy machine.

Progress goes to standard error, the table to standard output, all of it to build/mutate/MODULE-SEED.json after each mutant.
A repeated command resumes. Mutants that no test noticed are tried again with the tests that have changed since.
"""
import argparse, collections, fcntl, hashlib, json, os, pathlib, random, re, resource, shlex, subprocess, sys, tempfile, time

import clang.cindex
from clang.cindex import CursorKind

SOURCE = pathlib.Path(__file__).resolve().parents[2]
WORK = SOURCE / "build" / "mutate"
TREE = WORK / "tree"
BUILD = TREE / "build" / "release"
PROGRAMS = {"dsp": ["unit_dsp", "unit_driver"], "driver": ["unit_driver", "unit_hostsim"], "hostsim": ["unit_hostsim", "unit_src"],
            "traces": ["unit_traces", "unit_src"], "src": ["unit_src"]}
# Complete calls by their subject; the first row that matches the beginning of a module counts.
SIM = [("dsp/link", ["error_control", "compression_call", "mnp_call", "slow_call"]), ("dsp/v32", ["v32_call"]), ("dsp/v34", ["v34_"]),
       ("dsp/qam", ["v34_", "v32_call"]), ("dsp/automode", ["automode"]), ("dsp", ["real_pump", "slow_call"]),
       ("src/decode", ["decode_call"]), ("", ["paper", "real_pump"])]

SWAPS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
         "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "+=": ["-="], "-=": ["+="], "++": ["--"], "--": ["++"]}
KINDS = {"&&": "logic", "||": "logic", "+": "sign", "-": "sign", "+=": "sign", "-=": "sign", "++": "sign", "--": "sign"}
BODIES = {CursorKind.COMPOUND_STMT, CursorKind.IF_STMT, CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.CASE_STMT,
          CursorKind.CXX_FOR_RANGE_STMT, CursorKind.DEFAULT_STMT, CursorKind.DO_STMT}
INTEGER = re.compile(rb"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)([uUlLzZ]*)$")
FLOATING = re.compile(rb"([0-9']*\.?[0-9']*([eE][-+]?[0-9]+)?)([fFlL]?)$")
SLOW = 0.3  # seconds: slower tests run after the others


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit(f"mutate: {text}")


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


# ---- the copy

def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=SOURCE, check=True, capture_output=True).stdout
    return [name for name in out.decode().split("\0") if name and (SOURCE / name).is_file()]


def copy_tree():
    """Updates the copy; equal files keep their time."""
    names = tracked()
    for name in names:
        data, to = (SOURCE / name).read_bytes(), TREE / name
        if not to.is_file() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod((SOURCE / name).stat().st_mode)
    known = set(names)
    for folder, folders, files in os.walk(TREE):
        if pathlib.Path(folder) == TREE and "build" in folders:
            folders.remove("build")
        for file in files:
            path = pathlib.Path(folder, file)
            if str(path.relative_to(TREE)) not in known:
                path.unlink()


def digests_of_tests():
    """@return for each test file, a digest of it and of the headers in its folder"""
    result = {}
    for kind in ("unit", "sim"):
        for file in sorted((TREE / "tests" / kind).rglob("*_test.cpp")):
            texts = [file, *sorted(file.parent.glob("*.h"))]
            result[str(file.relative_to(TREE))] = digest(b"\0".join(text.read_bytes() for text in texts))
    return result


def ninja(*arguments, **options):
    return subprocess.run(["ninja", "-C", str(BUILD), *arguments], capture_output=True, text=True, **options)


def configure(below):
    """@param below  the test programs contain only this folder of tests; empty: everything"""
    done = subprocess.run(["cmake", "--preset", "release", "-DOFFHOOK_BENCH=OFF", "-DOFFHOOK_UNITY=OFF",
                           "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DOFFHOOK_TESTS_BELOW={below}",
                           "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"], cwd=TREE, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"the copy cannot be configured:\n{done.stderr[-2000:]}")


def build(programs, jobs):
    programs = sorted(programs)
    say(f"building {' '.join(programs)} in {TREE.relative_to(SOURCE)}")
    done = ninja(f"-j{jobs}", *programs)
    if done.returncode != 0:
        fail(f"without a change it does not build:\n{done.stdout[-3000:]}")


def dependents():
    """@return for each file of the tree, the objects that were compiled from it, from ninja's record"""
    result, target = collections.defaultdict(set), None
    for line in ninja("-t", "deps").stdout.splitlines():
        if line[:1] not in ("", " "):
            target = line.split(":")[0]
        elif line.strip() and (path := os.path.realpath(BUILD / line.strip())).startswith(str(TREE) + os.sep):
            result[path].add(target)
    return result


def objects_of(program):
    return {line.strip() for line in ninja("-t", "inputs", program).stdout.splitlines() if line.strip().endswith(".o")}


# ---- places of possible changes

def commands():
    """@return for each source, its compiler arguments without the compiler and the output"""
    result = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        command = re.sub(r" -include \S+/cmake_pch\.hxx", "", entry["command"])  # which GCC precompiled
        words = shlex.split(command)
        first = next(i for i, word in enumerate(words) if os.path.basename(word) in ("c++", "g++", "cc", "gcc")) + 1
        words = [w for i, w in enumerate(words[first:], first) if w not in ("-c", "-o") and words[i - 1] not in ("-c", "-o")]
        result.setdefault(os.path.realpath(entry["file"]), words)
    return result


class Finder:
    """All mutants of some files, from the syntax trees of the sources that include them."""

    def __init__(self, files):
        self.text = {str(file): file.read_bytes() for file in files}
        self.found = {}

    def add(self, file, start, end, kind, new):
        old = self.text[file][start:end]
        if new != old:
            self.found[(file, start, end, new)] = {
                "file": str(pathlib.Path(file).relative_to(TREE)), "line": self.text[file].count(b"\n", 0, start) + 1,
                "start": start, "end": end, "kind": kind, "old": old.decode(), "new": new.decode(), "of": digest(self.text[file])}

    def span(self, cursor):
        start, end = cursor.extent.start, cursor.extent.end
        if start.file is None or end.file is None or start.file.name != end.file.name:
            return None
        file = os.path.realpath(start.file.name)
        return (file, start.offset, end.offset) if file in self.text else None

    def parse(self, source, arguments):
        unit = clang.cindex.Index.create().parse(source, args=arguments + ["-w"])
        worst = [d for d in unit.diagnostics if d.severity >= clang.cindex.Diagnostic.Error]
        if worst:
            say(f"  {pathlib.Path(source).relative_to(TREE)}: libclang reads part of it only: {worst[0].spelling}")
        for child in unit.cursor.get_children():
            if child.location.file and os.path.realpath(child.location.file.name) in self.text:
                self.walk(child, None)

    def walk(self, cursor, parent):
        if cursor.kind == CursorKind.STATIC_ASSERT:
            return
        place = self.span(cursor)
        children = list(cursor.get_children())
        if place:
            self.visit(cursor, parent, children, *place)
        for child in children:
            self.walk(child, cursor)

    def visit(self, cursor, parent, children, file, start, end):
        text, kind = self.text[file][start:end], cursor.kind
        if kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            left, right = self.span(children[0]), self.span(children[1])
            between = self.text[file][left[2]:right[1]] if left and right and left[0] == right[0] == file else b""
            operator = between.strip().decode()
            at = left[2] + between.find(operator.encode()) if left else 0
            for new in SWAPS.get(operator, []):
                self.add(file, at, at + len(operator), KINDS.get(operator, "comparison"), new.encode())
            if operator == "=" and self.is_statement(cursor, parent, children, file, end):
                self.add(file, start, end, "dropped assignment", b"(void)0")
        elif kind == CursorKind.UNARY_OPERATOR:
            if text[:2] in (b"++", b"--"):
                self.add(file, start, start + 2, "sign", SWAPS[text[:2].decode()][0].encode())
            elif text[-2:] in (b"++", b"--"):
                self.add(file, end - 2, end, "sign", SWAPS[text[-2:].decode()][0].encode())
            elif text[:1] in (b"-", b"!"):
                self.add(file, start, start + 1, "sign" if text[:1] == b"-" else "logic", b" ")
        elif kind == CursorKind.INTEGER_LITERAL and INTEGER.match(text):
            self.add(file, start, end, "constant", b"(" + text + b" + 1)")
        elif kind == CursorKind.FLOATING_LITERAL and (match := FLOATING.match(text)):
            suffix = match.group(3)
            zero = float(match.group(1).replace(b"'", b"")) == 0
            self.add(file, start, end, "constant", b"1.0" + suffix if zero else b"(" + text + b" * 1.25" + suffix + b")")
        elif kind == CursorKind.CXX_BOOL_LITERAL_EXPR and text in (b"true", b"false"):
            self.add(file, start, end, "constant", b"false" if text == b"true" else b"true")
        elif kind == CursorKind.CALL_EXPR:
            if self.is_statement(cursor, parent, children, file, end):
                self.add(file, start, end, "dropped call", b"(void)0")
            self.swap_arguments(cursor, file, start, end)

    def is_statement(self, cursor, parent, children, file, end):
        """An expression whose value is not used: the child of a body that is followed by a semicolon."""
        if parent is None or parent.kind not in BODIES or not self.text[file][end:].lstrip().startswith(b";"):
            return False
        siblings = list(parent.get_children())   # neither a condition nor a loop's head
        return parent.kind == CursorKind.COMPOUND_STMT or siblings.index(cursor) > 0

    def swap_arguments(self, cursor, file, start, end):
        arguments = [(a, self.span(a)) for a in cursor.get_arguments() if a is not None]
        for (a, at), (b, bt) in zip(arguments, arguments[1:]):
            if not at or not bt or at[0] != file or bt[0] != file or not start <= at[1] < at[2] <= bt[1] < bt[2] <= end:
                continue
            if a.type.get_canonical().spelling == b.type.get_canonical().spelling:
                text = self.text[file]
                self.add(file, at[1], bt[2], "swapped arguments", text[bt[1]:bt[2]] + text[at[2]:bt[1]] + text[at[1]:at[2]])


def mutants(module, by_file, known):
    files = [f.resolve() for ending in ("c", "cpp", "h") for f in sorted((TREE / module).rglob(f"*.{ending}"))]
    if not files:
        fail(f"{module} is no folder with sources; expected a module as `driver/core` or `dsp/link`")
    finder = Finder(files)
    by_object = {obj: path for path, objs in by_file.items() for obj in objs if path in known}
    units = {str(f) for f in files if str(f) in known}
    for file in files:   # a header is parsed in a source of the module, or otherwise in another source
        users = {by_object[obj] for obj in by_file[str(file)] if obj in by_object}
        if str(file) not in known and not users & units and users:
            units.add(min(users, key=lambda path: ("/tests/" in path, path)))
    for unit in sorted(units):
        finder.parse(unit, known[unit])
    return [finder.found[key] for key in sorted(finder.found)]


# ---- the tests of a module

def suites(file):
    return set(re.findall(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),", file.read_text(), re.M))


def own_tests(module):
    folder = TREE / "tests" / "unit" / module
    if folder.is_dir():
        return set(folder.rglob("*_test.cpp"))
    while not folder.is_dir():
        folder = folder.parent
    return set(folder.glob("*_test.cpp"))


def tests_of_users(module):
    """Unit tests in folders whose module uses this one."""
    rows = [line.split("|") for line in (BUILD / "modules.txt").read_text().splitlines() if line]
    inside = {row[0] for row in rows if row[0] == module or row[0].startswith(module + "/")}
    users = {row[0] for row in rows if inside & set(row[2].split())}
    below = TREE / "tests" / "unit"
    files = set()
    for file in below.rglob("*_test.cpp"):
        folder = str(file.parent.relative_to(below))
        if any(user == folder or user.startswith(folder + "/") or folder.startswith(user + "/") for user in users):
            files.add(file)
    return files


class Program:
    """A test program, its tests for the module, and the duration of each test without a change."""

    def __init__(self, name, files):
        self.path, self.name = BUILD / "tests" / name, name
        self.suites = {suite: str(file.relative_to(TREE)) for file in files for suite in suites(file)}
        self.files = set(self.suites.values())
        self.times = {}

    def file_of(self, test):
        return next(self.suites[part] for part in test.rsplit(".", 1)[0].split("/") if part in self.suites)

    def measure(self):
        listing = subprocess.run([self.path, "--gtest_list_tests"], capture_output=True, text=True, timeout=120).stdout
        names, suite = [], ""
        for line in listing.splitlines():
            if line[:1] not in ("", " ") and line.split("#")[0].strip().endswith("."):
                suite = line.split("#")[0].strip()
            elif line.startswith("  ") and set(suite.rstrip(".").split("/")) & set(self.suites):
                names.append(suite + line.split("#")[0].strip())
        known = WORK / f"times-{self.name}.json"
        state = json.loads(known.read_text()) if known.is_file() else {}
        binary = digest(self.path.read_bytes())
        if state.get("binary") != binary:
            state = {"binary": binary, "times": {}}
        missing = [name for name in names if name not in state["times"]]
        if missing:
            say(f"{self.name}: {len(missing)} tests with nothing changed")
            with tempfile.NamedTemporaryFile(suffix=".json") as out:
                self.run(missing, 1800, 3600, f"--gtest_output=json:{out.name}", fast=False)
                report = json.loads(pathlib.Path(out.name).read_bytes() or "{}")
            for one in (case for group in report.get("testsuites", []) for case in group["testsuite"]):
                seconds = float(one["time"].rstrip("s"))
                state["times"][f"{one['classname']}.{one['name']}"] = -1 if "failures" in one else seconds
            known.write_text(json.dumps(state))
        self.times = {name: state["times"][name] for name in names if state["times"].get(name, -1) >= 0}
        for name in set(names) - set(self.times):
            say(f"  {self.name}: {name} fails with nothing changed, and is left out")

    def run(self, names, cpu_seconds, seconds, *more, fast=True):
        """@return the exit status, or None after a time limit; and the output"""
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds), int(cpu_seconds) + 2))
            resource.setrlimit(resource.RLIMIT_RTTIME, (10_000_000, 11_000_000))   # a thread at a real-time priority that spins
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with tempfile.TemporaryFile() as out, tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, GTEST_FILTER=":".join(names), TMPDIR=folder)
            command = [self.path, "--gtest_brief=0", *(["--gtest_fail_fast"] if fast else []), *more]
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment,
                                       cwd=folder, preexec_fn=limits, start_new_session=True)
            try:
                status = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                status = None
            except BaseException:
                process.kill()
                raise
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            out.seek(0)
            return status, out.read().decode(errors="replace")

    def notices(self, names):
        """@return the test that fails twice; None if all pass"""
        names = list(names)
        while names:
            least = sum(self.times[name] for name in names)
            status, printed = self.run(names, 4 * least + 20, 10 * least + 60)
            if status == 0:
                return None
            begun, failed = (re.findall(rf"^\[{word}\] ([^\s,]+)", printed, re.M) for word in (" RUN      ", "  FAILED  "))
            if status is None or status < 0 or not failed:   # endless, crashed, or an exit that no test makes
                end = "no end" if status is None or status in (-24, -9) else "crash"
                return f"{begun[-1] if begun else self.name} ({end})"
            name = failed[0]
            again, _ = self.run([name], 4 * self.times[name] + 20, 10 * self.times[name] + 60)
            if again != 0:
                return name
            say(f"  {name} failed once and then passed")
            if name not in names:
                return None
            names = names[names.index(name) + 1:]
        return None


# ---- one mutant after the other

class Judge:
    def __init__(self, programs, by_file, jobs):
        self.programs, self.jobs = programs, jobs
        self.by_file, self.needs = by_file, {p.name: objects_of(p.name) for p in programs}

    def try_one(self, mutant, same):
        """@param same  test files that have not noticed it before"""
        path = TREE / mutant["file"]
        was = path.read_bytes()
        objects = sorted(self.by_file[str(path)] & set().union(*self.needs.values()))
        # The objects may still belong to the previous mutant: its source was restored, but they were not.
        if ninja(f"-j{self.jobs}", *objects).returncode != 0:
            fail(f"{mutant['file']}: without a change it does not build")
        before = {obj: digest((BUILD / obj).read_bytes()) for obj in objects}
        environment = dict(os.environ, CCACHE_READONLY="1")
        try:
            path.write_bytes(was[:mutant["start"]] + mutant["new"].encode() + was[mutant["end"]:])
            if ninja(f"-j{self.jobs}", *objects, env=environment).returncode != 0:
                return "does not compile", ""
            if all(digest((BUILD / obj).read_bytes()) == before[obj] for obj in objects):
                return "same objects", ""
            for program in self.programs:
                times = {name: seconds for name, seconds in program.times.items() if program.file_of(name) not in same}
                if not times:
                    continue
                if ninja(f"-j{self.jobs}", program.name, env=environment).returncode != 0:
                    return "does not compile", ""
                quick = [name for name, seconds in times.items() if seconds < SLOW]
                slow = sorted((name for name, seconds in times.items() if seconds >= SLOW), key=times.get)
                for names in (quick, slow):
                    if test := program.notices(names):
                        return "noticed", test
            return "survived", ""
        finally:
            path.write_bytes(was)


def table(module, seed, results):
    count = collections.Counter(r["result"] for r in results)
    judged = count["noticed"] + count["survived"]
    print(f"\n| module | seed | judged | noticed | survived | not counted | score |\n| --- | --- | --- | --- | --- | --- | --- |")
    print(f"| {module} | {seed} | {judged} | {count['noticed']} | {count['survived']} | {len(results) - judged} "
          f"| {100 * count['noticed'] / judged if judged else 0:.0f} % |")
    survivors = [r for r in results if r["result"] == "survived"]
    if survivors:
        print("\nNoticed by no test:")
    for r in survivors:
        print(f"- `{r['file']}:{r['line']}` {r['kind']}: `{' '.join(r['old'].split())}` → `{' '.join(r['new'].split())}`")


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="a module, or a folder of modules, as dsp/link or driver/core")
    parser.add_argument("--seed", type=int, default=1), parser.add_argument("--count", type=int, default=25, help="mutants that count")
    parser.add_argument("--own", action="store_true", help="by the module's own unit tests alone: what others notice counts as survived")
    parser.add_argument("--and", dest="others", action="append", default=[], metavar="MODULE", help="with --own: and by those of this module")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once")
    arguments = parser.parse_args()
    module = arguments.module.strip("/")
    if module.split("/")[0] not in PROGRAMS or not (SOURCE / module).is_dir():
        fail(f"{module} is no module; expected a folder of {', '.join(PROGRAMS)}")
    WORK.mkdir(parents=True, exist_ok=True)
    lock = (WORK / "lock").open("w")   # one run at a time uses the copy, until it ends
    fcntl.flock(lock, fcntl.LOCK_EX)
    copy_tree()
    own = set().union(*(own_tests(one) for one in [module, *arguments.others]))
    # With only these tests, the others are not compiled after each change of a header: a third of the objects remains.
    folders = sorted({str(file.parent) for file in own})
    below = f"({'|'.join(folders)})/" if arguments.own else ""
    configured = BUILD / "tests_below.txt"
    if not configured.is_file() or configured.read_text() != below:
        configure(below)
        configured.write_text(below)
    users = tests_of_users(module)
    sim = next(stems for prefix, stems in SIM if module.startswith(prefix))
    sim = [f for f in (TREE / "tests" / "sim").glob("*_test.cpp") if f.name.startswith(tuple(sim))]
    names = PROGRAMS[module.split("/")[0]]
    unit = TREE / "tests" / "unit"
    trees = dict.fromkeys([names[0], *(PROGRAMS[one.split("/")[0]][0] for one in arguments.others)])
    judges = [(name, {f for f in own if f.is_relative_to(unit / name[5:])}) for name in trees]
    if not arguments.own:
        judges += [(name, {f for f in users - own if f.is_relative_to(unit / name[5:])}) for name in names] + [("sim", sim)]
    build({name for name, _ in judges}, arguments.jobs)   # from here, it is known which file includes which
    by_file = dependents()
    everything = mutants(module, by_file, commands())
    random.Random(arguments.seed).shuffle(everything)
    out = WORK / f"{module.replace('/', '_')}-{arguments.seed}{'-'.join(['', 'own', *arguments.others]).replace('/', '_') if arguments.own else ''}.json"
    old = json.loads(out.read_text()) if out.is_file() else {"mutants": [], "tests": {}}
    tests = digests_of_tests()
    now = digest(json.dumps(tests, sort_keys=True).encode())
    versions = {**old["tests"], now: tests}
    known = {(r["of"], r["start"], r["new"]): r for r in old["mutants"]}

    def same_tests(result):
        """@return the test files that are unchanged since nothing noticed this mutant"""
        then = versions[result["tests"]] if result else {}
        return {file for file, version in tests.items() if then.get(file) == version}

    enough, left = [], arguments.count   # those that will be judged, if known
    for mutant in everything:
        if left > 0:
            enough.append(known.get((mutant["of"], mutant["start"], mutant["new"])))
            left -= not enough[-1] or enough[-1]["result"] in ("noticed", "survived")
    again = [r for r in enough if not r or r["result"] == "survived"]
    programs = [Program(name, files) for name, files in judges]
    programs = [p for p in programs if any(p.files - same_tests(r) for r in again)]
    for program in programs:
        program.measure()
    say(f"{module}: {len(everything)} mutants; seed {arguments.seed}, {arguments.count} are judged by "
        + ", ".join(f"{len(p.times)} tests of {p.name}" for p in programs))

    judge, results, judged = Judge(programs, by_file, arguments.jobs), [], 0
    for mutant in everything:
        if judged == arguments.count:
            break
        before = known.get((mutant["of"], mutant["start"], mutant["new"]))
        result = {**mutant, **before} if before else None
        if not before or (before["result"] == "survived" and any(p.files - same_tests(before) for p in programs)):
            begun = time.monotonic()
            verdict, by = judge.try_one(mutant, same_tests(before))
            result = {**mutant, "result": verdict, "by": by, "seconds": round(time.monotonic() - begun, 1), "tests": now}
        results.append(result)
        judged += result["result"] in ("noticed", "survived")
        say(f"[{judged:3}/{arguments.count}] {result['file']}:{result['line']} {result['kind']}: {' '.join(result['old'].split())[:40]}"
            f" -> {' '.join(result['new'].split())[:40]}: {result['result']} {result['by']} ({result['seconds']} s)")
        state = {"module": module, "seed": arguments.seed, "candidates": len(everything), "tests": versions, "mutants": results}
        with tempfile.NamedTemporaryFile("w", dir=WORK, delete=False) as file:
            json.dump(state, file, indent=1)
        os.replace(file.name, out)
    table(module, arguments.seed, results)


if __name__ == "__main__":
    main()
