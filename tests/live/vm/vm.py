#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command under Debian's kernel, in a virtual machine that can read this machine's files.

This kernel may lack what a test needs (PPP, a sound card). The machine is QEMU with translation (TCG, no KVM needed),
and boots in seconds. It has no disk image, but the host's root over 9p, read-only, under a tmpfs for all writes. The
command runs as root at the same path as on the host, with the same programs and libraries. Its output and exit status
are those of this program. Files that it leaves in the folder $KEEP are copied to the host (--keep FOLDER).

The guest's clock counts its instructions (-icount). A spinner of the lowest priority runs when nothing else does, so
the clock always advances; with --skip-idle, it jumps to the next timer instead. A busy host makes the guest slower, but
not late by its own clock: a modem call there misses no deadline because of a process here.

Exit status: the command's; 77 without QEMU or the kernel (with the reason); 124 after the time limit.
"""
import argparse
import contextlib
import fcntl
import glob
import lzma
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED, TIME_IS_UP, NO_BOOT = 77, 124, 125
CACHES = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "offhook")
# What Debian 12's archives have, by the metapackage of the newest build.
KERNELS = {"6.1": "linux-image-amd64", "6.1-rt": "linux-image-rt-amd64",
           "6.12": "linux-image-6.12-amd64", "6.12-rt": "linux-image-6.12-rt-amd64"}
# Modules that the initial RAM disk needs until it has the root; modprobe loads all others from the root.
BOOT_MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs none /dev
for module in {modules}; do insmod /modules/$module; done
options=trans=virtio,version=9p2000.L,msize=262144
mkdir /lower /over
mount -t 9p -o ro,cache=loose,$options root /lower && mount -t tmpfs -o size=75% none /over &&
  mkdir /over/upper /over/work && mount -t overlay -o lowerdir=/lower,upperdir=/over/upper,workdir=/over/work none /root ||
  poweroff -f
cd /root
for folder in tmp run dev proc sys mnt lib/modules; do mkdir -p $folder; done
mount -t proc none proc
mount -t sysfs none sys
mount -t tracefs none sys/kernel/tracing
mount -t devtmpfs none dev
mkdir -p dev/pts dev/shm
mount -t devpts -o ptmxmode=666 none dev/pts
ln -s pts/ptmx dev/ptmx 2>/dev/null
for folder in run dev/shm; do mount -t tmpfs none $folder; done
mkdir -m 1777 run/lock
mount -t 9p -o $options keep mnt
mount --bind /lower{modules_folder} lib/modules
exec switch_root /root /bin/sh /mnt/.start
"""
# Only the initial RAM disk until the command ends: a suspended machine must not use the root (9p does not come
# back from it).
INIT_IN_RAM = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin KEEP=/results OFFHOOK_VM=1
mkdir -p /proc /sys /run /tmp /results /mnt
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
sh /command >/results/output 2>&1
echo $? >/results/.status
for module in {modules}; do insmod /modules/$module; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 keep /mnt && cp /results/* /results/.status /mnt
sync
echo o >/proc/sysrq-trigger
sleep 60
"""
# Written for every run: process 1, and the host's environment, folder and command.
START = """ip link set lo up
{spinner}
{process_1}
"""
ALONE = "setsid -w sh /mnt/.command </dev/null >/dev/hvc0 2>&1"
# Masks what systemd would do to the host's files, which takes minutes over 9p and is lost anyway, and the devices
# that exist at the start, because tests plug in their own.
SYSTEMD = """mkdir -p /run/systemd/system
cd /run/systemd/system
for unit in tmpfiles-setup tmpfiles-setup-dev journal-flush sysusers random-seed update-done udev-trigger; do
  ln -s /dev/null systemd-$unit.service
done
cat >command.service <<END
[Unit]
Requires=basic.target
After=basic.target
[Service]
ExecStart=/bin/sh /mnt/.command
StandardOutput=file:/dev/hvc0
StandardError=inherit
END
exec /lib/systemd/systemd --unit=command.service"""
COMMAND = """{environment}
export KEEP=/mnt OFFHOOK_VM=1
cd {folder}
{command}
echo $? >/mnt/.status
sync
echo {off} >/proc/sysrq-trigger
sleep 60
"""
# An instruction takes 2^SHIFT ns of the guest's time.
SHIFT = 2
INSTRUCTION_NS = 1 << SHIFT
# While the guest is idle, its clock is the host's, and is late if QEMU does not get a CPU immediately.
SPINNER = "chrt --idle 0 sh -c 'while :; do :; done' &"


class Unavailable(Exception):
    """What this machine lacks, and how to get it."""


def debian_package(name, into):
    """The files of a Debian package, unpacked into a folder; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        got = subprocess.run(["apt-get", "-q", "download", name], cwd=folder, capture_output=True, text=True, check=False)
        if got.returncode != 0:
            raise Unavailable(f"apt-get download {name}: {got.stderr.strip().splitlines()[-1:]}; try apt-get update")
        subprocess.run(["dpkg", "-x", *glob.glob(folder + "/*.deb"), into], check=True)


def kernel_scripts():
    """@return the folder with checkpatch.pl and the semantic patches of Debian's kernel 6.1, fetched once, 139 MB"""
    folder = os.path.join(CACHES, "linux-scripts")
    os.makedirs(CACHES, exist_ok=True)
    with open(folder + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(folder):
            print(f"[vm] fetching the scripts of Debian's linux-source-6.1 into {folder}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(dir=CACHES) as new:
                debian_package("linux-source-6.1", new)
                wanted = ["checkpatch.pl", "spelling.txt", "const_structs.checkpatch", "coccinelle/*"]
                subprocess.run(["tar", "-xJf", new + "/usr/src/linux-source-6.1.tar.xz", "-C", new, "--wildcards",
                                *("*/scripts/" + name for name in wanted)], check=True)
                os.rename(new + "/linux-source-6.1/scripts", folder)
    return folder


