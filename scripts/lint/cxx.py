"""C++ text split into code, comments and includes, line by line, without parsing the language."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<line>//(?:[^\n\\]|\\(?:.|\n))*)
    |(?P<block>/\*.*?(?:\*/|\Z))
    |(?P<raw>\b(?:u8|u|U|L)?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |(?P<char>(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)*')""",
    re.VERBOSE | re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<what><[^>\n]*>|"[^"\n]*"|[^\s].*)')


@dataclass(frozen=True)
class Line:
    """One line: its number from 1, its code with texts and comments blanked, its comments."""

    number: int
    code: str
    comment: str


@dataclass(frozen=True)
class Include:
    """One #include: `form` is 'system' for <x>, 'own' for "x", 'macro' for anything else."""

    number: int
    form: str
    name: str


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def lines(source):
    """The lines of `source`; string and character literals keep their quotes only."""
    code, comment, end = [], [], 0
    for match in _TOKEN.finditer(source):
        plain, token = source[end:match.start()], match.group(0)
        code.append(plain)
        comment.append(_blank(plain))
        if match.lastgroup in ("line", "block"):
            code.append(_blank(token))
            comment.append(token)
        else:
            code.append('"' + _blank(token[1:-1]) + '"' if len(token) > 1 else token)
            comment.append(_blank(token))
        end = match.end()
    code.append(source[end:])
    comment.append(_blank(source[end:]))
    pairs = zip("".join(code).split("\n"), "".join(comment).split("\n"))
    return [Line(number, c, k) for number, (c, k) in enumerate(pairs, 1)]


def includes(source):
    """The #include directives outside comments and texts, in order."""
    originals = source.split("\n")
    found = []
    for line in lines(source):
        if "include" not in line.code or not line.code.lstrip().startswith("#"):
            continue
        match = _INCLUDE.match(originals[line.number - 1])
        if not match:
            continue
        what = match.group("what")
        form = {"<": "system", '"': "own"}.get(what[0], "macro")
        name = what[1:-1] if form != "macro" else what.strip()
        found.append(Include(line.number, form, name))
    return found
