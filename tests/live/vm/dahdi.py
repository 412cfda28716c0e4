#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls over DAHDI under Debian's kernel 6.1 in QEMU: two spans connected by the kernel (dahdi_dynamic_loc), a modem on each.

The modules are built from Debian's dahdi-dkms with that kernel's headers, on this machine; dahdi_cfg is that of Debian's package
dahdi. Nothing is installed; everything is in the cache. tests/network/dahdi_call.py runs in the machine.

Usage: dahdi.py OFFHOOK ANALOGUE_END [--fetch] [--seconds S] [V34] [V90]
       dahdi.py --prepare [--fetch]     fetches and builds, without a call
"""
import argparse
import fcntl
import glob
import os
import subprocess
import sys
import tempfile

import vm

CACHE = os.path.join(vm.CACHES, "dahdi-6.1")
MODULES = ("dahdi", "dahdi_dummy", "dahdi_dynamic", "dahdi_dynamic_loc")
PACKAGES = ("dahdi-dkms", "dahdi", "libtonezone2.0")
CALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "network", "dahdi_call.py")


def build(kernel, folder):
    """The modules, in their source folder. Unavailable contains the compiler's first error."""
    (source,) = glob.glob(folder + "/usr/src/dahdi-2*")
    done = subprocess.run(["make", "-C", source, "modules", f"KVERS={kernel.version()}", f"KSRC={kernel.headers()}", "DAHDI_BUILD_ALL=",
                           "CONFIG_DAHDI=m", "CONFIG_DAHDI_DYNAMIC=m", "CONFIG_DAHDI_DYNAMIC_LOC=m", "MODULES_EXTRA=dahdi_dummy"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "rror" in line]
        raise vm.Unavailable(f"dahdi-dkms does not build for {kernel.version()}: {errors[:1] or done.stderr[-300:]}")
    for name in MODULES:
        os.rename(f"{source}/drivers/dahdi/{name}.ko", f"{folder}/{name}.ko")


def prepare(kernel, fetch):
    """Everything or nothing, once."""
    os.makedirs(vm.CACHES, exist_ok=True)
    with open(CACHE + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(CACHE):
            return
        if not fetch:
            raise vm.Unavailable(f"no DAHDI in {CACHE} (1 MB); `./dev vm dahdi` fetches and builds it")
        print(f"[vm] fetching and building dahdi-dkms into {CACHE}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=vm.CACHES) as folder:
            new = os.path.join(folder, "new")
            for name in PACKAGES:
                vm.debian_package(name, new)
            build(kernel, new)
            os.rename(new, CACHE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="download kernel and packages when the cache has none")
    parser.add_argument("--seconds", type=float, default=1700, help="time limit of each call in this machine's time (default 1700)")
    parser.add_argument("--prepare", action="store_true", help="end when everything is in the cache")
    parser.add_argument("offhook", nargs="?")
    parser.add_argument("analogue_end", nargs="?")
    parser.add_argument("calls", nargs="*", metavar="CALL", help="V34, V90 (default: both)")
    options = parser.parse_args()
    if not options.prepare and not options.analogue_end:
        parser.error("expected OFFHOOK and ANALOGUE_END, or --prepare")
    try:
        kernel = vm.Kernel("6.1")
        qemu = kernel.machine(options.fetch)
        prepare(kernel, options.fetch)
    except vm.Unavailable as why:
        print("SKIPPED:", why)
        return vm.SKIPPED
    for call in () if options.prepare else options.calls or ("V34", "V90"):
        with tempfile.TemporaryDirectory() as keep:
            words = [os.path.abspath(options.offhook), os.path.abspath(options.analogue_end), CACHE, call]
            status = vm.run(kernel, qemu, ["python3", os.path.abspath(CALL), *words], keep, options.seconds)
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
