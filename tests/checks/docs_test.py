"""Tests of scripts/check_docs."""

import unittest

from run_check import CheckTest

PAGE = """# A page

## Which one, *and* why

See [the other](docs/b.md#part-two), [below](#which-one-and-why), `src/json/a.h::part`, but not
`src/<folder>/x.h`, `tests/*/a`, `not/a/path` or [elsewhere](https://example.org/).

```
[fenced](nowhere.md) `src/nowhere.h`
```
"""


class DocsTest(CheckTest):
    check = "check_docs"
    sound = {"a.md": PAGE, "docs/b.md": "# B\n\n## Part two\n\n[up](../a.md)\n",
             "src/json/a.h": "\n"}

    def test_sound_pages_pass(self):
        self.assert_passes(self.sound)

    def test_what_does_not_exist(self):
        for line, message in {
                "[x](nowhere.md)": "the link leads nowhere: nowhere.md",
                "[x](docs/b.md#part-three)": "no such heading: docs/b.md#part-three",
                "[x](#nothing)": "no such heading: #nothing",
                "`src/json/b.h`": "does not exist: src/json/b.h",
                "`src/json/b.h::part`": "does not exist: src/json/b.h::part"}.items():
            with self.subTest(line=line):
                self.assert_fails({**self.sound, "a.md": PAGE + line + "\n"}, "a.md:11: " + message)

    def test_no_page_is_a_failure(self):
        self.assert_fails({"src/json/a.h": "\n"}, "found nothing to check")


if __name__ == "__main__":
    unittest.main()
