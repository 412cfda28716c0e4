# SPDX-License-Identifier: MIT
"""A debugging kernel, built from Debian's linux-source-6.12, and the tests that run under it.

None of Debian's kernels has KUnit, lockdep, KASAN, PROVE_RCU and DEBUG_ATOMIC_SLEEP. The build is in the cache
next to them. It is resumed after an interruption, and repeated only if debug_kernel/config changes.
"""
import fcntl
import filecmp
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import vm
from rig import CONTEXTS, Failure, Kind, chosen_cases
from shortage import shortage

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = os.path.join(HERE, "debug_kernel", "config")
SOURCE = "linux-source-6.12"
# Lockdep is silent after its first report, also in all later tests.
CHECKS = """grep -q '^ *debug_locks: *1$' /proc/lockdep_stats || echo "WARNING: lockdep is off" >/dev/kmsg"""


class DebugKernel(vm.Kernel):
    """The source, the build and the installed kernel, all in the cache."""

    off = "b"  # it has no ACPI to power off, and QEMU exits at a reboot
    checks = CHECKS
    tests = os.path.join(HERE, "debug_kernel", "kunit")

    def __init__(self):
        super().__init__("6.12-debug")
        self.folder = os.path.join(vm.CACHES, "linux-debug")
        self.source, self.built = os.path.join(self.folder, SOURCE), os.path.join(self.folder, "build")

    def headers(self):
        return self.built

    def machine(self, fetch):
        if not fetch and not self._is_built():
            raise vm.Unavailable(f"no kernel of debug_kernel/config in {self.cache}; `./dev vm debug-kernel` builds it (160 MB "
                                 "to fetch, 800 objects)")
        return super().machine(fetch)

    def fetch(self):
        os.makedirs(self.folder, exist_ok=True)
        with open(self.cache + ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._is_built():
                self._unpack()
                self._build()
                self._install()

    def _is_built(self):
        """@return whether the cache belongs to the present configuration"""
        copy = os.path.join(self.cache, "config")
        return os.path.exists(copy) and filecmp.cmp(copy, CONFIG, shallow=False)

    def _unpack(self):
        if os.path.exists(self.source):
            return
        print(f"[vm] fetching Debian's {SOURCE} into {self.folder}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as new:
            vm.debian_package(SOURCE, new)
            subprocess.run(["tar", "-xJf", f"{new}/usr/src/{SOURCE}.tar.xz", "-C", new], check=True)
            os.rename(os.path.join(new, SOURCE), self.source)

    def _make(self, *arguments):
        with open(os.path.join(self.folder, "build.log"), "a", encoding="utf-8") as log:
            made = subprocess.run(["nice", "make", "-s", f"-j{os.cpu_count()}", "-C", self.source, "O=" + self.built,
                                   "KBUILD_BUILD_TIMESTAMP=@0", *arguments], stdout=log, stderr=log, check=False)
        if made.returncode != 0:
            raise Failure(f"the debug kernel does not build: make {' '.join(arguments)}, see {log.name}")

    def _build(self):
        print(f"[vm] building the debug kernel in {self.built}; this takes long, and can be stopped and begun again",
              file=sys.stderr, flush=True)
        self._make("tinyconfig")
        subprocess.run([self.source + "/scripts/kconfig/merge_config.sh", "-m", "-O", self.built, self.built + "/.config", CONFIG],
                       cwd=self.source, check=True, stdout=subprocess.DEVNULL)
        self._make("olddefconfig")
        self._say_what_is_refused()
        self._make("bzImage", "modules")

    def _say_what_is_refused(self):
        """A word of the configuration that this kernel does not accept, for lack of another, is an error."""
        with open(self.built + "/.config", encoding="ascii") as file:
            has = set(file.read().splitlines())
        with open(CONFIG, encoding="ascii") as file:
            wanted = [line for line in file.read().splitlines() if line and not line.startswith("#")]
        refused = [w for w in wanted if w not in has and not (w.endswith("=n") and w[:-1] + "y" not in has)]
        if refused:
            raise Failure(f"{CONFIG}: the kernel's configuration does not take {', '.join(refused)}")

    def _install(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            new = os.path.join(folder, "new")
            self._make("INSTALL_MOD_PATH=" + new, "modules_install")
            # Not the image inside it, because KASAN does not work with its entry for virtual machines (PVH).
            shutil.copy(self.built + "/arch/x86/boot/bzImage", new + "/vmlinux")
            vm.debian_package("busybox-static", new)
            shutil.copy(CONFIG, new)
            shutil.rmtree(self.cache, ignore_errors=True)
            os.rename(new, self.cache)


def kunit(bench, kernel, keep):
    """The driver's own tests, which run when the module is loaded."""
    suites = len(glob.glob(kernel.tests + "/*_test.c"))
    status, _ = bench.in_vm(kernel, "insmod $MODULE && sleep 2 && rmmod offhook", keep, [])
    with open(os.path.join(keep, "dmesg"), encoding="utf-8", errors="replace") as file:
        said = [line.split("] ", 1)[-1] for line in file.read().splitlines()]
    passed = [line for line in said if line.startswith("    ok ")]
    failed = [line.strip() for line in said if line.strip().startswith("not ok ")]
    ended = [line for line in said if line.startswith("ok ")]
    if status != 0 or failed or len(ended) != suites:
        return f"status {status}, {len(ended)} of {suites} suites; {'; '.join(failed)}"
    return f"ok, {len(passed)} tests in {suites} suites"


def call(bench, kernel, keep):
    """A call that changes its context twenty times."""
    said = bench.call(kernel, list(CONTEXTS.values()), Kind(), keep, more="--switch 20")
    verdict = bench.verdict(said, Kind())
    return f"{verdict}, {said['switches']} switches" if said["switches"] == 20 else f"{said['switches']} switches; {verdict}"


def debug_kernel(bench, options):
    cases = {"kunit": kunit, "call": call, "shortage": shortage}
    chosen = chosen_cases(cases, options.only)
    bad, kernel = 0, DebugKernel()
    kernel.machine(options.fetch)
    boot = options.boot
    for name in chosen:
        options.boot = boot if name == "kunit" else boot + " kunit.enable=0"
        with tempfile.TemporaryDirectory() as keep:
            try:
                verdict = cases[name](bench, kernel, keep)
            except Failure as failure:
                verdict = str(failure)
            if options.keep:
                shutil.copytree(keep, os.path.join(options.keep, name), dirs_exist_ok=True)
        bad += not verdict.startswith("ok")
        print(f"{kernel.name} {name:12} {verdict}", flush=True)
    return 1 if bad else 0
