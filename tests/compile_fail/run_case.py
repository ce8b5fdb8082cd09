#!/usr/bin/env python3
"""Compiles one case of misuse both ways and fails unless the compiler tells them apart.

usage: run_case.py CASE.cc -- COMPILER FLAG...

The case compiles as it is. With REMIT_BAD defined it must be refused, and the compiler's words must
match the regular expression on the case's line `// refused: ...`, so that another error (a missing
header, a slip of the pen) does not pass for the refusal.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def main(arguments):
    case, separator, *command = arguments
    if separator != "--" or not command:
        sys.exit(__doc__)
    expected = re.search(r"^// refused: (.+)$", Path(case).read_text(), re.MULTILINE)
    if expected is None:
        sys.exit(f"{case}: has no line `// refused: PATTERN`")
    environment = dict(os.environ, LC_ALL="C")
    good = subprocess.run([*command, case], capture_output=True, text=True, env=environment)
    if good.returncode != 0:
        sys.exit(f"{case}: the good variant does not compile\n{good.stderr}")
    bad = subprocess.run([*command, "-DREMIT_BAD", case], capture_output=True, text=True,
                         env=environment)
    if bad.returncode == 0:
        sys.exit(f"{case}: the bad variant compiles")
    if re.search(expected[1], bad.stderr) is None:
        sys.exit(f"{case}: refused, but not with /{expected[1]}/\n{bad.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
