"""Tests of scripts/check_layers: one small tree for each way in which an include can be wrong."""

import unittest

from run_check import CheckTest

LAYERS = "# a comment\n0 base:\n1 json: base\n2 event: base json\n"
THIRD_PARTY = "fmt/: *\nsimdjson.h: json\nsqlite3.h: event\ngtest/: tests\nbenchmark/: bench\n"


def house(**changes):
    """A tree that passes, with `changes` to it: keys are paths with `__` for `/`."""
    files = {
        "scripts/layers.txt": LAYERS,
        "scripts/third_party.txt": THIRD_PARTY,
        "src/base/a.h": "#include <vector>\n#include <sys/stat.h>\n#include <fmt/core.h>\n",
        "src/json/b.h": '#include "base/a.h"\n#include "json/c.h"\n',
        "src/json/c.h": "#include <simdjson.h>\n",
        "src/event/d.cc": '#include "json/b.h"\n#include <sqlite3.h>\n',
        "src/event/d_test.cc": '#include <gtest/gtest.h>\n#include "tests/support/e.h"\n',
        "src/event/d_bench.cc": "#include <benchmark/benchmark.h>\n",
        "tests/support/e.h": "\n",
        "include/remit/f.h": "#include <string>\n",
    }
    files.update(changes)
    return files


class LayersTest(CheckTest):
    check = "check_layers"

    def test_a_sound_tree_passes(self):
        self.assert_passes(house())

    def test_comments_and_texts_are_no_includes(self):
        self.assert_passes(house(**{"src/base/g.cc": '''
// #include "event/d.h"
/*
#include "event/d.h"
*/
const char* text = R"(
#include "event/d.h"
)";
'''}))

    def test_wrong_includes(self):
        cases = {
            '#include "json/b.h"\n': "base may not include json",
            '#  include   "json/b.h"\n': "base may not include json",
            '#include "a.h"\n': "write own includes from src/",
            '#include "nowhere/a.h"\n': "nowhere has no row",
            '#include "base/missing.h"\n': "does not exist under src/",
            "#include HEADER\n": "name the file",
            "#include <simdjson.h>\n": "is wrapped by json",
            "#include <sqlite3.h>\n": "is wrapped by event",
            "#include <gtest/gtest.h>\n": "is wrapped by tests",
            "#include <benchmark/benchmark.h>\n": "is wrapped by bench",
            "#include <boost/asio.hpp>\n": "no row of scripts/third_party.txt",
            '#include "tests/support/e.h"\n': "tests has no row",
        }
        for text, message in cases.items():
            with self.subTest(text=text):
                self.assert_fails(house(**{"src/base/g.cc": "\n" + text}),
                                  f"src/base/g.cc:2: ", message)

    def test_a_test_obeys_its_folder(self):
        self.assert_fails(house(**{"src/json/b_test.cc": '#include "event/d.h"\n'}),
                          "src/json/b_test.cc:1: json may not include event")

    def test_third_party_in_installed_headers(self):
        for header in ("fmt/core.h", "simdjson.h", "boost/asio.hpp"):
            with self.subTest(header=header):
                self.assert_fails(house(**{"include/remit/f.h": f"#include <{header}>\n"}),
                                  "no third-party header in include/")

    def test_a_folder_without_a_row(self):
        self.assert_fails(house(**{"src/queue/a.cc": "\n"}), "src/queue: no row")

    def test_a_source_outside_folders(self):
        self.assert_fails(house(**{"src/a.cc": "\n"}), "stands in a folder")

    def test_wrong_tables(self):
        cases = {
            LAYERS + "1 late: base\n": "stands after a row of a higher tier",
            LAYERS + "2 event: base\n": "event has two rows",
            LAYERS + "3 report: base grading\n": "report lists grading, which has no row above",
            LAYERS.replace("1 json: base", "1 json: base event"): "so that no cycle exists",
            LAYERS.replace("1 json: base", "1 json: json base"): "json lists itself",
            LAYERS + "json base\n": "not a row",
            LAYERS + "3 report: base, json\n": "not a row",
            LAYERS + "3 report: base\n": "src/report does not exist",
        }
        for text, message in cases.items():
            with self.subTest(message=message):
                self.assert_fails(house(**{"scripts/layers.txt": text}), message)

    def test_wrong_third_party_tables(self):
        for text, message in {"zlib.h: archive\n": "archive has no row",
                              "zlib.h\n": "not a row"}.items():
            with self.subTest(message=message):
                self.assert_fails(house(**{"scripts/third_party.txt": THIRD_PARTY + text}),
                                  message)

    def test_nothing_to_check_is_a_failure(self):
        self.assert_fails({"scripts/layers.txt": "", "scripts/third_party.txt": ""},
                          "found nothing to check")


if __name__ == "__main__":
    unittest.main()
