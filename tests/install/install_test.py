#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the build into an empty folder and uses only what is there.

    install_test.py BUILD SOURCE     BUILD: the build folder; SOURCE: the tree, for the ABI baseline and a C test
"""
import csv, json, os, pathlib, random, re, shutil, subprocess, sys

BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
WORK = BUILD / "tests" / "install"
PREFIX = WORK / "prefix"
DOC = PREFIX / "share/doc/offhook"
VERSION = re.search(r"project\(offhook VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
CXX, CC = os.environ.get("CXX", "c++"), os.environ.get("CC", "cc")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stdout}{done.stderr}exit status {done.returncode}")
    return done.stdout


def expect(what, true):
    print(("ok      " if true else "FAILED  ") + what, flush=True)
    if not true:
        sys.exit(1)


def installed():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    run("cmake", "--install", BUILD, "--prefix", PREFIX)
    lib = next(PREFIX.glob("lib*/**/liboffhook.so.0")).parent
    for name in ("bin/offhook", "include/offhook/pump.h", "share/man/man1/offhook.1", "share/man/man1/offhook-measure-latency.1",
                 "share/zsh/site-functions/_offhook",
                 "share/bash-completion/completions/offhook", "share/fish/vendor_completions.d/offhook.fish",
                 "share/offhook/profiles", f"src/offhook-{VERSION}/driver/core/driver.c",
                 f"src/offhook-{VERSION}/driver/linux/pci.c", f"src/offhook-{VERSION}/dkms.conf", "share/man/man5/offhook-scenario.5", "share/doc/offhook/LICENSE",
                 "share/doc/offhook/docs/tutorials/own-pump.md", "share/doc/offhook/examples/plugins/pulse.c"):
        expect(f"{name} is installed", (PREFIX / name).exists())
    units = PREFIX / "lib/systemd/system"
    starting = [units / f"offhook-{name}@.service" for name in ("modem", "pool")]
    for unit in starting:
        program = re.search(r"^ExecStart=(\S+)", unit.read_text(), re.MULTILINE)[1]
        expect(f"{unit.name} starts the installed program, {program}", program == str(PREFIX / "bin/offhook"))
    if shutil.which("systemd-analyze"):
        names = [*starting, units / "offhook-awake@.service"]
        done = subprocess.run(["systemd-analyze", "verify", *names], capture_output=True, text=True, check=False)
        expect(f"systemd-analyze verify {done.stderr.strip()}", done.returncode == 0 and not done.stderr.strip())
    expect("pkgconfig/offhook.pc is installed", (lib / "pkgconfig/offhook.pc").exists())
    for name in ("liboffhook", "liboffhook-simulator"):
        soname = run("readelf", "-d", lib / f"{name}.so")
        expect(f"the soname is {name}.so.0", f"[{name}.so.0]" in soname)
        exported = exports(lib, name)
        expect(f"{name} exports oh_* alone ({len(exported)} symbols)", exported and all(s.startswith("oh_") for s in exported))
        listed = re.findall(r"^ (\w+)@Base", (SOURCE / f"debian/{name}0.symbols").read_text(), re.MULTILINE)
        expect(f"debian/{name}0.symbols lists them {sorted(set(listed) ^ set(exported))}", sorted(listed) == sorted(exported))
    return lib


def exports(lib, name):
    return [line.split()[-1] for line in run("nm", "-D", "--defined-only", lib / f"{name}.so").splitlines()]


def links():
    """Every relative link of an installed page leads to an installed file."""
    pages = sorted(DOC.rglob("*.md"))
    broken = []
    for page in pages:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in link and not (page.parent / link).exists():
                broken.append(f"{page.relative_to(DOC)}: {link}")
    expect(f"links of {len(pages)} installed pages lead to installed files {broken}", len(pages) > 30 and not broken)


def built_by_demo():
    """What is installed is what the target of `./dev demo` builds: `cmake --install` works after it, too."""
    if not (BUILD / "build.ninja").exists():
        return
    commands = run("ninja", "-C", BUILD, "-t", "commands", "offhook_installed")
    made = {line.partition(": ")[0] for line in run("ninja", "-C", BUILD, "-t", "targets", "all").splitlines()}
    scripts = "".join(p.read_text() for p in BUILD.rglob("cmake_install.cmake"))
    named = {name for name in re.findall(rf'"{re.escape(str(BUILD))}/([^"]+)"', scripts) if name in made}
    absent = sorted(name for name in named if not re.search(rf"[ /]{re.escape(name)}\b", commands))
    expect(f"{len(named)} built files are installed, all of them built by ./dev demo {absent}", len(named) > 10 and not absent)


def headers():
    """With both compilers, pedantic: each C header alone as C11 and C++20, and a component's together."""
    every = sorted((PREFIX / "include/offhook").glob("**/*.h"))
    public = [h for h in every if 'extern "C"' in h.read_text() or h.name == "abi.h"]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", PREFIX / "include", "-I", PREFIX / "include/offhook"]
    sources = WORK / "headers.cpp"
    sources.write_text("".join(f'#include "{h.relative_to(PREFIX / "include/offhook")}"\n' for h in every if h not in public))
    for c, cxx in (("gcc", "g++"), ("clang", "clang++")):
        if shutil.which(cxx) is None:
            print(f"skipped the headers by {c}: it is not installed")
            continue
        for header in public:
            alone = WORK / "header.txt"  # "#pragma once" is a warning in a file that is itself compiled
            alone.write_text(f'#include "{header.relative_to(PREFIX / "include")}"\n')
            run(c, "-std=c11", *strict, "-x", "c", alone)
            run(cxx, "-std=c++20", *strict, "-x", "c++", alone)
        expect(f"{c}: {len(public)} C headers are clean C11 and C++20", True)
        run(cxx, "-std=c++20", *strict, sources)
        expect(f"{c}: {len(every)} headers of the components are clean C++20", True)


