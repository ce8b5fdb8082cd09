#!/usr/bin/env python3
"""Verifies an evidence directory from spec/evidence.md alone, with nothing but Python's own library:
a second opinion on `remit evidence verify` that shares no code with what wrote the log.

usage: verify.py EVIDENCE [HEAD]

HEAD is a head that was kept elsewhere, as this program or `remit evidence verify` printed it. Without
one, a log that was made anew or rolled back as a whole looks as if it had never been otherwise.

Exit codes: 0 intact, 1 altered, 2 wrong usage or unreadable. The directory must be at rest: a writer
at work may change what was read a moment ago.
"""

import os
import re
import stat
import sys
from hashlib import sha256

MAX_ROOTS_LINE = 1024
MAX_EVENT_LINE = 1 << 20  # longer ones are no events, whatever a root says
ZERO = "0" * 64
NUMBER = r"(?:0|[1-9][0-9]{0,19})"
DIGEST = r"[0-9a-f]{64}"
HEADER = re.compile(rf"remit\.roots/1 (\S+) (\S+) (\S+) ({NUMBER}) (\S+) "
                    rf"({NUMBER}) ({NUMBER}) ({DIGEST}) ({DIGEST}) ({DIGEST})")
ENTRY = re.compile(rf"(?:(commit|remade) ({NUMBER}) ({NUMBER}) ({NUMBER}) ({DIGEST})"
                   rf"|(continued|closed) ({NUMBER}) ({NUMBER}) ({NUMBER}) ({DIGEST}) ({DIGEST}))")
HEAD = re.compile(rf"remit-head-1:({NUMBER}):(-|{NUMBER}@{NUMBER}(?:,{NUMBER}@{NUMBER})*):({DIGEST})")


class Altered(Exception):
    """The log is not what was written; the text says where and what."""


class Tree:
    """The Merkle tree of RFC 6962 as the roots of its perfect subtrees, the largest first."""

    def __init__(self):
        self.size = 0
        self.subtrees = []

    def add(self, line):
        digest = sha256(b"\x00" + line).digest()
        carried = self.size
        while carried & 1:
            digest = sha256(b"\x01" + self.subtrees.pop() + digest).digest()
            carried >>= 1
        self.subtrees.append(digest)
        self.size += 1

    def root(self):
        if not self.subtrees:
            return sha256(b"").hexdigest()
        digest = self.subtrees[-1]
        for left in reversed(self.subtrees[:-1]):
            digest = sha256(b"\x01" + left + digest).digest()
        return digest.hex()


def numbered(number):
    return f"{number:06d}"


def number_of(name):
    """The number that `name` spells in six digits or more, or None."""
    if re.fullmatch(r"[0-9]{6,20}", name) and int(name) > 0 and numbered(int(name)) == name:
        return int(name)
    return None


def chain_value(header, lines, size, root):
    return sha256(f"{header} {lines} {size} {root}".encode()).hexdigest()


def is_torn_entry(tail):
    """Whether a crash may have left `tail` of a roots line: its beginning, then zeros if any."""
    fields = tail.rstrip(b"\0").decode("latin-1").split(" ")
    kinds = [kind for kind in ("commit", "remade", "continued", "closed")
             if kind == fields[0] or (len(fields) == 1 and kind.startswith(fields[0]))]
    digests = 2 if fields[0] in ("continued", "closed") else 1
    if not kinds or len(fields) > 4 + digests:
        return False
    for place, field in enumerate(fields[1:], 1):
        last = place == len(fields) - 1
        digits, most = ("[0-9]", 20) if place <= 3 else ("[0-9a-f]", 64)
        least = 0 if last else 1 if place <= 3 else 64
        if not re.fullmatch(f"{digits}{{{least},{most}}}", field):
            return False
    return True


