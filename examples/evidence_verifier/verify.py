#!/usr/bin/env python3
"""Verifies an evidence directory from spec/evidence.md alone, with nothing but Python's own library:
a second opinion on `remit evidence verify` that shares no code with what wrote the log. Verifies
proofs of `remit evidence prove` as well.

usage: verify.py EVIDENCE [HEAD] [--checkpoint PATH]... [--key VKEY]...
       verify.py --proof FILE --key VKEY [--since CHECKPOINT]

HEAD is a head that was kept elsewhere, as this program or `remit evidence verify` printed it, PATH a
signed checkpoint or a folder of them, VKEY the verifier key of who signed. Without either, a log that was
made anew or rolled back as a whole looks as if it had never been otherwise.

Exit codes: 0 intact, 1 altered, 2 wrong usage or unreadable, 3 where what was kept ends within what
retention removed. The directory must be at rest: a writer at work may change what was read a moment ago.
"""

import base64
import json
import os
import re
import stat
import sys
from hashlib import sha256, sha512

MAX_ROOTS_LINE = 1024
MAX_EVENT_LINE = 1 << 20  # longer ones are no events, whatever a root says
ZERO = "0" * 64
NUMBER = r"(?:0|[1-9][0-9]{0,19})"
DIGEST = r"[0-9a-f]{64}"
HEADER = re.compile(rf"remit\.roots/1 (\S+) (\S+) (\S+) ({NUMBER}) (\S+) "
                    rf"({NUMBER}) ({NUMBER}) ({DIGEST}) ({DIGEST}) ({DIGEST})")
ENTRY = re.compile(rf"(?:(commit|remade) ({NUMBER}) ({NUMBER}) ({NUMBER}) ({DIGEST})"
                   rf"|(continued|closed) ({NUMBER}) ({NUMBER}) ({NUMBER}) ({DIGEST}) ({DIGEST}))")
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z"
TOMBSTONE = re.compile(rf"remit\.tombstone/1 (\S+) (\S+) ({NUMBER}) ({NUMBER}) ({NUMBER}) ({TIME}) ({TIME}) "
                       rf"(continued|closed)\nlast ({NUMBER}) ({NUMBER}) ({DIGEST}) ({DIGEST})\n"
                       rf"((?:subtree {DIGEST}\n)*)digest ({DIGEST})\n")
HEAD = re.compile(rf"remit-head-1:({NUMBER}):(-|{NUMBER}@{NUMBER}(?:,{NUMBER}@{NUMBER})*):({DIGEST})")


class Altered(Exception):
    """The log is not what was written; the text says where and what."""


def leaf_of(line):
    return sha256(b"\x00" + line).digest()


def node_of(left, right):
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """The Merkle tree of RFC 6962 as the roots of its perfect subtrees, the largest first."""

    def __init__(self, size=0, subtrees=()):
        self.size = size
        self.subtrees = list(subtrees)

    def add(self, leaf):
        digest = leaf
        carried = self.size
        while carried & 1:
            digest = node_of(self.subtrees.pop(), digest)
            carried >>= 1
        self.subtrees.append(digest)
        self.size += 1

    def root(self):
        if not self.subtrees:
            return sha256(b"").hexdigest()
        digest = self.subtrees[-1]
        for left in reversed(self.subtrees[:-1]):
            digest = node_of(left, digest)
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
    """Whether a crash may have left `tail` of a roots line: its beginning."""
    fields = tail.decode("latin-1").split(" ")
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


def is_torn(tail, offset):
    """Whether a crash may have left `tail` behind the last whole line of roots, which ends at `offset`."""
    beginning, zero, _ = tail.partition(b"\0")
    if not is_torn_entry(beginning):
        return False
    rest = tail[len(beginning):].lstrip(b"\0")
    if not zero or not rest:
        return True
    return (offset + len(tail) - len(rest)) % 512 == 0 and not re.search(rb"[^0-9a-z \n\0]", rest)