def two_modems(program, seconds=240):
    """Runs the C example twice, each connected to the other's line."""
    files = {}
    for end in ("call", "answer"):
        files[end] = random.Random(end).randbytes(20000)
        (WORK / f"{end}.send").write_bytes(files[end])
    to_answer, to_call = os.pipe(), os.pipe()
    ends = []
    for end, reads, writes in (("call", to_call[0], to_answer[1]), ("answer", to_answer[0], to_call[1])):
        ends.append(subprocess.Popen([program, end, f"{end}.send", f"{end}.received"], cwd=WORK, stdin=reads, stdout=writes,
                                     stderr=subprocess.PIPE, text=True))
        os.close(reads), os.close(writes)
    said = [end.communicate(timeout=seconds)[1] for end in ends]
    print("        " + "        ".join(said), end="")
    whole = all((WORK / f"{a}.received").read_bytes() == files[b] for a, b in (("call", "answer"), ("answer", "call")))
    expect("two modems of examples/embed/modem.c transfer 20,000 octets each way", whole and not any(e.returncode for e in ends))


def c_example(lib):
    example = DOC / "examples/embed/modem.c"
    lines = [l for l in example.read_text().splitlines()]
    environment = dict(os.environ, PKG_CONFIG_PATH=str(lib / "pkgconfig"), LD_LIBRARY_PATH=str(lib))
    prefix = run("pkg-config", "--variable=prefix", "offhook", env=environment).strip()
    expect(f"offhook.pc has the prefix of the installation: {prefix}", prefix == str(PREFIX))
    flags = run("pkg-config", "--cflags", "--libs", "offhook", env=environment).split()
    static = run("pkg-config", "--static", "--cflags", "--libs", "offhook", env=environment).split()
    run(CC, "-Wall", "-Wextra", "-Werror", example, "-o", WORK / "modem", *flags)
    os.environ["LD_LIBRARY_PATH"] = str(lib)
    two_modems(WORK / "modem")
    static = [str(lib / "liboffhook.a") if f == "-loffhook" else f for f in static]
    run(CC, example, "-o", WORK / "modem_static", *static)
    expect(f"the static library links, too ({len(lines)} lines of C)", True)
    flags = run("pkg-config", "--cflags", "--libs", "offhook-simulator", env=environment).split()
    run(CC, "-Wall", "-Wextra", "-Werror", DOC / "examples/embed/simulation.c", "-o", WORK / "simulation", *flags)
    said = run(WORK / "simulation", cwd=WORK, env=dict(os.environ, LD_LIBRARY_PATH=str(lib)))
    print("        " + said.replace("\n", "\n        ").rstrip())
    verdicts = [line.split(":")[0].split()[-1] for line in said.splitlines()]
    expect(f"examples/embed/simulation.c reads verdicts {verdicts}", verdicts == ["sufficient", "sufficient", "insufficient"])
    run(CC, "-Wall", "-Wextra", "-Werror", SOURCE / "tests/install/simulator_test.c", "-o", WORK / "simulator_test", *flags)
    said = run(WORK / "simulator_test", cwd=WORK, env=dict(os.environ, LD_LIBRARY_PATH=str(lib)))
    expect(said.strip(), True)