class Writer:
    """One writer's log, read to its end; `Altered` from the constructor where it was changed.

    `target` is a number of events whose chain value a kept head asks for.
    """

    def __init__(self, root, name, target=None):
        self.path = os.path.join(root, name)
        self.name = name
        self.id = None
        self.target = target
        self.at_target = None
        self.events = 0
        self.segments = 0
        self.behind = 0
        self.closed = False
        self.previous = ("000000", 0, 0, ZERO, ZERO)
        self.chain = None
        self.files = set(os.listdir(self.path))
        ended = "continued"
        while ended == "continued":
            ended = self.segment(self.segments + 1)
        self.finish(ended)

    def file(self, number, suffix):
        path = os.path.join(self.path, numbered(number) + suffix)
        if os.path.basename(path) not in self.files:
            raise Altered(f"{path}: the file is missing")
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Altered(f"{path}: not a plain file")
        return path

    def segment(self, number):
        """Proves one segment; what ended it, None where nothing did."""
        lines_path, roots_path = self.file(number, ".jsonl"), self.file(number, ".roots")
        tree, size, ended, entries = Tree(), 0, None, 0
        with open(lines_path, "rb") as lines, open(roots_path, "rb") as roots:
            header = self.header(number, roots_path, roots.readline(MAX_ROOTS_LINE + 1))
            extent = (0, 0, tree.root())
            if number == 1:
                self.note(0, header, extent)
            for raw in iter(lambda: roots.readline(MAX_ROOTS_LINE + 1), b""):
                whole = raw.endswith(b"\n")
                if not whole and not ended and len(raw) <= MAX_ROOTS_LINE and is_torn_entry(raw):
                    break
                found = ENTRY.fullmatch(raw[:-1].decode("latin-1"))
                if not found or not whole:
                    raise Altered(f"{roots_path}: not a line of a roots file after entry {entries}")
                kind, *values = [group for group in found.groups() if group is not None]
                entries += 1
                count = int(values[1])
                place = f"{roots_path}: entry {values[0]}"
                ends = kind in ("continued", "closed")
                if ended or int(values[0]) != entries:
                    raise Altered(f"{place} where none or another belongs")
                if count != tree.size if ends else count <= tree.size:
                    raise Altered(f"{place} does not go on from {tree.size} lines")
                while tree.size < count:
                    line = lines.readline(MAX_EVENT_LINE + 1)
                    if not line.endswith(b"\n"):
                        raise Altered(f"{lines_path}: line {tree.size + 1} is cut or altered")
                    tree.add(line[:-1])
                    size += len(line)
                    self.note(self.events + tree.size, header, (tree.size, size, tree.root))
                extent = (tree.size, size, tree.root())
                if extent != (count, int(values[2]), values[3]):
                    raise Altered(f"{lines_path}: the lines to {count} are not what {place} proves")
                if ends:
                    ended = kind
                    if values[4] != chain_value(header, *extent):
                        raise Altered(f"{place} has another chain value than the log")
            self.behind = os.fstat(lines.fileno()).st_size - size
        if ended and self.behind:
            raise Altered(f"{lines_path}: bytes behind the end of a complete segment")
        chain = chain_value(header, *extent)
        self.previous = (numbered(number), *extent, chain)
        if extent[0] or number == 1:
            self.chain = chain
        self.events += extent[0]
        self.segments = number
        return ended

    def header(self, number, path, raw):
        """Checks a roots file's first line; its digest."""
        found = HEADER.fullmatch(raw[:-1].decode("latin-1")) if raw.endswith(b"\n") else None
        if not found:
            raise Altered(f"{path}: not the first line of a roots file")
        directory, writer, segment, seq, before, lines, size, root, chain, digest = found.groups()
        self.id = self.id or writer
        first = number == 1
        previous = (before, int(lines), int(size), root, chain)
        if ((directory, writer, segment) != (self.name, self.id, numbered(number))
                or int(seq) != self.events + 1
                or previous != (("000000", 0, 0, ZERO, ZERO) if first else self.previous)):
            raise Altered(f"{path}: this segment does not follow the one before")
        if digest != sha256(raw[:raw.rindex(b" ")]).hexdigest():
            raise Altered(f"{path}: the first line is not what its digest says")
        return digest

    def note(self, events, header, extent):
        if events == self.target:
            lines, size, root = extent
            self.at_target = chain_value(header, lines, size, root() if callable(root) else root)

    def finish(self, ended):
        self.closed = ended == "closed"
        stems = ((name.partition(".")[0], name) for name in sorted(self.files)
                 if name.endswith((".jsonl", ".roots")))
        for stem, name in stems:
            number = number_of(stem)
            if number is None or number <= self.segments:
                continue
            if self.closed or number > self.segments + 1 or self.used(name):
                raise Altered(f"{os.path.join(self.path, name)}: the log ends with segment "
                              f"{numbered(self.segments)}")
        if not self.closed and "lock" not in self.files:
            raise Altered(f"{self.path}: not closed, and there is no lock")

    def used(self, name):
        """Whether a next segment that its predecessor does not announce holds anything."""
        path = os.path.join(self.path, name)
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return True
        if name.endswith(".jsonl"):
            return os.path.getsize(path) > 0
        with open(path, "rb") as roots:
            return (roots.readline(MAX_ROOTS_LINE + 1).endswith(b"\n")
                    and roots.read(1) != b"")


