#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the build into an empty folder, and uses what is there and nothing else.

    install_test.py BUILD SOURCE     BUILD: the build folder; SOURCE: the tree, for the examples and the ABI baseline
"""
import csv, json, os, pathlib, random, re, shutil, subprocess, sys

BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
WORK = BUILD / "tests" / "install"
PREFIX = WORK / "prefix"
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
                 f"src/offhook-{VERSION}/driver/linux/pci.c", f"src/offhook-{VERSION}/dkms.conf", "share/man/man5/offhook-scenario.5", "share/doc/offhook/LICENSE"):
        expect(f"{name} is installed", (PREFIX / name).exists())
    expect("pkgconfig/offhook.pc is installed", (lib / "pkgconfig/offhook.pc").exists())
    soname = run("readelf", "-d", lib / "liboffhook.so")
    expect("the soname is liboffhook.so.0", "[liboffhook.so.0]" in soname)
    exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", lib / "liboffhook.so").splitlines()]
    expect(f"liboffhook exports oh_* alone ({len(exported)} symbols)", exported and all(s.startswith("oh_") for s in exported))
    return lib


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
    """By both compilers, pedantic: each C header alone as C11 and as C++20, those of the components together."""
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
            alone = WORK / "header.txt"  # "#pragma once" in what is itself compiled is a warning
            alone.write_text(f'#include "{header.relative_to(PREFIX / "include")}"\n')
            run(c, "-std=c11", *strict, "-x", "c", alone)
            run(cxx, "-std=c++20", *strict, "-x", "c++", alone)
        expect(f"{c}: {len(public)} C headers are clean C11 and C++20", True)
        run(cxx, "-std=c++20", *strict, sources)
        expect(f"{c}: {len(every)} headers of the components are clean C++20", True)


def two_modems(program, seconds=240):
    """The C example, twice, each the other's line."""
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
    example = SOURCE / "examples/embed/modem.c"
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


def components():
    project = WORK / "embed"
    shutil.copytree(SOURCE / "examples/embed", project)
    run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", project / "build")
    said = run(project / "build/pump", cwd=WORK, timeout=300)
    print("        " + said.replace("\n", "\n        ").rstrip())
    expect("examples/embed/pump.cpp: a pump of one's own runs in INT and RES", said.count("suffices") == 2)
    own_policy(project / "build/policy")


def own_policy(program):
    """A call and a sweep with host.scheduler = "turns", which no source of ours has."""
    environment = dict(os.environ, OFFHOOK_DATA_DIR=str(PREFIX / "share/offhook"))
    (WORK / "call.toml").write_text('context = "THR 24"\npump.kind = "cost-profile"\nload.spinner = true\n'
                                    'transfer.bytes = 20000\n')
    waits = {}
    for scheduler in ("fixed-priority", "turns"):
        done = subprocess.run([program, "run", "call.toml", "--set", f"host.scheduler={scheduler}", "--json", "--out", scheduler],
                              cwd=WORK, env=environment, capture_output=True, text=True, timeout=300)
        expect(f"policy run, scheduler {scheduler}: exit status {done.returncode} {done.stderr}", done.returncode in (0, 2))
        waits[scheduler] = json.loads(done.stdout)["figures"]["interrupt_to_service"]["mean_ms"]
    expect(f"beside a program that never sleeps a modem waits for its turn: interrupt to service {waits} ms",
           waits["turns"] > waits["fixed-priority"])
    (WORK / "grid.toml").write_text('repeats = 1\n[scenario]\ncontext = "THR 24"\npump.kind = "cost-profile"\n'
                                    'transfer.bytes = 5000\n[axes]\nhost.scheduler = ["fixed-priority", "turns"]\n')
    run(program, "sweep", "grid.toml", "--out", "grid", cwd=WORK, env=environment, timeout=300)
    cells = [r["host.scheduler"] for r in csv.DictReader((WORK / "grid/results.csv").open())]
    expect(f"policy sweep: cells {cells}", "turns" in cells)


def declared(headers):
    """What the C headers declare: functions as `extern` prototypes by name, parameters without names."""
    includes = WORK / "public.c"
    includes.write_text("".join(f'#include "{h}"\n' for h in headers))
    run("gcc", "-std=c11", "-I", PREFIX / "include", "-aux-info", WORK / "prototypes", "-fsyntax-only", includes)
    prototypes = re.findall(r"^/\* (\S+):\d+:\w+ \*/ extern (.*\b(\w+) \(.*\));", (WORK / "prototypes").read_text(), re.M)
    return {name: prototype for file, prototype, name in prototypes if "/include/offhook/" in file}


def abi(lib):
    """Names, signatures and layouts. The build has no debugging information, and a program sees the headers: so these are
    compiled with it, each function that they declare empty, and what comes out is compared with the baseline."""
    if shutil.which("abidiff") is None or shutil.which("gcc") is None:
        print("skipped the ABI baseline: abigail-tools or gcc is not installed")
        return
    others = ("kernel_modem.h", "pci_card.h", "modem_end.h")  # of the kernel driver and of a card; not exported
    c_headers = sorted(h for h in (PREFIX / "include/offhook").glob("**/*.h")
                       if 'extern "C"' in h.read_text() and h.name not in others)
    functions = declared(c_headers)
    lines = run("nm", "-D", "--defined-only", lib / "liboffhook.so").splitlines()
    exported = {line.split()[-1] for line in lines}
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
headers()
c_example(lib)
components()
abi(lib)
