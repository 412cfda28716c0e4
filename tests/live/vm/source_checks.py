# SPDX-License-Identifier: MIT
"""Checks of the module's source without running it: sparse, checkpatch and Coccinelle, DKMS."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import vm
from rig import ROOT, Failure, make_folder, stage_module


def sparse(bench, options):
    """Runs sparse over the C of driver/linux, with the headers of each kernel."""
    if shutil.which("sparse") is None:
        raise vm.Unavailable("no sparse (Debian: sparse)")
    bad = 0
    for kernel in map(vm.Kernel, options.kernels):
        with tempfile.TemporaryDirectory() as folder:
            stage_module(options.build, folder)
            objects = sorted("driver/linux/" + name[:-1] + "o" for name in os.listdir(os.path.join(ROOT, "driver/linux"))
                             if name.endswith(".c"))
            made = subprocess.run(["make", "-s", "-C", kernel.headers(), "M=" + folder, "C=2", *objects],
                                  capture_output=True, text=True, check=False)
            left = [o for o in objects if not os.path.exists(os.path.join(folder, o))]
        said = made.stdout + made.stderr
        verdict = "ok" if made.returncode == 0 and not said.strip() and not left else f"status {made.returncode}\n{said}"
        bad += verdict != "ok"
        print(f"{kernel.name:8} sparse       {len(objects)} files: {verdict}", flush=True)
    return 1 if bad else 0


def style(bench, options):
    """checkpatch --strict, and every semantic patch that coccicheck would run, over driver/linux."""
    if shutil.which("spatch") is None:
        raise vm.Unavailable("no spatch (Debian: coccinelle)")
    scripts, folder = vm.kernel_scripts(), os.path.join(ROOT, "driver", "linux")
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith((".c", ".h")))
    # The layout of a tracepoint's macros is the kernel's own, not --strict's: trace.h is checked without it.
    said = ""
    for strict, some in ((["--strict"], [f for f in files if not f.endswith("trace.h")]), ([], [folder + "/trace.h"])):
        said += subprocess.run([os.path.join(scripts, "checkpatch.pl"), "--no-tree", "--no-summary", "--terse", "--quiet",
                                *strict, "-f", *some], capture_output=True, text=True, check=False).stdout
    tried = 0
    for patch in sorted(glob.glob(scripts + "/coccinelle/**/*.cocci", recursive=True)):
        with open(patch, encoding="utf-8") as file:
            if "virtual report" not in file.read():
                continue
        done = subprocess.run(["spatch", "-D", "report", "--very-quiet", "--no-show-diff", "--no-includes",
                               "--include-headers", "--cocci-file", patch, "--dir", folder], capture_output=True, text=True,
                              check=False)
        tried += done.returncode == 0
        said += done.stdout
    verdict = "ok" if tried > 0 and not said.strip() else "\n" + said
    print(f"style    {len(files)} files, {tried} semantic patches: {verdict}", flush=True)
    return 0 if verdict == "ok" else 1


def dkms(bench, options):
    if shutil.which("dkms") is None:
        raise vm.Unavailable("no dkms (Debian: dkms)")
    bad = 0
    for kernel in map(vm.Kernel, options.kernels):
        headers, version = kernel.headers(), kernel.version()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cmake", "--install", options.build, "--component", "kernel", "--prefix", folder], check=True,
                           stdout=subprocess.DEVNULL)
            (name,) = os.listdir(os.path.join(folder, "src"))
            module = name.replace("-", "/", 1)
            trees = ["--dkmstree", make_folder(os.path.join(folder, "tree")), "--sourcetree", os.path.join(folder, "src")]

            def step(what, *more, trees=trees, module=module):
                done = subprocess.run(["dkms", what, *trees, module, *more], capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise Failure(f"dkms {what}: status {done.returncode}\n{done.stdout}{done.stderr}")

            try:
                step("add")
                step("build", "-k", version, "--kernelsourcedir", headers)
                built = [os.path.join(f, n) for f, _, names in os.walk(os.path.join(folder, "tree")) for n in names
                         if n.startswith("offhook.ko")]
                info = subprocess.run(["modinfo", *built], capture_output=True, text=True, check=True).stdout
                lacks = [key for key in ("description", "author", "license", "version", "alias", "vermagic")
                         if not re.search(rf"^{key}:\s+\S", info, re.MULTILINE)]
                step("remove", "--all")
                left = os.path.exists(os.path.join(folder, "tree", module))
                verdict = f"modinfo lacks {lacks}" if lacks else "something is left" if left else "ok"
            except Failure as failure:
                verdict = str(failure)
        bad += verdict != "ok"
        print(f"{kernel.name:8} dkms         {verdict}", flush=True)
    return 1 if bad else 0
