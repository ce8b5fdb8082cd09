"""The rules of check_style: each says what it refuses, where, and what to write instead.

A `CodeRule` looks at C++ code with texts and comments blanked. A `TextRule` looks at any text file
as it is. Both work line by line; what needs the whole file is a function in check_style itself.
"""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CodeRule:
    """`pattern` must not match code of a C++ file, unless its path starts with one of `allowed`."""

    name: str
    pattern: re.Pattern
    instead: str
    allowed: tuple = ()
    in_tests: bool = True  # does the rule hold in tests as well?
    headers_only: bool = False


@dataclass(frozen=True)
class TextRule:
    """`pattern` must not match a text file, unless its path starts with one of `allowed`."""

    name: str
    pattern: re.Pattern
    instead: str
    allowed: tuple = field(default_factory=tuple)


OUTSIDE_WORLD = ("src/base/", "src/process/", "programs/", "bench/", "examples/")
OUTPUT = ("src/cli/", "src/base/check.cc", "programs/", "bench/", "examples/")

CODE_RULES = (
    CodeRule("std-regex", re.compile(r"std::(?:basic_)?w?regex\b|<regex>"),
             "RE2, whose time is linear in the text"),
    CodeRule("std-expected", re.compile(r"std::(?:un)?expected\b|<expected>"),
             "Result<T> of base/result.h (g++ 12 lacks std::expected)"),
    CodeRule("std-format", re.compile(r"std::v?(?:format|print|println)\b|<(?:format|print)>"),
             "fmt (g++ 12 lacks <format>)"),
    CodeRule("clock", re.compile(
        r"\b(?:system_clock|steady_clock|high_resolution_clock)::now\b|\bclock_gettime\s*\("
        r"|\bgettimeofday\s*\(|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)"),
             "the injected Clock of base/clock.h", OUTSIDE_WORLD, in_tests=False),
    CodeRule("randomness", re.compile(
        r"\brandom_device\b|\bs?rand\s*\(|\bRAND_bytes\s*\(|\bgetrandom\s*\("),
             "the injected Random of base/random.h", OUTSIDE_WORLD),
    CodeRule("environment", re.compile(r"\b(?:secure_)?getenv\s*\(|\bsetenv\s*\(|\bputenv\s*\("),
             "an option that main fills in", OUTSIDE_WORLD + ("src/cli/",), in_tests=False),
    CodeRule("throw", re.compile(r"\bthrow\b"),
             "return an Error: no exception crosses a folder", in_tests=False),
    CodeRule("assert", re.compile(r"(?<![_\w])assert\s*\(|<cassert>|<assert\.h>"),
             "REMIT_CHECK or REMIT_DCHECK of base/check.h"),
    CodeRule("abort", re.compile(r"\b(?:std::)?(?:abort|terminate|quick_exit|_exit)\s*\("),
             "REMIT_CHECK for what no input can cause, else an Error",
             ("src/base/", "src/process/", "programs/", "bench/", "examples/"), in_tests=False),
    CodeRule("output", re.compile(
        r"std::w?(?:cout|cerr|clog)\b|(?<!\w)(?:std::)?(?:f?printf|f?puts|putchar|perror)\s*\("
        r"|\bfmt::print\s*\("),
             "return the text, or take the stream to write to", OUTPUT, in_tests=False),
    CodeRule("mutable-global", re.compile(
        r"^\s*(?:static|thread_local|inline|extern)\s+(?!.*\bconst(?:expr|eval)?\b[^=;{(]*[=;{(])"
        r"(?!(?:inline\s+)?namespace\b)[\w:<>,\s*&]+?[\s*&]\w+\s*(?:=[^=]|;|\{)"),
             "a member, or a parameter that main hands down", ("src/base/check.cc",),
             in_tests=False),
    CodeRule("thread", re.compile(r"std::(?:jthread|thread|async)\b(?!::)|\bpthread_create\s*\("),
             "plain code: threads live in evidence, gateway, the loader of cedar, the ledger's lease, the "
             "worker of queue, http, the fetcher of keys and the reader of lines",
             ("src/evidence/", "src/gateway/", "src/process/", "src/cedar/", "src/base/",
              "src/trace/decoded_lines.", "src/ledger/database_ledger.", "src/queue/worker.", "src/http/",
              "src/identity/remote_keys.",
              "bench/", "examples/"), in_tests=False),
    CodeRule("mutex", re.compile(
        r"std::(?:(?:recursive_|shared_|timed_)?mutex|lock_guard|unique_lock|scoped_lock"
        r"|shared_lock|condition_variable(?:_any)?)\b"),
             "Mutex, MutexLock and CondVar of base/mutex.h, which clang can check",
             ("src/base/", "bench/", "examples/"), in_tests=False),
    CodeRule("detach", re.compile(r"\.detach\s*\("), "join the thread: no work outlives its owner"),
    CodeRule("atomic-shared-ptr", re.compile(r"atomic\s*<\s*std::shared_ptr\b"),
             "a mutex around a copy of the shared_ptr (ThreadSanitizer reports the atomic one)"),
    CodeRule("number-parsing", re.compile(
        r"\b(?:ato[ifl]|atoll|strto(?:l|ll|ul|ull|d|f|ld)|sto(?:i|l|ll|ul|ull|f|d|ld))\s*\("),
             "std::from_chars, with its error looked at", ("bench/",), in_tests=False),
    CodeRule("unbounded-c", re.compile(
        r"\b(?:strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok)\s*\("),
             "std::string, std::span or fmt"),
    CodeRule("shell", re.compile(r"(?<![\w.>:])(?:std::)?(?:system|popen)\s*\("),
             "the process folder: an argument vector, never a shell"),
    CodeRule("using-namespace", re.compile(r"\busing\s+namespace\b"),
             "name what you use", headers_only=True),
    CodeRule("type-name", re.compile(
        r"\b(?:class|struct)\s+\w*(?:Manager|Helpers?|Utils?|Utilities|Common|Misc)\b"),
             "the noun that the type stands for"),
)


