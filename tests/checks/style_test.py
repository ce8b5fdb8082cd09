"""Tests of scripts/check_style: for each rule, text that it takes and text that it refuses."""

import sys
import unittest

from run_check import SCRIPTS, CheckTest

sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
from lint import style_rules  # noqa: E402 (the path must be set first)

OPENING = "// What this file is for.\n#pragma once\n"

# Code rules: rule -> (refused in src/json/a.h, taken there).
CODE = {
    "std-regex": (["std::regex r;", "#include <regex>", "std::wregex r;"],
                  ["RE2 r;", "// std::regex", 'x("std::regex");']),
    "std-expected": (["std::expected<int, E> f();", "#include <expected>", "std::unexpected(e);"],
                     ["Result<int> f();"]),
    "std-format": (["std::format(x);", "#include <format>", "std::print(x);"],
                   ["fmt::format(x);"]),
    "clock": (["auto t = std::chrono::steady_clock::now();", "time(nullptr);",
               "clock_gettime(CLOCK_REALTIME, &t);"],
              ["auto t = clock.now();", "std::chrono::steady_clock::time_point t;",
               "run_time(0);"]),
    "randomness": (["std::random_device d;", "int x = rand();", "RAND_bytes(p, n);"],
                   ["random.fill(bytes);", "grand(x);", "operand(x);"]),
    "environment": (['getenv("X");', 'std::getenv("X");'], ["options.home;"]),
    "throw": (["throw 1;"], ["// may throw", "catch (const E& e) {"]),
    "assert": (["assert(x);", "#include <cassert>"],
               ["static_assert(true);", "REMIT_CHECK(x);", "ASSERT_TRUE(x);"]),
    "abort": (["std::abort();", "abort();"], ["transaction.rollback();", "abort_requested();"]),
    "output": (["std::cout << x;", "std::cerr << x;", 'printf("x");', 'std::fprintf(f, "x");'],
               ["out << x;", "snprintf(p, n, f);"]),
    "mutable-global": (["static int count = 0;", "inline std::string name;",
                        "static std::atomic<int> hits{0};", "thread_local int depth = 0;",
                        "  static std::map<int, int> cache;", "extern int count;"],
                       ["static const int kCount = 1;", "inline constexpr int kCount = 1;",
                        "static constexpr std::array<int, 2> kPair{1, 2};",
                        "static Result<int> parse(int x);", "inline int f() { return 1; }",
                        "inline bool operator==(const A& a, const A& b) {",
                        "static EVP* const fetched = fetch();", "inline namespace v1 {"]),
    "thread": (["std::thread t(f);", "std::jthread t;", "std::async(f);"],
               ["std::this_thread::yield();", "std::thread::id owner;"]),
    "mutex": (["std::mutex m;", "std::lock_guard lock(m);", "std::condition_variable c;"],
              ["Mutex m;", "MutexLock lock(m);"]),
    "detach": (["t.detach();"], ["t.join();"]),
    "atomic-shared-ptr": (["std::atomic<std::shared_ptr<int>> p;"], ["std::shared_ptr<int> p;"]),
    "number-parsing": (["std::stoi(x);", "atoi(x);", "strtoul(x, nullptr, 10);"],
                       ["std::from_chars(a, b, x);"]),
    "unbounded-c": (["strcpy(a, b);", "sprintf(a, b);"], ["snprintf(a, n, b);"]),
    "shell": (["system(x);", "popen(x, y);"], ["file_system(x);", "world.system();"]),
    "using-namespace": (["using namespace std;"], ["using std::string;"]),
    "type-name": (["class CallManager {", "struct StringUtil {", "class TestHelper {"],
                  ["class CallPermit {"]),
    "pragma-once": ([], ["int x();"]),
    "nolint": (["f();  // NOLINT", "f();  // NOLINT(bugprone-x)", "// NOLINTNEXTLINE"],
               ["f();  // NOLINT(bugprone-x): the reason"]),
    "format-off": (["// clang-format off"],
                   ["// clang-format off: a table", "// clang-format on"]),
    "nostyle": (["f();  // NOSTYLE(throw)", "f();  // NOSTYLE(no-such-rule): a reason"],
                ["throw 1;  // NOSTYLE(throw): a reason"]),
}

# Where a code rule does not hold.
ALLOWED = {
    "src/base/a.cc": ["auto t = std::chrono::steady_clock::now();", "std::random_device d;",
                      "std::mutex m;"],
    "src/cli/a.cc": ["std::cout << x;"],
    "src/evidence/a.cc": ["std::jthread t(f);"],
    "src/json/a_test.cc": ["throw 1;", "std::cout << x;", "std::thread t(f);"],
    "src/json/b.cc": ["using namespace x;"],
    "programs/a.cc": ["std::cerr << x;", "std::chrono::system_clock::now();"],
    "bench/a.cc": ["std::chrono::steady_clock::now();", "printf(x);"],
}

# Text rules: rule -> (refused, taken); pieces are joined here so that this file stays clean.
TEXT = {
    "unfinished": ([" ".join(["# TO" + "DO:", "later"]), "FIX" + "ME"], ["to do: nothing"]),
    "machine-path": (["see /ho" + "me/me/x", "/ro" + "ot/x", 'path = "/wo' + 'rk/main"'],
                     ["see https://example.com/home/x", "docs/home/x", "/srv/data"]),
    "registry-host": (["https://pypi" + ".org/x", "registry" + ".npmjs.org"], ["from PyPI"]),
    "word-list": (["a white" + "list", "Black" + "listed"], ["an allow-list"]),
}


