"""A second reader of the codec, `.igb` and `.patch`, written from docs/formats.md alone: it imports nothing of ours.

Refuses by ValueError(code, offset or None), without a path. Text sorts by code points as by its bytes in UTF-8.
"""

import re
import struct
from graphlib import CycleError, TopologicalSorter
from itertools import count, groupby, pairwise
from math import frexp, isfinite, ldexp
from typing import Any

# A form: ints of a range or set, text of a pattern, what passes a test, [part] or [part, ...], {key: value}, (or, or).
LIMIT, SIZE, PLACE, SLOT = 2**53 - 1, range(1, 1_000_001), range(-1_000_000, 1_000_001), range(256)
ID, COMPONENT, TEXT = b"[0-9a-hjkmnp-tv-z]{10}", rb"(?=.{1,64}$)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+", b"(?s).*"
ANY, HASH, FILLED, NAME, RISING = (
    lambda v: True,
    lambda v: isinstance(v, bytes) and len(v) == 32,
    lambda v: isinstance(v, list) and v != [],
    lambda v: isinstance(v, str) and len(v.encode()) <= 64 and re.fullmatch(r"[^\0-\x1f\x7f-\x9f\s{}]+", v),
    lambda v: FILLED(v) and fits(v, [TEXT, ...]) and v == sorted({*v}),
)
FLAGS = {b"disabled": lambda v: v is True, b"steps": SIZE, b"kv": range(1, 2**24 + 1), b"seconds": range(1, 86_401)}
KIND, MOVE, LABEL = [COMPONENT, range(1, 65_536)], [PLACE, PLACE], b"(?s).{1,200}"
NODE, EDGE = [*KIND, {NAME: ANY}, FLAGS], [ID, NAME, ID, NAME, SLOT]
NOTE, GROUP = [*MOVE, SIZE, SIZE, b"(?s).{0,20000}"], [b"(?s).{0,200}", lambda v: RISING(v) and fits(v, [ID, ...])]
MAPS = {6: {TEXT: ANY}, 64: {TEXT: MOVE}, 65: {TEXT: LABEL}, 66: {ID: NOTE}, 67: {ID: GROUP}, 68: FILLED}
FIELDS: dict[str, Any] = {"set": {(ID, NAME): ANY}, "flag": {(ID, name): form for name, form in FLAGS.items()}}
FIELDS |= {"graph": {(TEXT,): ANY}, "edge+": {}, "move": {(ID,): MOVE}, "label": {(ID,): LABEL}, "note": {(ID,): NOTE}}
FIELDS |= {"group": {(ID,): GROUP}, "extra": {(range(68, 69),): FILLED, (range(69, LIMIT + 1),): ANY}}
OPS: dict[str, Any] = {"edge-": [EDGE], "node-": [[ID], NODE], "node+": [[ID], NODE], "retype": [[ID], [KIND], [KIND]]}
OPS |= {kind: tuple([[*k], ([], [v]), ([], [v])] for k, v in f.items()) or [EDGE] for kind, f in FIELDS.items()}


def need(holds: object, code: str, offset: int | None = None) -> None:
    if not holds:
        raise ValueError(code, offset)


def fits(value: Any, form: Any) -> object:
    if isinstance(form, tuple):
        return any(fits(value, one) for one in form)
    if isinstance(form, list):
        parts = form[:1] * len(value) if isinstance(value, list) and form[1:] == [...] else form
        return isinstance(value, list) and len(value) == len(parts) and all(map(fits, value, parts))
    if isinstance(form, dict):
        known = tuple([*entry] for entry in form.items())
        return isinstance(value, dict) and all(fits([*entry], known) for entry in value.items())
    if isinstance(form, bytes):
        return isinstance(value, str) and re.fullmatch(form, value.encode())
    return form(value) if callable(form) else type(value) is int and value in form


def item(data: bytes, at: int, depth: int, items: Any) -> tuple[Any, int]:
    need(at < len(data), "truncated", at)
    major, info = divmod(data[at], 32)
    need(info < 28, "indefinite" if info == 31 else "reserved", at)
    need(major < 6 or (major == 7 and info in (20, 21, 22, 25, 26, 27)), "tag" if major == 6 else "simple", at)
    end = at + 1 + (1 << info - 24 if info > 23 else 0)
    need(end <= len(data), "truncated", at)
    n = int.from_bytes(data[at + 1 : end], "big") if info > 23 else info
    need(major == 7 or info < 24 or n >= (24, 256, 65_536, 1 << 32)[info - 24], "not_shortest", at)
    need(major > 1 or n + major <= LIMIT, "int_range", at)
    need(major not in (4, 5) or depth < 32, "depth", at)
    need(next(items) < 200_000, "items", at)
    if major == 7 and info < 25:
        return {20: False, 21: True, 22: None}[info], end
    if major == 7:  # the next shorter form holds what is below `top`, of so many bits and in steps of 2^-low
        form, top, bits, low = {25: (">e", 0, 0, 0), 26: (">f", 2.0**16, 11, 24), 27: (">d", 2.0**128, 24, 149)}[info]
        value: float = struct.unpack(form, data[at + 1 : end])[0]
        need(isfinite(value), "float_not_finite", at)
        shorter = abs(value) < top and ldexp(frexp(value)[0], bits).is_integer() and ldexp(value, low).is_integer()
        need(not shorter and not (value.is_integer() and abs(value) <= LIMIT), "float_form", at)
        return value, end
    need(major < 2 or len(data) - end >= n * (1 + (major == 5)), "truncated", at)
    if major < 4:
        body = data[end : end + n] if major > 1 else b""
        need(major != 3 or body.decode("utf-8", "ignore").encode() == body, "utf8", at)
        return (n, -1 - n, body, body.decode("utf-8", "ignore"))[major], end + len(body)
    parts, key = [], b""
    for turn in range(n * (major - 3)):
        start, last, is_key = end, key, major == 5 and turn % 2 == 0
        need(not is_key or end == len(data) or data[end] >> 5 in ([last[0] >> 5] if last else [0, 3]), "key_type", end)
        part, end = item(data, start, depth + 1, items)
        key = data[start:end] if is_key else last
        need(not is_key or key > last, "key_duplicate" if key == last else "key_order", start)
        parts.append(part)
    return dict(zip(parts[::2], parts[1::2], strict=True)) if major == 5 else parts, end


