#!/usr/bin/env python3
"""Golden tests of the program: each folder of cases/ is copied, its `command` run in it, and exit code,
standard output and standard error compared with its `expected`.

    run.py REMIT [--update] [CASE...]

`command` is a line for sh, in which $REMIT is the program, $BIN the folder it stands in and $DESK the invoice desk.
In both outputs ids and times that differ from run to run are replaced: see VARYING. The last case,
`harness_must_fail`, has a wrong expectation on purpose: the run fails if it passes.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DESK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "invoice_desk"
CASES = pathlib.Path(__file__).parent / "cases"
MUST_FAIL = "harness_must_fail"
VARYING = [
    (re.compile(r"\b[a-z2-7]{26}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<name>"),
    (re.compile(r"hmac-sha256:[0-9a-f]{64}"), "hmac-sha256:<digest>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r'"duration_us":\d+'), '"duration_us":<n>'),
    (re.compile(r"(remit-head-1:[^:]*:[^:]*:)[0-9a-f]{64}"), r"\1<digest>"),
]


def observe(case, remit):
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place) / "case"
        shutil.copytree(case, copy)
        subprocess.run(["chmod", "-R", "go-w", str(copy)], check=True)
        environment = {**os.environ, "REMIT": str(remit), "BIN": str(remit.parent), "DESK": str(DESK),
                       "LC_ALL": "C"}
        ran = subprocess.run(
            ["sh", "-c", (case / "command").read_text()], cwd=copy, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        text = f"exit {ran.returncode}\n--- stdout\n{ran.stdout}--- stderr\n{ran.stderr}"
        text = text.replace(str(copy), "<case>").replace(str(remit), "remit")
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


def main():
    os.umask(0o022)  # Files that others may write are refused, and cases make files.
    words = sys.argv[1:]
    update = "--update" in words
    words = [word for word in words if word != "--update"]
    remit = pathlib.Path(words[0]).resolve()
    chosen = words[1:] or sorted(path.name for path in CASES.iterdir())
    failed = []
    for name in chosen:
        seen = observe(CASES / name, remit)
        expected_file = CASES / name / "expected"
        expected = expected_file.read_text() if expected_file.exists() else ""
        if update and name != MUST_FAIL:
            expected_file.write_text(seen)
            continue
        if (seen == expected) == (name == MUST_FAIL):
            failed.append(name)
            print(f"{name}: differs" if name != MUST_FAIL else f"{name}: a wrong expectation was accepted")
            print("".join(difflib.unified_diff(
                expected.splitlines(keepends=True), seen.splitlines(keepends=True), "expected", "seen")))
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not chosen else 0


sys.exit(main())
