#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the current commit's Debian packages, and tests them in a chroot: `./dev package [again|arm64|try]`.

package.py build     source and binary packages and a tarball into out/packages; lintian, and what must not be in them
package.py again     the same commit without ccache, at another place, by another clock and umask: identical bytes
package.py arm64     across, in a chroot of Debian 12, into out/packages; the unit tests of the packages' objects and a
                     call of the installed program under qemu-aarch64
package.py try       mmdebstrap, apt install ./*.deb, autopkgtest, apt purge: the files are then as before
package.py version [PROGRAM]
                     compares the version of CMakeLists.txt with debian/, CITATION.cff and pyproject.toml, and with the
                     program's output: --version, man pages, pages
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "out/packages"
STAGE = ROOT / "build/package"
SUITE = "bookworm"
LIMIT_ARCHIVE = 12_000_000


def say(text):
    print(f"[package] {text}", flush=True)


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], check=False, **options)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(str(c) for c in command)} ended with {done.returncode}")
    return done.stdout


def version():
    """@return the version of CMakeLists.txt"""
    return re.search(r"project\(offhook VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def must_equal(place, found, expected):
    if found != expected:
        sys.exit(f"error: {place} has version {found}; expected that of CMakeLists.txt, {expected}")


def check_versions_of_files():
    """debian/changelog, CITATION.cff, pyproject.toml and CHANGELOG.md; no symbol is newer than the version."""
    expected = version()
    must_equal("debian/changelog", re.match(r"offhook \((\S+?)(?:-\S+)?\)", (ROOT / "debian/changelog").read_text())[1], expected)
    must_equal("CITATION.cff", re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1], expected)
    pattern = re.search(r"^regex = '(.*)'$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    must_equal("pyproject.toml", re.search(pattern, (ROOT / "CMakeLists.txt").read_text())["value"], expected)
    heading = re.search(r"^## ([^,\n]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    if heading != "Unreleased":
        must_equal("CHANGELOG.md", heading, expected)
    numbers = [int(n) for n in expected.split(".")]
    for file in sorted((ROOT / "debian").glob("*.symbols")):
        for symbol, since in re.findall(r"^ (\S+)@Base (\S+)$", file.read_text(), re.MULTILINE):
            if [int(n) for n in since.split(".")] > numbers:
                sys.exit(f"error: {file.name}: {symbol} is of version {since}, which is later than {expected}")


def check_versions_of_program(program):
    """--version, the man pages of both sections, and the footer of a page."""
    expected = version()

    def printed(*arguments):
        return run(program, *arguments, stdout=subprocess.PIPE, text=True)

    must_equal("offhook --version", printed("--version").split()[1], expected)
    with tempfile.TemporaryDirectory() as folder:
        printed("help", "man", "--out", folder)
        pages = sorted(pathlib.Path(folder).rglob("offhook*.[15]"))
        if not {".1", ".5"} <= {page.suffix for page in pages}:
            sys.exit("error: offhook help man wrote no pages of section 1 or 5")
        for page in pages:
            must_equal(page.name, re.search(r'"offhook (\S+?)"', page.read_text())[1], expected)
        page = pathlib.Path(folder) / "page.html"
        printed("schedule", ROOT / "examples/system.json", "--html", page)
        must_equal("a page", re.search(r'"made_by":"Offhook ([\d.]+)', page.read_text())[1], expected)


def staged(stage, commit):
    """A commit as separate files, so that a build there cannot use uncommitted changes.

    @param stage  folder, whose files are removed  @return the tree in it
    """
    for old in stage.glob("*"):
        if old.is_file():
            old.unlink()
    tree = stage / f"offhook-{version()}"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = run("git", "-C", ROOT, "archive", commit, stdout=subprocess.PIPE)
    run("tar", "-x", "-C", tree, input=archive)
    original = run(
        *("tar", "--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=go=rX,u+rw,a-s"),
        *(f"--mtime=@{when_of(commit)}", "--exclude", f"{tree.name}/debian", "-C", stage, tree.name),
        stdout=subprocess.PIPE,
    )
    packed = run("gzip", "--no-name", "--best", input=original, stdout=subprocess.PIPE)
    (stage / f"offhook_{version()}.orig.tar.gz").write_bytes(packed)
    return tree


def when_of(commit):
    return run("git", "-C", ROOT, "log", "-1", "--format=%ct", commit, stdout=subprocess.PIPE, text=True).strip()


def environment_of(commit):
    """CCACHE_BASEDIR would make paths in debug information relative. With LAUNCHER=ccache they are unchanged."""
    own = {name: value for name, value in os.environ.items() if name not in ("CCACHE_BASEDIR", "CCACHE_NOHASHDIR", "LAUNCHER")}
    return {"DEB_BUILD_OPTIONS": f"parallel={os.cpu_count()}", **own, "SOURCE_DATE_EPOCH": when_of(commit)}


def launcher():
    """ccache, if it is installed: a build of the same commit with a changed manual then takes a few minutes."""
    if not shutil.which("ccache"):
        return {}
    cache = run("ccache", "--get-config", "cache_dir", stdout=subprocess.PIPE, text=True).strip()
    return {"LAUNCHER": "ccache", "CCACHE_DIR": cache}  # debhelper sets another HOME for the build


def committed():
    if subprocess.run(["git", "-C", ROOT, "status", "--porcelain"], capture_output=True, text=True, check=True).stdout:
        say("note: what is not committed is not in the packages")
    return run("git", "-C", ROOT, "rev-parse", "HEAD", stdout=subprocess.PIPE, text=True).strip()


def build():
    check_versions_of_files()
    commit = committed()
    tree = staged(STAGE, commit)
    name = tree.name
    say(f"building {name}")
    run("dpkg-buildpackage", "-us", "-uc", "-F", cwd=tree, env={**environment_of(commit), **launcher()})
    (STAGE / "commit").write_text(commit + "\n")
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    for file in sorted({*tree.parent.glob("offhook_*"), *tree.parent.glob("*.deb")}):
        shutil.move(file, OUT / file.name)
    tarball(tree, name)
    say("lintian")
    run("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", *OUT.glob("*.changes"))
    no_path_inside(tree)
    archives_have_targets(tree)
    for file in sorted(OUT.iterdir()):
        say(f"{file.stat().st_size:>10} {file.relative_to(ROOT)}")


def tarball(tree, name):
    """The program with its data in one folder, for a machine without Debian's packages."""
    arch = run("dpkg", "--print-architecture", stdout=subprocess.PIPE, text=True).strip()
    target = OUT / f"{name}-linux-{arch}.tar.gz"
    run("cpack", "-G", "TGZ", "-B", tree.parent / "cpack", cwd=tree / "build/debian", stdout=subprocess.DEVNULL)
    shutil.move(next((tree.parent / "cpack").glob("*.tar.gz")), target)


def no_path_inside(tree, packages="*.deb", path=str(ROOT)):
    """A package that contains the path of its build differs from one that was built elsewhere."""
    for package in sorted(OUT.glob(packages)):
        folder = tree.parent / "inside"
        shutil.rmtree(folder, ignore_errors=True)
        run("dpkg-deb", "-x", package, folder)
        for file in folder.rglob("*"):
            if file.is_file() and not file.is_symlink() and path.encode() in file.read_bytes():
                sys.exit(f"error: {package.name}: {file.relative_to(folder)} has the path of the build in it")
        shutil.rmtree(folder)


def archives_have_targets(tree):
    """Each static library of liboffhook-dev is in a targets file of its CMake package, and the reverse; none is huge."""
    folder = tree.parent / "inside"
    run("dpkg-deb", "-x", next(OUT.glob("liboffhook-dev_*.deb")), folder)
    archives = {file.name: file.stat().st_size for file in folder.rglob("*.a")}
    named = set()
    for file in folder.rglob("Offhook*Targets-*.cmake"):
        named |= set(re.findall(r"/(lib[\w.-]+\.a)\"", file.read_text()))
    shutil.rmtree(folder)
    if set(archives) != named:
        sys.exit(f"error: liboffhook-dev: static libraries and targets differ: {' '.join(sorted(set(archives) ^ named))}")
    huge = [name for name, size in archives.items() if size > LIMIT_ARCHIVE]
    if huge:
        sys.exit(f"error: liboffhook-dev: {' '.join(huge)}: larger than {LIMIT_ARCHIVE} bytes")


def again():
    """Without ccache, at another path, with another umask, time zone, language and clock: the bytes must be identical."""
    if not (STAGE / "commit").is_file():
        sys.exit("error: there is nothing to compare with; expected ./dev package before")
    commit = (STAGE / "commit").read_text().strip()
    stage = STAGE / "again"
    tree = staged(stage, commit)
    environment = {**environment_of(commit), "TZ": "Asia/Kathmandu", "LC_ALL": "C", "HOME": "/nonexistent"}
    say(f"building {tree.name} once more")
    run("dpkg-buildpackage", "-us", "-uc", "-F", cwd=tree, env=environment, umask=0o002)
    differ = []
    for file in sorted([*OUT.glob("*.deb"), *OUT.glob("*.dsc"), *OUT.glob("offhook_*.tar.*")]):
        if file.name.endswith("_arm64.deb"):
            continue
        same = file.read_bytes() == (stage / file.name).read_bytes()
        say(f"{'same bytes' if same else 'OTHER BYTES':11} {hashlib.sha256(file.read_bytes()).hexdigest()[:16]} {file.name}")
        if not same:
            differ.append(file.name)
    if differ:
        sys.exit(f"error: {', '.join(differ)}: other bytes than in out/packages; look with diffoscope")


TRY = r"""
set -eu
export DEBIAN_FRONTEND=noninteractive
# What was there, without what any apt run changes.
list() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/cache -o -path /var/lib/apt \
    -o -path /var/log -o -path /var/lib/dpkg -o -path /run -o -path /packages \) -prune -o -print | sort
}
export LC_ALL=C.UTF-8
apt-get install -qq --no-install-recommends autopkgtest gcc libc6-dev pkg-config >/dev/null
list >/tmp/before
apt-get install -qq --no-install-recommends /packages/offhook_*.deb /packages/liboffhook*0_*.deb \
  /packages/liboffhook-dev_*.deb /packages/python3-offhook_*.deb >/dev/null
autopkgtest --no-built-binaries /packages/tree -- null
apt-get purge -qq offhook liboffhook0 liboffhook-simulator0 liboffhook-dev python3-offhook >/dev/null
apt-get autoremove -qq --purge >/dev/null
list >/tmp/after
# ldconfig's cache and Python's compiled modules are their packages' affair.
if diff /tmp/before /tmp/after | grep '^[<>].*offhook'; then echo "error: purged, and that is left"; exit 1; fi
dpkg -l | grep offhook && exit 1
echo "installed, used, purged: nothing of offhook is left, $(diff /tmp/before /tmp/after | grep -c '^>' || true) files of others"
"""


def try_packages():
    if not list(OUT.glob("offhook_*.deb")):
        sys.exit("error: there is nothing in out/packages; expected ./dev package before")
    chroot = ROOT / "build/package/try"
    shutil.rmtree(chroot, ignore_errors=True)
    (chroot / "tree").mkdir(parents=True)
    arch = run("dpkg", "--print-architecture", stdout=subprocess.PIPE, text=True).strip()
    for package in OUT.glob(f"*_{arch}.deb"):
        shutil.copy(package, chroot)
    shutil.copytree(ROOT / "debian", chroot / "tree/debian")  # what autopkgtest reads
    (chroot / "try.sh").write_text(TRY)
    say(f"a chroot of {SUITE}, and the packages in it")
    run(
        "mmdebstrap",
        "--variant=apt",
        "--quiet",
        f"--customize-hook=copy-in {chroot} /",
        '--customize-hook=mv "$1"/try "$1"/packages',
        '--customize-hook=chroot "$1" sh /packages/try.sh',
        SUITE,
        "/dev/null",
    )


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "build"
    if what == "build":
        build()
    elif what == "again":
        again()
    elif what == "try":
        try_packages()
    elif what == "version":
        check_versions_of_files()
        if len(sys.argv) > 2:
            check_versions_of_program(sys.argv[2])
        print(version())
    else:
        sys.exit(f"error: '{what}' is not build, again, arm64, try or version")


if __name__ == "__main__":
    main()