class Writer:
    """One writer's log, read to its end; `Altered` from the constructor where it was changed.

    `target` is a number of events whose chain value a kept head asks for, `sizes` are numbers of
    events whose root checkpoints ask for.
    """

    def __init__(self, root, name, target=None, sizes=()):
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
        self.tree = Tree()
        self.sizes = set(sizes)
        self.roots = {}
        self.removed = 0
        self.whole_behind = 0
        self.files = set(os.listdir(self.path))
        self.remember()
        ended = self.tombstone() if "tombstone" in self.files else "continued"
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

    def tombstone(self):
        """Takes over what retention left in the place of segments; how the last of them ended."""
        path = os.path.join(self.path, "tombstone")
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Altered(f"{path}: not a plain file")
        with open(path, "rb") as file:
            text = file.read(1 << 14)
        found = TOMBSTONE.fullmatch(text.decode("latin-1"))
        if not found or sha256(text[:text.rindex(b"digest ")]).hexdigest() != found[14]:
            raise Altered(f"{path}: not a tombstone")
        subtrees = [bytes.fromhex(line[len("subtree "):]) for line in found[13].splitlines()]
        segments, events, lines, size = (int(found[field]) for field in (3, 4, 9, 10))
        if (found[1] != self.name or not segments or not 0 < lines <= events
                or len(subtrees) != events.bit_count()):
            raise Altered(f"{path}: not a tombstone of this log")
        self.id, self.segments, self.events, self.removed = found[2], segments, events, events
        self.previous = (numbered(segments), lines, size, found[11], found[12])
        self.chain = found[12]
        if self.target == events:
            self.at_target = self.chain
        self.tree = Tree(events, subtrees)
        for count in range(1, len(subtrees) + 1):
            part = Tree(sum(1 << bit for bit in list(bits_of(events))[:count]), subtrees[:count])
            self.remember(part)
        return found[8]

    def remember(self, tree=None):
        tree = tree or self.tree
        if tree.size in self.sizes:
            self.roots[tree.size] = tree.root()

    def add(self, tree, line):
        leaf = leaf_of(line)
        tree.add(leaf)
        self.tree.add(leaf)
        self.remember()

    def segment(self, number):
        """Proves one segment; what ended it, None where nothing did."""
        lines_path, roots_path = self.file(number, ".jsonl"), self.file(number, ".roots")
        tree, size, ended, entries = Tree(), 0, None, 0
        with open(lines_path, "rb") as lines, open(roots_path, "rb") as roots:
            header = self.header(number, roots_path, roots.readline(MAX_ROOTS_LINE + 1))
            extent = (0, 0, tree.root())
            if number == 1:
                self.note(0, header, extent)
            offset = roots.tell()
            for raw in iter(lambda: roots.readline(MAX_ROOTS_LINE + 1), b""):
                whole = raw.endswith(b"\n")
                found = ENTRY.fullmatch(raw[:-1].decode("latin-1"))
                if not found or not whole:
                    if not ended and is_torn(raw + roots.read(), offset):
                        break
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
                    self.add(tree, line[:-1])
                    size += len(line)
                    self.note(self.events + tree.size, header, (tree.size, size, tree.root))
                offset = roots.tell()
                extent = (tree.size, size, tree.root())
                if extent != (count, int(values[2]), values[3]):
                    raise Altered(f"{lines_path}: the lines to {count} are not what {place} proves")
                if ends:
                    ended = kind
                    if values[4] != chain_value(header, *extent):
                        raise Altered(f"{place} has another chain value than the log")
            self.behind = os.fstat(lines.fileno()).st_size - size
            if not ended:
                self.read_behind(lines, tree, self.events + tree.size)
        if ended and self.behind:
            raise Altered(f"{lines_path}: bytes behind the end of a complete segment")
        chain = chain_value(header, *extent)
        self.previous = (numbered(number), *extent, chain)
        if extent[0] or number == 1:
            self.chain = chain
        self.events += extent[0]
        self.segments = number
        return ended

    def read_behind(self, lines, tree, events):
        """Whole events behind the last root, which a checkpoint may have been taken of before a crash."""
        for line in iter(lambda: lines.readline(MAX_EVENT_LINE + 1), b""):
            try:
                event = json.loads(line) if line.endswith(b"\n") else {}
            except ValueError:
                return
            if (not isinstance(event, dict) or event.get("seq") != events + self.whole_behind + 1
                    or event.get("writer") != self.id):
                return
            self.add(tree, line[:-1])
            self.whole_behind += 1

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
                continue  # Of removed segments what an unfinished removal left is nothing to anyone.
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