# An empty project for each component: what it needs, a source, and the libraries that CMake must not find.
FOUND = ("fmt", "nlohmann_json", "PkgConfig", "CLI11")
C_ABI = '#include <offhook/modem.h>\nint main(void) { return oh_modem_create(0, 0) != 0; }\n'
DSP = '#include <dsp/v22/pump.h>\nint main(void) { return oh_v22bis_type()->format_count == 0; }\n'
CORE = '#include <offhook/driver.h>\nint main(void) { struct oh_driver_config c = {}; return oh_driver_init(0, &c) == 0; }\n'
SIMULATOR = '#include <offhook/simulator.h>\nint main(void) { oh_simulation_destroy(0); return 0; }\n'
PLUGIN = '#include <offhook/plugin.h>\nOH_PLUGIN(reason) { return oh_register_pump(0, reason); }\n'
LIVE = """#include "driver/live/timer_card.h"
#include "driver/session/devices.h"
int main() { return offhook::open_card("null") == nullptr; }
"""
MODEM = '#include "driver/user_modem/modulations.h"\nint main() { return offhook::kModulations.empty(); }\n'
HOSTSIM = """#include "hostsim/call/call.h"
int main() { return offhook::hostsim::Scenario{}.seed != 1; }
"""
DECODE = '#include "offhook/decode.h"\nint main(int n, char** a) { return n > 1 && !offhook::decode::decode_file(a[1]); }\n'
PROGRAM = '#include "offhook/program.h"\nint main(int n, char** a) { return offhook::run_program(n, a); }\n'
PROJECTS = [
    ("C", "offhook", "", C_ABI, ()), ("C", "static", "", C_ABI, ()), ("C", "simulator", "", SIMULATOR, ()),
    ("C", "plugin", "", PLUGIN, ()), ("C", "core", "core", CORE, ()), ("C", "modem", "modem", C_ABI, ()),
    ("CXX", "offhook", "", C_ABI, ()), ("CXX", "static", "", C_ABI, ()), ("CXX", "simulator", "", SIMULATOR, ()),
    ("CXX", "plugin", "", PLUGIN, ()), ("CXX", "dsp", "dsp", DSP, ()), ("CXX", "core", "core", CORE, ()),
    ("CXX", "modem", "modem", MODEM, ()), ("CXX", "hostsim", "hostsim", HOSTSIM, ("fmt", "nlohmann_json")),
    ("CXX", "decode", "decode", DECODE, ("fmt", "nlohmann_json", "PkgConfig")),
    ("CXX", "driver", "driver", LIVE, ("fmt", "nlohmann_json", "PkgConfig")), ("CXX", "program", "program", PROGRAM, FOUND),
]  # fmt: skip


def empty_projects():
    """Each component in a project with nothing else, in C and in C++, without a language standard."""
    for language, target, component, source, needs in PROJECTS:
        project = WORK / f"empty-{language}-{target}"
        project.mkdir()
        file = f"main.{'c' if language == 'C' else 'cpp'}"
        (project / file).write_text(source)
        kind = "add_library(main MODULE" if target == "plugin" else "add_executable(main"
        (project / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(empty LANGUAGES {language})\n"
            f"find_package(Offhook REQUIRED{' COMPONENTS ' + component if component else ''})\n"
            f"{kind} {file})\ntarget_link_libraries(main PRIVATE Offhook::{target})\n")
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in FOUND if name not in needs]
        run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", *absent)
        run("cmake", "--build", project / "build")
        expect(f"{language}: an empty project links Offhook::{target}, and finds {', '.join(needs) or 'nothing'} beside it", True)
        shutil.rmtree(project)