class StyleTest(CheckTest):
    check = "check_style"

    def judge(self, cases, path_of, text_of):
        """Lays out every line of `cases` as a file of its own and runs the check once.

        `cases`: {rule: (refused, taken)}. Each refused line must be found under its rule, and
        nothing in the files of the taken ones.
        """
        refused, taken, files = {}, [], {}
        for rule, lists in cases.items():
            for kind, lines in zip(("refused", "taken"), lists):
                for number, line in enumerate(lines):
                    path = path_of(f"{kind}_{rule}_{number}".replace("-", "_"))
                    files[path] = text_of(line)
                    if kind == "refused":
                        refused[path] = (rule, line)
                    else:
                        taken.append(path)
        self.tree(files)
        findings = self.run_check().stderr.splitlines()
        for path, (rule, line) in refused.items():
            with self.subTest(rule=rule, refused=line):
                self.assertTrue(any(found.startswith(path + ":") and f": {rule}: " in found
                                    and "instead: " in found for found in findings))
        for path in taken:
            with self.subTest(taken=files[path]):
                self.assertEqual([found for found in findings if found.startswith(path)], [])

    def test_each_code_rule(self):
        self.judge(CODE, "src/json/{}.h".format, lambda line: f"{OPENING}{line}\n")

    def test_each_text_rule(self):
        self.judge(TEXT, "docs/{}.md".format, lambda line: f"\n{line}\n")

    def test_a_finding_names_its_line(self):
        self.assert_fails({"src/json/a.h": OPENING + "throw 1;\n"}, "src/json/a.h:3: throw: ")

    def test_where_code_rules_do_not_hold(self):
        self.assert_passes({path: "// What this is for.\n" + "\n".join(code) + "\n"
                            for path, code in ALLOWED.items()})

    def test_an_excuse_covers_its_own_rule_only(self):
        self.assert_fails({"src/json/a.h": OPENING + "throw rand();  // NOSTYLE(throw): why\n"},
                          "randomness")

    def test_each_text_rule(self):
        for rule, (refused, taken) in TEXT.items():
            for line in refused:
                with self.subTest(rule=rule, refused=line):
                    self.assert_fails({"docs/a.md": f"\n{line}\n"}, "docs/a.md:2: " + rule)
            for line in taken:
                with self.subTest(rule=rule, taken=line):
                    self.assert_passes({"docs/a.md": f"\n{line}\n"})

    def test_every_rule_has_its_cases(self):
        self.assertEqual({rule.name for rule in style_rules.CODE_RULES} - CODE.keys(), set())
        self.assertEqual({rule.name for rule in style_rules.TEXT_RULES} - TEXT.keys(), set())

    def test_header_without_pragma_once(self):
        self.assert_fails({"src/json/a.h": "// What this is for.\nint x();\n"}, "pragma-once")

    def test_opening_sentence(self):
        files = {"src/json/a.cc": "int x;\n", "src/json/b.cc": "// no full stop\nint x;\n",
                 "cmake/A.cmake": "set(x 1)\n", "tests/CMakeLists.txt": "set(x 1)\n",
                 "shim/src/a.rs": "fn f() {}\n"}
        self.assert_fails(files, *(f"{path}:1: opening-sentence" for path in files))

    def test_opening_sentence_over_lines(self):
        many_lines = "// A sentence that\n// goes on.\n//\n// More\nint x;\n"
        self.assert_passes({"src/json/a.cc": many_lines,
                            "shim/src/a.rs": "//! A module.\nfn f() {}\n",
                            "src/json/CMakeLists.txt": "target_link_libraries(a b)\n"})

    def test_columns(self):
        long = "// A sentence.\nint " + "x" * 96
        self.assert_passes({"src/json/a.cc": long + "\n"})
        self.assert_passes({"src/json/a.cc": '// A sentence.\nchar x[] = "' + "x" * 99 + '";\n'})
        self.assert_passes({"src/json/a.cc": '// A sentence.\nchar x[] = R"(\n' + "x" * 101 + '\n)";\n'})
        self.assert_fails({"src/json/a.cc": long + "x\n"}, "src/json/a.cc:2: columns: 101")
        self.assert_passes({"src/json/a.cc": "// A sentence.\n\n//" + "x" * 98 + "\n"})
        self.assert_fails({"src/json/a.cc": "// A sentence.\n\n//" + "x" * 99 + "\n"},
                          "a.cc:3: columns: 101")
        self.assert_fails({"tests/a.py": "x" * 121 + "\n"}, "tests/a.py:1: columns: 121")

    def test_names(self):
        paths = ("src/util/a.txt", "src/common/a.txt", "src/json/helpers.txt", "docs/misc.txt",
                 "src/json/string_util.txt", "scripts/manager/a.txt")
        self.assert_fails({path: "\n" for path in paths}, *(f"{path}: name: " for path in paths))

    def test_names_that_only_look_alike(self):
        self.assert_passes({"src/json/utility_bill.txt": "\n"})

    def test_binary_files_are_left_alone(self):
        self.assert_passes({"tests/golden/a.bin": b"\xff\x00", "docs/a.md": "text\n"})

    def test_nothing_to_check_is_a_failure(self):
        self.assert_fails({}, "found nothing to check")


if __name__ == "__main__":
    unittest.main()