def codec(data: bytes, at: int = 0) -> Any:
    need(len(data) - at <= 16 << 20, "size", at)
    need(len(data) > at, "empty", at)
    value, end = item(data, at, 0, count())
    need(end == len(data), "trailing", end)
    return value


def opened(data: bytes, letter: bytes, always: set[int], known: set[int], ancillary: int) -> Any:
    need(data[:8] == b"\x89IG" + letter + b"\r\n\x1a\n", "magic")
    file = codec(data, 8)
    need(fits(file, {range(LIMIT + 1): ANY}), "section")
    need(fits(file.get(0, [1, 0]), [range(1, 2), range(LIMIT + 1)]), "version")
    need(always <= file.keys() and all(key in known or key >= ancillary for key in file), "key")
    return file


def clean(value: Any) -> bool:
    if isinstance(value, dict) and "secret" in value:
        return bool(fits(value, {b"secret": b"[A-Z][A-Z0-9_]{0,63}"}))
    return all(map(clean, value.values() if isinstance(value, dict) else value if isinstance(value, list) else []))


def igb(data: bytes) -> None:
    file = opened(data, b"B", {0, 3, 4, 5}, {0, 1, 3, 4, 5, 6}, 64)
    need(1 not in file, "feature" if RISING(file.get(1)) else "section")
    s, nodes, edges = file[3], file[4], file[5]
    need(fits(s, [TEXT, ...]), "section")
    names, components = (frozenset(i for i, text in enumerate(s) if fits(text, form)) for form in (NAME, COMPONENT))
    need(fits(nodes, [[ID, components, KIND[1], {names: ANY}, FLAGS], ...]) and len(nodes) <= 20_000, "section")
    ends = range(len(nodes))
    need(fits(edges, [[ends, names, ends, names, SLOT], ...]) and len(edges) <= 60_000, "section")
    need(all(file[key] and fits(file[key], MAPS[key]) for key in file.keys() & MAPS.keys()), "section")
    edges = [(source, s[output], target, s[into], slot) for source, output, target, into, slot in edges]
    walk = [text for node in nodes for text in (s[node[1]], *sorted(s[i] for i in node[3]))]
    walk += [text for edge in edges for text in (edge[1], edge[3])]
    need(s == [*dict.fromkeys(walk)], "string_table")
    ids, inputs = [node[0] for node in nodes], [edge[2:] for edge in edges]
    need(ids == sorted(ids) and edges == sorted(edges), "order")
    need(len({*ids}) == len(ids) and len({*inputs}) == len(inputs), "duplicate")
    members = [one for group in file.get(67, {}).values() for one in group[1]]
    need({*members, *file.get(64, {}), *file.get(65, {})} <= {*ids}, "dangling")
    try:
        TopologicalSorter({at: {edge[2] for edge in out} for at, out in groupby(edges, lambda edge: edge[0])}).prepare()
    except CycleError:
        need(False, "cycle")
    need(clean(nodes) and clean([*file.get(6, {}).values()]), "secret")


def patch(data: bytes) -> None:
    _, base, target, ops = opened(data, b"P", {0, 1, 2, 3}, {0, 1, 2, 3}, LIMIT + 1).values()
    need(fits([base, target, ops], [[HASH, HASH], [HASH, HASH], [FILLED, ...]]), "section")
    need(all(op[0] in [*OPS] and fits(op[1:], OPS[op[0]]) and repr(op[-2]) != repr(op[-1]) for op in ops), "section")
    keys = [([*OPS].index(op[0]), [v if type(v) is int else (len(v.encode()), v) for v in op[1]]) for op in ops]
    need(all(a < b for a, b in pairwise(keys)), "order")
    whole = [repr(op[1]) for op in ops if op[0][-1] in "+-"]
    fields = {repr(op[1][:1]) for op in ops if op[0] in ("retype", "set", "flag")}
    need(len({*whole}) == len(whole) and not fields & {*whole}, "duplicate")
    need(all(clean([*op[2][2].values()]) for op in ops if op[0] in ("node-", "node+")), "secret")
    need(all(clean(op[2:]) for op in ops if op[0] in ("set", "graph")), "secret")