def components():
    project = WORK / "embed"
    shutil.copytree(DOC / "examples/embed", project)
    run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", project / "build")
    said = run(project / "build/pump", cwd=WORK, timeout=300)
    print("        " + said.replace("\n", "\n        ").rstrip())
    expect("examples/embed/pump.cpp: a pump of one's own runs in INT and RES", said.count("suffices") == 2)


TUTORIALS = ("own-pump", "own-context", "own-scheduler")


def printed(page):
    """The commands of a page that build or use a plug-in."""
    text = page.read_text().replace("\\\n", " ")
    return re.findall(r"^    ((?:cc|c\+\+|offhook --plugin) .*)$", text, re.M)


def tutorials(lib):
    """Every such command in a copy of the installed samples. @return the folder, and the environment of the program"""
    work = WORK / "examples"
    shutil.copytree(DOC / "examples", work)
    work /= "plugins"
    environment = dict(os.environ, PATH=f"{PREFIX / 'bin'}:{os.environ['PATH']}", PKG_CONFIG_PATH=str(lib / "pkgconfig"))
    for name in TUTORIALS:
        commands = printed(DOC / f"docs/tutorials/{name}.md")
        for command in commands:
            done = subprocess.run(["sh", "-c", command], cwd=work, env=environment, capture_output=True, text=True, timeout=300)
            # In a live run, this machine may be late.
            allowed = (0, 2) if "measure device" in command else (0,)
            expect(f"{command}: exit status {done.returncode} {done.stderr if done.returncode else ''}", done.returncode in allowed)
        expect(f"docs/tutorials/{name}.md: {len(commands)} commands run as printed", len(commands) >= 3)
    for name, rates in (("pulse", (10_000, 10_000)), ("ladder", (241_472, 241_472))):
        pump = json.loads((work / f"out/{name}/summary.json").read_text())["pump"]
        ways = [pump[way] for way in ("received", "sent")]
        expect(f"{name}: {ways}", all(way["wrong_bits"] == 0 and way["bits_compared"] > 0.9 * rate for way, rate in zip(ways, rates)))
        page = (work / f"out/{name}/report.html").read_text()
        expect(f"the page of {name} has the pump's metrics", "frames received" in page)
    scheduled = json.loads((work / "out/turns/summary.json").read_text())["figures"]["interrupt_to_service"]["mean_ms"]
    expect(f"under the scheduler of turns.cpp a block waits {scheduled} ms on average", scheduled > 0)
    cells = [r["context"] for r in csv.DictReader((work / "out/swi-map/results.csv").open())]
    expect(f"contexts of a sweep with swi.cpp: {cells}", cells == ["INT", "SWI", "DPC"])
    return work, environment


def written_by_an_outsider():
    """The files and lines of a custom pump have the numbers that the tutorial states."""
    page = (DOC / "docs/tutorials/own-pump.md").read_text()
    samples = DOC / "examples/plugins"
    for pump, source in (("pulse", "pulse.c"), ("ladder", "ladder.cpp")):
        lines = [len((samples / f).read_text().splitlines()) for f in (source, f"{pump}-device.toml", f"{pump}.toml")]
        row = f"| {lines[0]} | {lines[1]} | {lines[2]} | {sum(lines)} |"
        told = re.search(rf"^\| `{pump}` .*?(\| \d+ \| \d+ \| \d+ \| \d+ \|)$", page, re.M)
        expect(f"{pump}: an outsider writes 3 files, {row}; docs/tutorials/own-pump.md: {told[1] if told else 'no such row'}",
               told is not None and told[1] == row)


