"""The files that a check looks at, and how it reports what it finds."""

import os
import subprocess
import sys
from pathlib import Path

SKIPPED_FOLDERS = {".git", "build", "target", "node_modules", "__pycache__"}


def tracked_files(root):
    """Relative paths of the files that belong to the project, sorted.

    In a git work tree: what git tracks or would add. Elsewhere (the trees that the tests make):
    every file outside build folders.
    """
    root = Path(root)
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"],
            check=True, capture_output=True).stdout
        names = {name for name in listed.decode().split("\0") if name}
        return sorted(name for name in names if (root / name).is_file())
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [str((Path(folder) / name).relative_to(root)) for name in names]
    return sorted(found)


def read_text(path):
    """The file's text, or None where it is not UTF-8 text (an archive, a corpus entry)."""
    try:
        text = Path(path).read_bytes().decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def report(check, findings, checked, noun="files"):
    """Prints `findings` (place, message) and a closing line; returns the exit code."""
    for place, message in findings:
        print(f"{place}: {message}", file=sys.stderr)
    if findings:
        print(f"{check}: {len(findings)} findings", file=sys.stderr)
        return 1
    if checked == 0:
        print(f"{check}: found nothing to check, which is a failure", file=sys.stderr)
        return 1
    print(f"{check}: {checked} {noun}, no findings")
    return 0