class Kernel:
    """One of Debian's kernels in the cache: /vmlinux, /lib/modules and busybox, with its headers beside."""

    off = "o"  # the sysrq key that ends the machine
    checks = ""  # shell commands that make the kernel's log print its findings, after a run of bench.py
    tests = None  # the folder of tests that are part of the module

    def __init__(self, name):
        self.name = name
        self.cache = os.path.join(CACHES, "vm-" + name)
        self.headers_cache = self.cache + "-headers"
        self.failure = self.cache + ".failed"  # why it could not be fetched

    def version(self):
        (version,) = os.listdir(self.cache + "/lib/modules")
        return version

    def package(self):
        """@return the package to which the metapackage refers now"""
        meta = KERNELS[self.name]
        shown = subprocess.run(["apt-cache", "depends", meta], capture_output=True, text=True, check=False)
        names = [w for w in shown.stdout.split() if w.startswith("linux-image-") and w[12].isdigit() and w != meta]
        if not names:
            raise Unavailable(f"apt knows no {meta}; it takes Debian on x86-64, and apt-get update")
        return names[0]

    def fetch(self):
        """Everything or nothing, once."""
        os.makedirs(CACHES, exist_ok=True)
        with open(self.cache + ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                if not os.path.exists(self.cache):
                    self._fetch_kernel()
                if not os.path.exists(self.headers_cache):
                    self._fetch_headers()
            except (Unavailable, OSError, subprocess.CalledProcessError) as why:
                with open(self.failure, "w", encoding="utf-8") as file:
                    file.write(str(why))
                raise Unavailable(str(why)) from why
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.failure)

    def lacks(self, what):
        """@return what is missing, why an attempted fetch failed, and the command that fetches it"""
        tried = ""
        with contextlib.suppress(FileNotFoundError), open(self.failure, encoding="utf-8") as file:
            tried = f" (fetching failed: {file.read()})"
        return Unavailable(f"no {what}{tried}; `./dev vm --kernel {self.name} true` fetches it")

    def _fetch_kernel(self):
        print(f"[vm] fetching Debian's kernel {self.name} into {self.cache}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=CACHES) as folder:
            new = os.path.join(folder, "new")
            debian_package(self.package(), new)
            debian_package("busybox-static", new)
            (image,) = glob.glob(new + "/boot/vmlinuz-*")
            with open(image, "rb") as file, open(new + "/vmlinux", "wb") as out:
                out.write(uncompressed(file.read()))
            subprocess.run(["depmod", "-b", new, os.path.basename(image)[len("vmlinuz-"):]], check=True)
            os.rename(new, self.cache)

    def _fetch_headers(self):
        """Headers and tools to build modules for that kernel."""
        print(f"[vm] fetching its headers into {self.headers_cache}", file=sys.stderr, flush=True)
        version = self.version()
        with tempfile.TemporaryDirectory(dir=CACHES) as folder:
            new = os.path.join(folder, "new")
            base, flavour = re.fullmatch(r"(.+?)-((?:rt-)?amd64)", version).groups()
            common = base + "-common" + ("-rt" if flavour.startswith("rt-") else "")
            for name in (version, common):
                debian_package("linux-headers-" + name, new)
            # The tools of 6.1 fit all builds of 6.1; each build of 6.12 has its own.
            kbuild = ".".join(version.split(".")[:2]) if version.startswith("6.1.") else base
            debian_package("linux-kbuild-" + kbuild, new)
            for makefile in glob.glob(f"{new}/usr/src/linux-headers-*/Makefile"):  # one line: include the common one
                with open(makefile, encoding="ascii") as file:
                    text = file.read().replace(" /usr/src/", f" {self.headers_cache}/usr/src/")
                with open(makefile, "w", encoding="ascii") as file:
                    file.write(text)
            for link in glob.glob(f"{new}/usr/src/linux-headers-*/*"):  # path to the tools, absolute
                if os.path.islink(link) and os.readlink(link).startswith("/"):
                    target = self.headers_cache + os.readlink(link)
                    os.unlink(link)
                    os.symlink(target, link)
            os.rename(new, self.headers_cache)

    def headers(self):
        """@return the folder for `make -C`; Unavailable explains what is missing."""
        if not os.path.exists(self.cache) or not os.path.exists(self.headers_cache):
            raise self.lacks(f"kernel headers in {self.headers_cache}")
        return f"{self.headers_cache}/usr/src/linux-headers-{self.version()}"

    def machine(self, fetch):
        """@return QEMU's path. The kernel is then in the cache; Unavailable explains what is missing."""
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        for tool in ("qemu-system-x86_64", "modprobe", "depmod"):
            if shutil.which(tool) is None:
                raise Unavailable(f"no {tool}; `./dev vm true` installs it")
        if fetch:
            self.fetch()
        elif not os.path.exists(self.cache):
            raise self.lacks(f"kernel in {self.cache} (72 MB or 107 MB, 430 MB unpacked)")
        return shutil.which("qemu-system-x86_64")

    def initial_ram_disk(self, ram=(), command=""):
        """@param ram  additional files, at their paths  @return busybox, the modules that find the root, and INIT, or
        with files INIT_IN_RAM, which runs the command."""
        shown = subprocess.run(["modprobe", "-d", self.cache, "-S", self.version(), "--show-depends", "-a", *BOOT_MODULES],
                               capture_output=True, text=True, check=True)
        modules = dict.fromkeys(line.split()[1] for line in shown.stdout.splitlines() if line.startswith("insmod"))
        entries = [(name, 0o40755, b"") for name in ("bin", "dev", "modules", "root")]
        names = [os.path.basename(m).removesuffix(".xz") for m in modules]
        paths = [(self.cache + "/bin/busybox", "bin/busybox"), *zip(modules, ("modules/" + n for n in names), strict=True)]
        for path, name in paths:
            with (lzma.open if path.endswith(".xz") else open)(path, "rb") as file:
                entries.append((name, 0o100755, file.read()))
        init = (INIT_IN_RAM if ram else INIT).format(modules=" ".join(names), modules_folder=self.cache + "/lib/modules")
        folders = {parent for path in ram for parent in pathlib.PurePath(path).parents}
        entries += [(str(folder)[1:], 0o40755, b"") for folder in sorted(folders) if str(folder) != "/"]
        for path in ram:
            with open(path, "rb") as file:
                entries.append((path[1:], 0o100755, file.read()))
        return cpio([*entries, ("command", 0o100755, command.encode()), ("init", 0o100755, init.encode())])


def with_libraries(program):
    """@return the paths of the program and of all its shared libraries"""
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [program, *(word for line in shown.splitlines() for word in line.split() if word.startswith("/"))]


def uncompressed(image):
    """@return the ELF image in a bzImage, which QEMU starts by its PVH entry, without minutes of unpacking"""
    start = image.find(b"\xfd7zXZ\0")
    if start >= 0:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(image[start:])
    start = image.find(b"\x28\xb5\x2f\xfd")
    if start < 0 or shutil.which("zstd") is None:
        raise Unavailable("the kernel's image holds no xz stream, and no zstd one or there is no zstd to unpack it")
    # The stream is followed by other data, which zstd reports by its status after it has unpacked everything.
    done = subprocess.run(["zstd", "-dc"], input=image[start:], capture_output=True, check=False)
    if not done.stdout.startswith(b"\x7fELF"):
        raise Unavailable("the kernel's image could not be unpacked: " + done.stderr.decode(errors="replace"))
    return done.stdout


def cpio(entries):
    """@return a cpio archive (newc) of (name, mode, content)."""
    out = bytearray()
    for inode, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")]):
        fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
        out += bytes(-len(out) % 4) + content
        out += bytes(-len(out) % 4)
    return bytes(out)


def run(kernel, qemu, command, keep, seconds=600, cpus=None, icount=str(SHIFT), systemd=False, card=None, boot="", pacer=False,
        ram=(), skip_idle=False):
    """@param cpus  number on the host's clock; None: one, by instruction count  @param pacer  a second CPU on the same clock, for the
    card's hardware (pacer/pacer.c)  @param card  (socket, file of the guest's memory) of `offhook line card`  @param boot  further
    words for the kernel's command line  @param ram  files: the command runs from the initial RAM disk with busybox and these; its
    output is in `output` next to the files in $KEEP  @param skip_idle  no spinner: the clock of an idle guest jumps to its next timer
    @return the exit status"""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "TERM")
    environment = "\n".join(f"export {n}={shlex.quote(os.environ[n])}" for n in names if n in os.environ)
    status = os.path.join(keep, ".status")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(status)
    with open(os.path.join(keep, ".start"), "w", encoding="utf-8") as file:
        file.write(START.format(spinner="" if cpus or pacer or skip_idle else SPINNER, process_1=SYSTEMD if systemd else ALONE))
    with open(os.path.join(keep, ".command"), "w", encoding="utf-8") as file:
        file.write(COMMAND.format(environment=environment, folder=shlex.quote(os.getcwd()), command=shlex.join(command),
                                  off=kernel.off))
    initrd = os.path.join(keep, ".initrd")
    with open(initrd, "wb") as file:
        file.write(kernel.initial_ram_disk(ram, shlex.join(command)))
    kernel_log = os.path.join(keep, "kernel.log")
    share = "local,security_model=none,multidevs=remap"
    if pacer:
        boot += " isolcpus=domain,managed_irq,1 irqaffinity=0"
    # The counter counts every round of a repeated string instruction as one: clearing memory by single bytes
    # would cost eight times what it should.
    arguments = [
        qemu, "-machine", "q35,accel=tcg", "-cpu", "max,erms=off,fsrm=off", "-m", "1024", "-nodefaults", "-display", "none", "-no-reboot",
        "-kernel", kernel.cache + "/vmlinux", "-initrd", initrd,
        "-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable random.trust_cpu=on " + boot,
        "-serial", "file:" + kernel_log,
        "-fsdev", f"{share},id=root,path=/,readonly=on", "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
        "-fsdev", f"{share},id=keep,path={keep}", "-device", "virtio-9p-pci,fsdev=keep,mount_tag=keep",
        "-audiodev", "none,id=sound", "-device", "qemu-xhci", "-device", "usb-audio,audiodev=sound",  # for xhci_pci
        "-device", "virtio-serial-pci", "-chardev", "stdio,id=out,signal=off", "-device", "virtconsole,chardev=out"]
    # sleep=off: nothing outside has a clock. If all wait, time jumps to the next event.
    arguments += ["-smp", str(cpus)] if cpus else ["-icount", f"shift={icount}{',sleep=off' if pacer or skip_idle else ''}"]
    if pacer:
        arguments += ["-smp", "2"]
    if card:
        socket, ram = card
        arguments[arguments.index("q35,accel=tcg")] += ",memory-backend=ram"
        arguments += ["-object", f"memory-backend-file,id=ram,size=1024M,mem-path={ram},share=on",
                      "-chardev", f"socket,path={socket},id=card", "-device", "ivshmem-doorbell,vectors=2,chardev=card"]
    qemu_process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, preexec_fn=lambda: os.nice(10))
    try:
        qemu_process.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"[vm] the time limit of {seconds} s is up", file=sys.stderr)
        return TIME_IS_UP
    finally:
        qemu_process.kill()
        qemu_process.wait()
    try:
        with open(status, encoding="ascii") as file:
            return int(file.read())
    except (FileNotFoundError, ValueError):
        with open(kernel_log, encoding="utf-8", errors="replace") as file:
            print("".join(file.readlines()[-40:]), "\n[vm] the machine ended before the command did", file=sys.stderr)
        return NO_BOOT


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="download the kernel when the cache has none")
    parser.add_argument("--kernel", choices=KERNELS, default="6.1", help="which of Debian's (default 6.1)")
    parser.add_argument("--seconds", type=float, default=600, help="time limit in this machine's time (default 600)")
    parser.add_argument("--keep", help="folder of the host that the guest sees as $KEEP; kernel.log goes there too")
    parser.add_argument("--cpus", type=int, help="so many CPUs, on the host's clock instead of the instruction count")
    parser.add_argument("--shift", default=str(SHIFT), help=f"an instruction takes 2^SHIFT ns of the guest's time (default {SHIFT})")
    parser.add_argument("--skip-idle", action="store_true", help="an idle guest's clock jumps to its next timer")
    parser.add_argument("--systemd", action="store_true", help="systemd is process 1 and starts the command")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run, e.g. uname -a")
    options = parser.parse_args()
    if not options.command:
        parser.error("a command is expected")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        kernel = Kernel(options.kernel)
        qemu = kernel.machine(options.fetch)
    except Unavailable as why:
        print("SKIPPED:", why)
        return SKIPPED
    with contextlib.ExitStack() as stack:
        keep = os.path.abspath(options.keep) if options.keep else stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(keep, exist_ok=True)
        return run(kernel, qemu, options.command, keep, options.seconds, options.cpus, options.shift, options.systemd,
                   skip_idle=options.skip_idle)


if __name__ == "__main__":
    sys.exit(main())
