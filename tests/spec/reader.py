"""A second reader of the codec, `.igb` and `.patch`, written from docs/formats.md alone: it imports nothing of ours."""

import re
import struct
from graphlib import CycleError, TopologicalSorter
from itertools import chain, count, pairwise
from math import frexp, isfinite, ldexp
from typing import Any

# A form is a range of ints, a pattern over UTF-8, an array of forms, {key: value} for a map's entries, or a function.
ID, COMPONENT, TEXT = b"[0-9a-hjkmnp-tv-z]{10}", rb"(?=.{1,64}$)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+", b"(?s).*"
LIMIT, SLOT, SIZE, LABEL, XY = (
    2**53 - 1,
    range(256),
    range(1, 1_000_001),
    b"(?s).{1,200}",
    [range(-(10**6), 10**6 + 1)] * 2,
)
port, flags, rising, secrets, ANY, HASH, FILLED = (
    lambda v: fits(v, b"(?s).{1,64}") and not re.search(r"[\x00-\x1f\x7f-\x9f\s{}]", v),
    lambda v: fits(v, {TEXT: ANY}) and all(fits(one, FLAGS.get(key)) for key, one in v.items()),
    lambda v: FILLED(v) and fits(v, [TEXT] * len(v)) and all(a.encode() < b.encode() for a, b in pairwise(v)),
    lambda v: (
        (len(v) == 1 and fits(v["secret"], b"[A-Z][A-Z0-9_]{0,63}"))
        if isinstance(v, dict) and "secret" in v
        else all(map(secrets, v.values() if isinstance(v, dict) else v if isinstance(v, list) else ()))
    ),
    lambda v: True,
    lambda v: isinstance(v, bytes) and len(v) == 32,
    lambda v: isinstance(v, list) and v != [],
)
FLAGS = {"disabled": lambda v: v is True, "steps": SIZE, "kv": range(1, 2**24 + 1), "seconds": range(1, 86_401)}
NOTE, GROUP = [*XY, SIZE, SIZE, b"(?s).{0,20000}"], [b"(?s).{0,200}", lambda v: rising(v) and fits(v, [ID] * len(v))]
KIND, EDGE = [COMPONENT, range(1, 65536)], [ID, port, ID, port, SLOT]
MAPS = {6: ("settings", TEXT, ANY), 64: ("positions", TEXT, XY), 65: ("labels", TEXT, LABEL), 66: ("notes", ID, NOTE)}
MAPS[67], OPS, VALUES = ("groups", ID, GROUP), {"edge-": EDGE}, {"node": [*KIND, {port: ANY}, flags], "retype": KIND}
OPS |= {"node-": [ID], "node+": [ID], "retype": [ID], "set": [ID, port], "flag": [ID, TEXT], "graph": [TEXT]}
OPS |= {"edge+": EDGE, "move": [ID], "label": [ID], "note": [ID], "group": [ID], "extra": [range(68, LIMIT + 1)]}
VALUES |= {"move": XY, "label": LABEL, "note": NOTE, "group": GROUP}


def fits(value: Any, form: Any) -> bool:
    if isinstance(form, bytes):
        return isinstance(value, str) and re.fullmatch(form, value.encode()) is not None
    if isinstance(form, list):
        return isinstance(value, list) and len(value) == len(form) and all(map(fits, value, form))
    if isinstance(form, dict):
        return isinstance(value, dict) and all(fits([*one], [*next(iter(form.items()))]) for one in value.items())
    return type(value) is int and value in form if isinstance(form, range) else bool(form and form(value))


def need(holds: object, code: str, where: int | str) -> None:
    if not holds:
        raise ValueError(code, where)


def each(all_hold: Any, code: str, what: str) -> None:
    for at, holds in enumerate(all_hold):
        need(holds, code, f"{what}[{at}]")


