"""Collects what the image holds: Python, the environment with Podium in it, and what they link to.

    python image_root.py /image

Runs in the first stage of the Dockerfile. An image with a whole Debian under it is half as large
again, and nothing of that is ever used: no shell, no package manager, no tools. What is collected
starts with two folders and follows shared libraries from there, as the loader would.
"""

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ENVIRONMENT = Path("/opt/podium")
PREFIX = Path(sys.base_prefix)
LIBRARY = Path(sysconfig.get_path("stdlib"))
UNUSED_MODULES = (
    *("ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages", "test", "tests"),
    *("tkinter", "turtledemo", "turtle.py", "__pycache__"),
)
UNUSED_FILES = ("*.a", "*.pyi", "*.pxd", "*.h", "_tkinter.*", "_test*.so", "config-*")
UNUSED_FOLDERS = ("tests", "f2py", "__pycache__", "include")
"""Of packages in the environment."""
SYSTEM = (
    *("/etc/ssl", "/usr/lib/ssl", "/usr/share/ca-certificates", "/usr/share/zoneinfo"),
    *("/etc/nsswitch.conf", "/etc/protocols", "/etc/services", "/etc/os-release"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/usr/lib/os-release"),
)
USER = 65532


def main(root: Path) -> None:
    # Debian's folders in /usr, and the links to them that its paths go through.
    for name in ("lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    copy_python(root)
    ignore = shutil.ignore_patterns(*UNUSED_FILES, *UNUSED_FOLDERS)
    shutil.copytree(ENVIRONMENT, within(root, ENVIRONMENT), symlinks=True, ignore=ignore)
    for name in SYSTEM:
        copy(root, Path(name))
    for library in linked_libraries(root):
        copy_file(root, library)
    strip_symbols(root)
    compileall.compile_dir(
        root,
        quiet=1,
        stripdir=root,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    write_user(root)
    subprocess.run(["ldconfig", "-r", root], check=True)


def within(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def copy_python(root: Path) -> None:
    ignore = shutil.ignore_patterns(*UNUSED_MODULES, *UNUSED_FILES)
    shutil.copytree(LIBRARY, within(root, LIBRARY), symlinks=True, ignore=ignore)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    binaries = within(root, PREFIX) / "bin"
    binaries.mkdir(parents=True)
    shutil.copy2(PREFIX / "bin" / version, binaries)
    for name in ("python3", "python"):
        (binaries / name).symlink_to(version)


def copy(root: Path, source: Path) -> None:
    if not source.exists():
        return
    target = within(root, source)
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        # Time zones once more, with leap seconds and as they are, which nobody reads.
        ignore = shutil.ignore_patterns("right", "posix")
        shutil.copytree(source, target, symlinks=True, ignore=ignore, dirs_exist_ok=True)
    else:
        copy_file(root, source)


def copy_file(root: Path, source: Path) -> None:
    """The file itself, under each name that leads to it."""
    target = within(root, Path(os.path.realpath(source.parent), source.name))
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy2(source, target)


def linked_libraries(root: Path) -> Iterator[Path]:
    """What binaries in the root are linked to, as the loader of this system finds it."""
    binaries = [within(root, PREFIX) / "bin" / "python3", *shared_objects(root)]
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False).stdout
    found = re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", listed, re.MULTILINE)
    for name in sorted({*found}):
        if not Path(name).is_relative_to(root):
            yield Path(name)


def shared_objects(root: Path) -> list[Path]:
    found = (path for path in root.rglob("*.so*") if re.search(r"\.so(\.\d+)*$", path.name))
    return [path for path in found if path.is_file() and not path.is_symlink()]


def strip_symbols(root: Path) -> None:
    """Take out what only debuggers read. Debian's libraries have none of it, and those that wheels
    bring along (`*.libs`) were rewritten in a way that is not made for it."""
    ours = (*shared_objects(within(root, PREFIX)), *shared_objects(within(root, ENVIRONMENT)))
    chosen = [path for path in ours if not path.parent.name.endswith(".libs")]
    subprocess.run(["strip", "--strip-unneeded", *chosen], check=True)


def write_user(root: Path) -> None:
    (root / "etc" / "passwd").write_text(
        f"root:x:0:0:root:/root:/nonexistent\npodium:x:{USER}:{USER}:Podium:/tmp:/nonexistent\n"
    )
    (root / "etc" / "group").write_text(f"root:x:0:\npodium:x:{USER}:\n")
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