def plugin_errors(work, environment):
    """One line explains why a library is not a plug-in of this program."""
    (work / "none.c").write_text("int nothing;\n")
    (work / "old.c").write_text("unsigned oh_plugin_abi(void) { return 0; }\nint oh_plugin_register(const char** r) { return (void)r, 0; }\n")
    for name in ("none", "old"):
        run(CC, "-shared", "-fPIC", work / f"{name}.c", "-o", work / f"lib{name}.so")
    cases = [(["--plugin", "./libabsent.so"], "no such file"), (["--plugin", "./libnone.so"], "has no function oh_plugin_abi"),
             (["--plugin", "./libold.so"], "built for plug-in interface 0; this program has 1"),
             (["--plugin", "./pulse.c"], "invalid ELF header"), (["--plugin"], "expected a FILE.so"),
             (["--plugin", "./libpulse.so", "--plugin=./libpulse.so"], 'the name "pulse" of a pump is taken'),
             ([], 'or one of a plug-in, as in offhook --plugin FILE.so run')]  # fmt: skip
    for words, reason in cases:
        done = subprocess.run(["offhook", *words, "run", "pulse.toml"] if words != ["--plugin"] else ["offhook", "--plugin"],
                              cwd=work, env=environment, capture_output=True, text=True, timeout=60)  # fmt: skip
        lines = done.stderr.splitlines()
        expect(f"{' '.join(words)}: {lines}", done.returncode == 1 and len(lines) == 1 and reason in lines[0])


def declared(headers):
    """The declarations of the C headers: functions as `extern` prototypes by name, parameters unnamed."""
    includes = WORK / "public.c"
    includes.write_text("".join(f'#include "{h}"\n' for h in headers))
    run("gcc", "-std=c11", "-I", PREFIX / "include", "-aux-info", WORK / "prototypes", "-fsyntax-only", includes)
    prototypes = re.findall(r"^/\* (\S+):\d+:\w+ \*/ extern (.*\b(\w+) \(.*\));", (WORK / "prototypes").read_text(), re.M)
    return {name: prototype for file, prototype, name in prototypes if "/include/offhook/" in file}


def abi(lib):
    """Names, signatures and layouts. The build has no debugging information. So the headers, which programs see, are
    compiled with it and with empty functions, and the result is compared with the baseline."""
    if shutil.which("abidiff") is None or shutil.which("gcc") is None:
        print("skipped the ABI baseline: abigail-tools or gcc is not installed")
        return
    others = ("kernel_modem.h", "pci_card.h", "modem_end.h")  # of the kernel driver and a card; not exported
    c_headers = sorted(h for h in (PREFIX / "include/offhook").glob("**/*.h")
                       if 'extern "C"' in h.read_text() and h.name not in others)
    functions = declared(c_headers)
    exported = {*exports(lib, "liboffhook"), *exports(lib, "liboffhook-simulator")}
    expect(f"each exported function is declared in an installed header {sorted(exported - set(functions))}",
           exported <= set(functions))
    stub, now = WORK / "stub.c", WORK / "liboffhook.abi"
    stub.write_text((WORK / "public.c").read_text() +
                    "".join(f"{functions[name]} {{ __builtin_trap(); }}\n" for name in sorted(exported)))
    run("gcc", "-std=c2x", "-w", "-g", "-fno-eliminate-unused-debug-types", "-fPIC", "-shared", "-nostdlib",
        "-Wl,-soname,liboffhook.so.0", "-I", PREFIX / "include", stub, "-o", WORK / "liboffhook.so.0")
    run("abidw", "--load-all-types", "--headers-dir", PREFIX / "include", "--drop-private-types", "--no-show-locs",
        "--no-corpus-path", "--no-comp-dir-path", "--type-id-style", "hash", "--out-file", now, WORK / "liboffhook.so.0")
    now.write_text(now.read_text().replace(f"{WORK}/", ""))  # it is copied into the tree
    baseline = SOURCE / "tests/install/liboffhook.abi"
    done = subprocess.run(["abidiff", "--non-reachable-types", str(baseline), str(now)], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        print(f"If the change is meant, and the soname was considered: cp {now} {baseline}")
    expect("the ABI, layouts of structs and all, is that of tests/install/liboffhook.abi", done.returncode == 0)


lib = installed()
built_by_demo()
links()
headers()
c_example(lib)
components()
empty_projects()
written_by_an_outsider()
plugin_errors(*tutorials(lib))
abi(lib)