def parse_head(text):
    """(writers, {number: events}, digest), or None for what is no head."""
    found = HEAD.fullmatch(text)
    if not found:
        return None
    pairs = [] if found[2] == "-" else [item.split("@") for item in found[2].split(",")]
    opened = {int(number): int(events) for number, events in pairs}
    numbers = [int(number) for number, _ in pairs]
    if numbers != sorted(set(numbers)) or any(not 0 < n <= int(found[1]) for n in numbers):
        return None
    return int(found[1]), opened, found[3]


def head_digest(states):
    return sha256("".join(f"{name} {events} {chain}\n"
                          for name, events, chain in states).encode()).hexdigest()


def head_of(writers):
    opened = ",".join(f"{number}@{writer.events}" for number, writer in enumerate(writers, 1)
                      if not writer.closed)
    digest = head_digest((writer.name, writer.events, writer.chain) for writer in writers)
    return f"remit-head-1:{len(writers)}:{opened or '-'}:{digest}"


def compare(writers, kept):
    """`Altered` where the log is not a later state of what the head was taken of."""
    count, opened, digest = kept
    if len(writers) < count:
        raise Altered(f"rolled back: {len(writers)} writers, and the head was taken of {count}")
    states = []
    for number, writer in enumerate(writers[:count], 1):
        if number not in opened:
            if not writer.closed:
                raise Altered(f"rolled back: {writer.name} was closed when the head was taken")
            states.append((writer.name, writer.events, writer.chain))
        elif writer.events < opened[number]:
            raise Altered(f"rolled back: {writer.events} events of {writer.name} are proven, and "
                          f"{opened[number]} were when the head was taken")
        else:
            states.append((writer.name, opened[number], writer.at_target))
    if head_digest(states) != digest:
        raise Altered("written anew: this is not what the head was taken of")


def verify(directory, kept=None):
    """The writers of an evidence directory. Raises `Altered`, and `OSError` where it cannot read."""
    names = sorted((number_of(name[len("writer-"):]), name) for name in os.listdir(directory)
                   if name.startswith("writer-") and number_of(name[len("writer-"):]))
    if not names:
        raise FileNotFoundError(f"{directory} holds no writer-NNNNNN")
    writers = []
    for expected, (number, name) in enumerate(names, 1):
        if number != expected:
            raise Altered(f"{os.path.join(directory, 'writer-' + numbered(expected))}: missing")
        writers.append(Writer(directory, name, kept[1].get(number) if kept else None))
    if kept:
        compare(writers, kept)
    return writers


def main(arguments):
    kept = parse_head(arguments[1]) if len(arguments) == 2 else None
    if len(arguments) not in (1, 2) or (len(arguments) == 2 and kept is None):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        writers = verify(arguments[0], kept)
    except Altered as altered:
        print(f"altered: {altered}")
        return 1
    except OSError as error:
        print(f"cannot read: {error}", file=sys.stderr)
        return 2
    for writer in writers:
        state = "closed" if writer.closed else f"not closed, {writer.behind} bytes behind the last root"
        print(f"{writer.name}: {writer.events} events in {writer.segments} segments, {state}")
    print(f"intact\nhead {head_of(writers)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