def bits_of(number):
    """The places of its bits, the highest first."""
    return (place for place in range(number.bit_length() - 1, -1, -1) if number >> place & 1)


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
    """`Altered` where the log is not a later state of what the head was taken of; `Removed` where
    that cannot be told."""
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
        elif opened[number] < writer.removed and writer.at_target is None:
            raise Removed(f"the head counts {opened[number]} events of {writer.name}, and retention "
                          f"has removed {writer.removed}")
        else:
            states.append((writer.name, opened[number], writer.at_target))
    if head_digest(states) != digest:
        raise Altered("written anew: this is not what the head was taken of")


class Removed(Exception):
    """What was kept cannot be compared, since it ends within what retention removed."""


# ---- Ed25519 (RFC 8032): verification only, in plain integers.

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)


def recover_x(y, odd):
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * ROOT_OF_MINUS_ONE % PRIME
    if (x * x - square) % PRIME or (x == 0 and odd):
        return None
    return PRIME - x if x & 1 != odd else x


def plus(one, other):
    """The sum of two points in extended coordinates."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % PRIME
    c = 2 * one[3] * other[3] * CURVE % PRIME
    d = 2 * one[2] * other[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def times(factor, point):
    out = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            out = plus(out, point)
        point = plus(point, point)
        factor >>= 1
    return out


def point_of(encoded):
    number = int.from_bytes(encoded, "little")
    y, odd = number & (2**255 - 1), number >> 255
    x = recover_x(y, odd) if y < PRIME else None
    return None if x is None else (x, y, 1, x * y % PRIME)


BASE = point_of((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little"))


def ed25519_verifies(key, message, signature):
    point, factor = point_of(key), int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or point is None or factor >= ORDER:
        return False
    hashed = int.from_bytes(sha512(signature[:32] + key + message).digest(), "little") % ORDER
    minus = (PRIME - point[0], point[1], 1, PRIME - point[3])
    x, y, z, _ = plus(times(factor, BASE), times(hashed, minus))
    scale = pow(z, -1, PRIME)
    x, y = x * scale % PRIME, y * scale % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


# ---- Signed notes, checkpoints and proofs (C2SP).

def unbase64(text):
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return found if base64.b64encode(found).decode() == text else None


def parse_key(text):
    """(name, id, key) of a verifier key, or None."""
    name, _, rest = text.partition("+")
    identity, _, encoded = rest.partition("+")
    material = unbase64(encoded)
    if not name or not material or len(material) != 33 or material[0] != 1:
        return None
    expected = sha256(name.encode() + b"\n" + material).digest()[:4]
    return (name, expected, material[1:]) if identity == expected.hex() else None


def signers(note, keys):
    """The text of a note, and which of `keys` signed it; `Altered` for a forgery."""
    text, empty, lines = note.rpartition("\n\n")
    text += "\n"
    signed = []
    if not empty or not lines.endswith("\n"):
        raise Altered("not a signed note")
    for line in lines[:-1].split("\n"):
        found = re.fullmatch(r"\u2014 ([^\s+]+) (\S+)", line)
        signature = unbase64(found[2]) if found else None
        if not signature or len(signature) < 5:
            raise Altered("a signature line is not in its form")
        for key in keys:
            if key[:2] != (found[1], signature[:4]):
                continue
            if not ed25519_verifies(key[2], text.encode(), signature[4:]):
                raise Altered(f"forged or altered: the signature of {found[1]} is not of this text")
            signed.append(key)
    return text, signed


def open_checkpoint(note, keys):
    """(origin, directory, writer, size, root) of a checkpoint that one of `keys` vouches for."""
    text, signed = signers(note, keys)
    found = re.fullmatch(rf"([^\n]+)\n({NUMBER})\n([^\n]+)\n(?:[^\n]+\n)*", text)
    root = unbase64(found[3]) if found else None
    if not signed or not root or len(root) != 32:
        raise Altered("not a checkpoint that a key given has signed")
    for name, _, _ in signed:
        log = re.fullmatch(re.escape(name) + "/([^/]+)/([^/]+)", found[1])
        if log:
            return found[1], log[1], log[2], int(found[2]), root.hex()
    raise Altered(f"signed by a key in whose name the log {found[1]} is not")


def read_checkpoints(path, keys):
    paths = [path]
    if os.path.isdir(path):
        paths = [os.path.join(path, name) for name in sorted(os.listdir(path))
                 if name.endswith(".checkpoint")]
    out = []
    for one in paths:
        with open(one, encoding="utf-8", newline="") as file:
            out.append(open_checkpoint(file.read(), keys))
    return out


def hold_against(writers, checkpoints):
    """`Altered` where a log is not a later state of what was signed, `Removed` where nobody can tell."""
    by_name = {writer.name: writer for writer in writers}
    unknown = {}
    for origin, name, identity, size, root in sorted(checkpoints, key=lambda one: one[3]):
        writer = by_name.get(name)
        if not writer or size > writer.events + writer.whole_behind:
            raise Altered(f"rolled back: a checkpoint is of {size} events of {origin}")
        if writer.id != identity:
            raise Altered(f"{name} is written anew by another writer")
        if size not in writer.roots:
            unknown[name] = f"a checkpoint is of {size} events of {name}, and retention removed more"
        elif writer.roots[size] != root:
            raise Altered(f"rewritten: the first {size} events of {name} are not what was signed")
        else:
            unknown.pop(name, None)
    if unknown:
        raise Removed("; ".join(unknown.values()))


def proves_inclusion(index, leaf, size, root, nodes):
    if not 0 <= index < size:
        return False
    last, digest = size - 1, leaf
    for node in nodes:
        if not last:
            return False
        if index & 1 or index == last:
            digest = node_of(node, digest)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            digest = node_of(digest, node)
        index, last = index >> 1, last >> 1
    return last == 0 and digest == root


def proves_consistency(old_size, old_root, size, root, nodes):
    if old_size == 0 or old_size > size:
        return False
    if old_size == size:
        return not nodes and old_root == root
    nodes = list(nodes)
    if old_size & (old_size - 1) == 0:
        nodes.insert(0, old_root)
    if not nodes:
        return False
    at, last = old_size - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = nodes[0]
    for node in nodes[1:]:
        if not last:
            return False
        if at & 1 or at == last:
            older, newer = node_of(node, older), node_of(node, newer)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            newer = node_of(newer, node)
        at, last = at >> 1, last >> 1
    return last == 0 and older == old_root and newer == root


def check_proof(text, keys, since):
    """What a proof shows, in words; `Altered` where it shows nothing."""
    head, _, note = text.partition("\n\n")
    lines = head.split("\n")
    event = None
    if lines[0] == "c2sp.org/tlog-proof@v1" and len(lines) > 2 and lines[1].startswith("extra "):
        event = unbase64(lines[1][len("extra "):])
        lines = lines[2:]
    number = re.fullmatch(rf"{'old' if event is None else 'index'} ({NUMBER})", lines[0])
    nodes = [unbase64(line) for line in lines[1:]]
    if not number or any(node is None or len(node) != 32 for node in nodes):
        raise Altered("not a proof")
    origin, _, _, size, root = open_checkpoint(note, keys)
    count, root = int(number[1]), bytes.fromhex(root)
    if event is not None:
        if not proves_inclusion(count, leaf_of(event), size, root, nodes):
            raise Altered(f"the event is not number {count + 1} of {origin}")
        return f"proven: event {count + 1} of the {size} of {origin}\n{event.decode()}"
    if since is None or since[0] != origin or since[3] != count:
        raise Altered(f"needs the checkpoint of {count} events of {origin}")
    if nodes if count == 0 else not proves_consistency(count, bytes.fromhex(since[4]), size, root, nodes):
        raise Altered("the later log does not begin with the earlier one")
    return f"proven: {origin} grew from {count} to {size} events, and nothing else changed"


def verify(directory, kept=None, checkpoints=()):
    """The writers of an evidence directory. Raises `Altered`, `Removed`, and `OSError` where it cannot
    read."""
    names = sorted((number_of(name[len("writer-"):]), name) for name in os.listdir(directory)
                   if name.startswith("writer-") and number_of(name[len("writer-"):]))
    if not names:
        raise FileNotFoundError(f"{directory} holds no writer-NNNNNN")
    writers = []
    for expected, (number, name) in enumerate(names, 1):
        if number != expected:
            raise Altered(f"{os.path.join(directory, 'writer-' + numbered(expected))}: missing")
        sizes = [size for _, of, _, size, _ in checkpoints if of == name]
        writers.append(Writer(directory, name, kept[1].get(number) if kept else None, sizes))
    hold_against(writers, checkpoints)
    if kept:
        compare(writers, kept)
    return writers


def report(writers):
    for writer in writers:
        state = "closed" if writer.closed else f"not closed, {writer.behind} bytes behind the last root"
        removed = f", {writer.removed} of them removed by retention" if writer.removed else ""
        print(f"{writer.name}: {writer.events} events in {writer.segments} segments, {state}{removed}")
    print(f"intact\nhead {head_of(writers)}")


def parse_arguments(words):
    """(words, {option: values}), or None for what is no command line."""
    options = {"--checkpoint": [], "--key": [], "--proof": [], "--since": []}
    plain = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in options and words:
            options[word].append(words.pop(0))
        elif word.startswith("--"):
            return None
        else:
            plain.append(word)
    return plain, options


def run(words, options, keys):
    """Does what the command line says; False where it says nothing."""
    if options["--proof"]:
        if words or len(options["--proof"]) > 1 or len(options["--since"]) > 1 or options["--checkpoint"]:
            return False
        since = [read_checkpoints(path, keys)[0] for path in options["--since"]]
        with open(options["--proof"][0], encoding="utf-8", newline="") as file:
            print(check_proof(file.read(), keys, since[0] if since else None))
        return True
    kept = parse_head(words[1]) if len(words) == 2 else None
    if len(words) not in (1, 2) or (len(words) == 2 and kept is None) or options["--since"]:
        return False
    checkpoints = [one for path in options["--checkpoint"] for one in read_checkpoints(path, keys)]
    report(verify(words[0], kept, checkpoints))
    return True


def main(arguments):
    parsed = parse_arguments(arguments)
    keys = [parse_key(text) for text in parsed[1]["--key"]] if parsed else [None]
    needs_key = parsed and (parsed[1]["--checkpoint"] or parsed[1]["--proof"])
    if None in keys or (needs_key and not keys):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if run(*parsed, keys):
            return 0
        print(__doc__, file=sys.stderr)
        return 2
    except Altered as altered:
        print(f"altered: {altered}")
        return 1
    except Removed as removed:
        print(f"cannot tell: {removed}")
        return 3
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