def real(raw: bytes, at: int) -> float:
    value: float = struct.unpack({2: ">e", 4: ">f", 8: ">d"}[len(raw)], raw)[0]
    need(isfinite(value), "float_not_finite", at)
    need(not value.is_integer() or abs(value) > LIMIT, "float_form", at)
    for high, bits, low in ((16, 11, 24), (128, 24, 149))[: len(raw) // 4]:
        shorter = (
            frexp(value)[1] <= high and ldexp(frexp(value)[0], bits).is_integer() and ldexp(value, low).is_integer()
        )
        need(not shorter, "float_form", at)
    return value


def item(data: bytes, at: int, depth: int, items: Any) -> tuple[Any, int]:
    need(at < len(data), "truncated", at)
    major, info = divmod(data[at], 32)
    need(info < 28, "indefinite" if info == 31 else "reserved", at)
    need(major < 6 or (major == 7 and info in (20, 21, 22, 25, 26, 27)), "tag" if major == 6 else "simple", at)
    end = at + 1 + (1 << info - 24 if info > 23 else 0)
    need(end <= len(data), "truncated", at)
    n = int.from_bytes(data[at + 1 : end], "big") if info > 23 else info
    need(major == 7 or info < 24 or n >= (24, 256, 65536, 1 << 32)[info - 24], "not_shortest", at)
    need(major > 1 or n + major <= LIMIT, "int_range", at)
    need(major not in (4, 5) or depth < 32, "depth", at)
    need(next(items) < 200_000, "items", at)
    if major == 7:
        return real(data[at + 1 : end], at) if info > 24 else {20: False, 21: True}.get(info), end
    need(major < 2 or len(data) - end >= n * (1 + (major == 5)), "truncated", at)
    need(major != 3 or data[end : end + n].decode("utf-8", "ignore").encode() == data[end : end + n], "utf8", at)
    if major < 4:
        return (n, -1 - n, data[end : end + n], data[end : end + n].decode("utf-8", "ignore"))[major], end + n * (
            major > 1
        )
    found, code, key = [], b"", None
    for _ in range(n):
        if major == 5:
            need(end == len(data) or data[end] >> 5 in ([code[0] >> 5] if code else [0, 3]), "key_type", end)
            start, before = end, code
            key, end = item(data, start, depth + 1, items)
            code = data[start:end]
            need(code > before, "key_duplicate" if code == before else "key_order", start)
        one, end = item(data, end, depth + 1, items)
        found.append((key, one) if major == 5 else one)
    return (dict(found) if major == 5 else found), end


def codec(data: bytes, at: int = 0) -> Any:
    need(len(data) - at <= 16 << 20, "size", at)
    need(len(data) > at, "empty", at)
    value, end = item(data, at, 0, count())
    need(end == len(data), "trailing", end)
    return value


def opened(data: bytes, letter: bytes, always: list[int], known: set[int], ancillary: float) -> dict[int, Any]:
    need(data[:8] == b"\x89IG" + letter + b"\r\n\x1a\n", "magic", "file")
    found = codec(data, 8)
    need(isinstance(found, dict) and not any(isinstance(key, str) for key in found), "section", "file")
    need(fits(found.get(0, [1, 0]), [range(1, 2), range(LIMIT + 1)]), "version", "format")
    for key in (*found, *always):
        need(key in found and (key in known or key >= ancillary), "key", str(key))
    return found


def shapes(file: dict[int, Any], strings: Any) -> None:
    need(1 not in file, *("feature", "features[0]") if rising(file.get(1)) else ("section", "features"))
    need(isinstance(strings, list), "section", "strings")
    each((isinstance(entry, str) for entry in strings), "section", "strings")
    name, component = [lambda v, f=f: fits(v, range(len(strings))) and fits(strings[v], f) for f in (port, COMPONENT)]
    node = {"id": ID, "component": component, "version": KIND[1], "params": {name: ANY}, "flags": {TEXT: ANY}}
    whose = lambda v: fits(v, range(len(file[4])))  # noqa: E731
    edge = {"source": whose, "output": name, "target": whose, "input": name, "slot": SLOT}
    for key, what, most, parts in ((4, "nodes", 20_000, node), (5, "edges", 60_000, edge)):
        need(isinstance(file[key], list) and len(file[key]) <= most, "section", what)
        for at, entry in enumerate(file[key]):
            need(fits(entry, [ANY] * 5), "section", f"{what}[{at}]")
            for part, value in zip(parts, entry, strict=True):
                need(fits(value, parts[part]), "section", f"{what}[{at}].{part}")
            for flag in entry[4] if key == 4 else ():
                need(fits(entry[4][flag], FLAGS.get(flag)), "section", f"nodes[{at}].flags.{flag}")
    for key, (what, form, value_form) in MAPS.items():
        need(key not in file or (fits(file[key], {TEXT: ANY}) and file[key]), "section", what)
        for one, value in file.get(key, {}).items():
            need(fits([one, value], [form, value_form]), "section", f"{what}.{one}")
    need(68 not in file or FILLED(file[68]), "section", "conflicts")


def igb(data: bytes) -> None:
    file = opened(data, b"B", [0, 3, 4, 5], {0, 1, 3, 4, 5, 6}, 64)
    shapes(file, strings := file[3])
    walk = [(n[1], *sorted(n[3], key=lambda i: strings[i].encode())) for n in file[4]] + [(e[1], e[3]) for e in file[5]]
    used = dict.fromkeys(strings[i] for i in chain.from_iterable(walk))
    each(
        (entry == due for entry, due in zip(strings, chain(used, [None] * len(strings)), strict=False)),
        "string_table",
        "strings",
    )
    ids, first = [n[0] for n in file[4]], {}
    edges = [(e[0], strings[e[1]].encode(), e[2], strings[e[3]].encode(), e[4]) for e in file[5]]
    for what, keys in (("nodes", ids), ("edges", edges)):
        each((a <= b for a, b in zip(keys[:1] + keys, keys, strict=False)), "order", what)
    for what, keys in (("nodes", ids), ("edges", [edge[2:] for edge in edges])):
        each((first.setdefault(key, at) == at for at, key in enumerate(keys)), "duplicate", what)
    for key, one, value in ((k, *pair) for k in (64, 65, 67) for pair in file.get(k, {}).items()):
        need(set(value[1] if key == 67 else [one]) <= set(ids), "dangling", f"{MAPS[key][0]}.{one}")
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for edge in edges:
        sorter.add(edge[2], edge[0])
    sorter.prepare()
    values = [(f"nodes[{at}].params.{strings[i]}", v) for at, n in enumerate(file[4]) for i, v in n[3].items()]
    for path, value in values + [(f"settings.{key}", v) for key, v in file.get(6, {}).items()]:
        need(secrets(value), "secret", path)


def is_op(op: Any) -> bool:
    if not (isinstance(op, list) and len(op) > 1 and op[0] in [*OPS] and fits(op[1], OPS[op[0]])):
        return False
    if op[0][:4] in ("edge", "node"):
        return fits(op[2:], [VALUES["node"]] if op[0][:4] == "node" else [])
    form = FLAGS.get(op[1][1]) if op[0] == "flag" else FILLED if op[1] == [68] else VALUES.get(op[0], ANY)
    either = all((one == [] and op[0] != "retype") or fits(one, [form]) for one in op[2:])
    return len(op) == 4 and form is not None and either and repr(op[2]) != repr(op[3])


def patch(data: bytes) -> None:
    file = opened(data, b"P", [0, 1, 2, 3], {0, 1, 2, 3}, float("inf"))
    need(fits(file[1], [HASH, HASH]), "section", "base")
    need(fits(file[2], [HASH, HASH]), "section", "target")
    need(isinstance(ops := file[3], list), "section", "ops")
    each(map(is_op, ops), "section", "ops")
    keys = [
        ([*OPS].index(k), [v if type(v) is int else (len(v.encode()), v.encode()) for v in key]) for k, key, *_ in ops
    ]
    each((a < b for a, b in zip([(-1, []), *keys], keys, strict=False)), "order", "ops")
    marks = [(kind, repr(key if kind[:4] == "edge" else key[0])) for kind, key, *_ in ops]
    taken = {at: mark for at, (kind, mark) in enumerate(marks) if kind[:4] in ("edge", "node")}
    first = {mark: at for at, mark in reversed(taken.items())}
    fine = [*OPS][8:]
    each(
        (kind in fine or kind == "graph" or first.get(m, at) >= at for at, (kind, m) in enumerate(marks)),
        "duplicate",
        "ops",
    )
    inner = [[*op[2][2].values()] if op[0][:4] == "node" else op[2:] if op[0] in ("set", "graph") else [] for op in ops]
    each(map(secrets, inner), "secret", "ops")


def verdict(read: Any, data: bytes) -> dict[str, Any]:
    try:
        read(data)
    except ValueError as error:
        code, where = ("cycle", "edges") if isinstance(error, CycleError) else error.args
        return {"code": code} | (
            {"verdict": "malformed", "offset": where}
            if isinstance(where, int)
            else {"verdict": "invalid", "path": where}
        )
    return {"verdict": "accept"}