def _joined(*words):
    """A pattern of words written apart, so that this file does not trip over itself."""
    return "|".join("".join(parts) for parts in words)


TEXT_RULES = (
    TextRule("unfinished", re.compile(
        r"\b(?:" + _joined(("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK")) + r")\b"),
             "finish it, or file an issue", ("tests/fuzz/",)),
    TextRule("machine-path", re.compile(
        r"(?<![\w.$}/-])/(?:" + _joined(("wo", "rk"), ("ro", "ot"), ("ho", "me")) + r")/"),
             "a path relative to the repository, or /srv in an example", ("tests/fuzz/",)),
    TextRule("registry-host", re.compile(_joined(
        ("crates", r"\.io"), ("registry", r"\.npmjs"), ("npmjs", r"\.com"), ("pypi", r"\.org"),
        ("pythonhosted", r"\.org"), ("deb", r"\.debian\.org"), ("repo1", r"\.maven"),
        ("proxy", r"\.golang\.org"))),
             "the package's name: each user's client knows its registry",
             ("shim/Cargo.lock", "tests/fuzz/")),
    TextRule("word-list", re.compile(_joined(("white", "list"), ("black", "list")), re.IGNORECASE),
             "allow-list, deny-list", ("tests/fuzz/", "shim/Cargo.lock")),
)

FORBIDDEN_NAMES = re.compile(r"^(?:utils?|utilities|common|misc|helpers?|managers?)$|"
                             r"(?:^|_)(?:utils?|helpers?|manager|misc)$")

COLUMNS = 100
SCRIPT_COLUMNS = 120
COLUMN_SUFFIXES = (".py", ".sh")  # as they are; rustfmt looks after Rust
