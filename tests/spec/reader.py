"""A second reader of the codec, `.igb` and `.patch`, written from docs/formats.md alone: it imports nothing of ours."""

import re
import struct
from graphlib import CycleError, TopologicalSorter
from itertools import chain, count
from math import frexp, isfinite, ldexp
from typing import Any

# Forms: a range of ints, a pattern over UTF-8, a function; [forms] or {name: form} of an array, (key, value) of a map.
LIMIT, SIZE, COORDINATE = 2**53 - 1, range(1, 1_000_001), range(-1_000_000, 1_000_001)
ID, COMPONENT, TEXT = b"[0-9a-hjkmnp-tv-z]{10}", rb"(?=.{1,64}$)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+", b"(?s).*"
port, rising, ANY, HASH, FILLED = (
    lambda v: isinstance(v, str) and len(v.encode()) <= 64 and re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\s{}]+", v),
    lambda v, form=TEXT: FILLED(v) and all(leaf(i, form) for i in v) and v == sorted(set(v), key=str.encode),
    lambda v: True,
    lambda v: isinstance(v, bytes) and len(v) == 32,
    lambda v: isinstance(v, list) and v != [],
)
FLAGS = {"disabled": lambda v: v is True, "steps": SIZE, "kv": range(1, 2**24 + 1), "seconds": range(1, 86_401)}
XY, LABEL, GROUP = [COORDINATE, COORDINATE], b"(?s).{1,200}", [b"(?s).{0,200}", lambda v: rising(v, ID)]
NOTE, KIND, EDGE = [*XY, SIZE, SIZE, b"(?s).{0,20000}"], [COMPONENT, range(1, 65536)], [ID, port, ID, port, range(256)]
MAPS = {6: ("settings", TEXT, ANY), 64: ("positions", TEXT, XY), 65: ("labels", TEXT, LABEL), 66: ("notes", ID, NOTE)}
VALUES = {"retype": KIND, "move": XY, "label": LABEL, "note": NOTE, "group": GROUP}
OPS = {"edge-": EDGE, "node-": [ID], "node+": [ID], "retype": [ID], "set": [ID, port], "flag": [ID, TEXT]}
OPS |= {"graph": [TEXT], "edge+": EDGE, "move": [ID], "label": [ID], "note": [ID], "group": [ID]}
MAPS[67], OPS["extra"], IN_NODES = ("groups", ID, GROUP), [range(68, LIMIT + 1)], [*OPS][1:6]


def need(holds: object, code: str, where: int | str) -> None:
    if not holds:
        raise ValueError(
            {"code": code, "verdict": "malformed", "offset": where}
            if isinstance(where, int)
            else {"code": code, "verdict": "invalid", "path": where}
        )


def each(all_hold: Any, code: str, what: str) -> None:
    for at, holds in enumerate(all_hold):
        need(holds, code, f"{what}[{at}]")


def leaf(value: Any, form: Any) -> object:
    if isinstance(form, bytes):
        return isinstance(value, str) and re.fullmatch(form, value.encode())
    return type(value) is int and value in form if isinstance(form, range) else form and form(value)


def check(value: Any, form: Any, path: str) -> None:
    if isinstance(form, tuple):
        need(isinstance(value, dict), "section", path)
        for key, one in value.items():
            check(key, form[0], f"{path}.{key}")
            check(one, form[1].get(key) if isinstance(form[1], dict) else form[1], f"{path}.{key}")
    elif isinstance(form, list | dict):
        need(isinstance(value, list) and len(value) == len(form), "section", path)
        for part, one in zip(form if isinstance(form, dict) else range(len(form)), value, strict=True):
            check(one, form[part], f"{path}.{part}")
    else:
        need(leaf(value, form), "section", path)


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
        return {20: False, 21: True, 22: None}[n] if info < 25 else real(data[at + 1 : end], at), end
    need(major < 2 or len(data) - end >= n * (1 + (major == 5)), "truncated", at)
    if major < 4:
        body = data[end : end + n] if major > 1 else b""
        need(major != 3 or body.decode("utf-8", "ignore").encode() == body, "utf8", at)
        return (n, -1 - n, body, body.decode("utf-8", "ignore"))[major], end + len(body)
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


def real(raw: bytes, at: int) -> float:
    value: float = struct.unpack({2: ">e", 4: ">f", 8: ">d"}[len(raw)], raw)[0]
    need(isfinite(value), "float_not_finite", at)
    need(not value.is_integer() or abs(value) > LIMIT, "float_form", at)
    part, power = frexp(value)
    for high, bits, low in ((16, 11, 24), (128, 24, 149))[: len(raw) // 4]:  # of a shorter form
        fits = power <= high and ldexp(part, bits).is_integer() and ldexp(value, low).is_integer()
        need(not fits, "float_form", at)
    return value


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
    minor = found[0][1] if 0 in found and FILLED(found[0]) and len(found[0]) == 2 else 0
    need(
        0 not in found or (repr(found[0]) == f"[1, {minor}]" and type(minor) is int and minor >= 0), "version", "format"
    )
    for key in (*found, *always):
        need(key in found and (key in known or key >= ancillary), "key", str(key))
    return found


def secret(value: Any, path: str) -> None:
    if isinstance(value, dict) and "secret" in value:
        need(len(value) == 1 and leaf(value["secret"], b"[A-Z][A-Z0-9_]{0,63}"), "secret", path)
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        secret(one, path)


def igb(data: bytes) -> None:
    file = opened(data, b"B", [0, 3, 4, 5], {0, 1, 3, 4, 5, 6}, 64)
    need(1 not in file, *("feature", "features[0]") if rising(file.get(1)) else ("section", "features"))
    s, nodes, edges = file[3], file[4], file[5]
    name, component, node = (
        lambda v: leaf(v, range(len(s))) and port(s[v]),
        lambda v: leaf(v, range(len(s))) and leaf(s[v], COMPONENT),
        lambda v: leaf(v, range(len(nodes))),
    )
    parts = {"id": ID, "component": component, "version": KIND[1], "params": (name, ANY), "flags": (TEXT, FLAGS)}
    ends = {"source": node, "output": name, "target": node, "input": name, "slot": range(256)}
    for rows, what, most, form in (
        (s, "strings", LIMIT, TEXT),
        (nodes, "nodes", 20_000, parts),
        (edges, "edges", 60_000, ends),
    ):
        need(isinstance(rows, list) and len(rows) <= most, "section", what)
        for at, row in enumerate(rows):
            check(row, form, f"{what}[{at}]")
    for key, (what, *form) in MAPS.items():
        need(file.get(key) != {}, "section", what)
        check(file.get(key, {}), tuple(form), what)
    need(68 not in file or FILLED(file[68]), "section", "conflicts")
    used = chain.from_iterable([n[1], *sorted(n[3], key=lambda i: s[i].encode())] for n in nodes)
    walk = dict.fromkeys(s[i] for i in chain(used, *((e[1], e[3]) for e in edges)))
    each(map(str.__eq__, s, chain(walk, (c + "!" for c in s))), "string_table", "strings")
    ids, first = [n[0] for n in nodes], {}
    edges = [(e[0], s[e[1]].encode(), e[2], s[e[3]].encode(), e[4]) for e in edges]
    for what, keys in (("nodes", ids), ("edges", edges)):
        each((a <= b for a, b in zip(keys[:1] + keys, keys, strict=False)), "order", what)
    for what, keys in (("nodes", ids), ("edges", [edge[2:] for edge in edges])):
        each((first.setdefault(key, at) == at for at, key in enumerate(keys)), "duplicate", what)
    for key, one, value in ((k, *pair) for k in (64, 65, 67) for pair in file.get(k, {}).items()):
        need(set(value[1] if key == 67 else [one]) <= first.keys(), "dangling", f"{MAPS[key][0]}.{one}")
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for edge in edges:
        sorter.add(edge[2], edge[0])
    sorter.prepare()
    for at, i, value in ((at, *pair) for at, n in enumerate(nodes) for pair in n[3].items()):
        secret(value, f"nodes[{at}].params.{s[i]}")
    for key, value in file.get(6, {}).items():
        secret(value, f"settings.{key}")


def patch(data: bytes) -> None:
    file = opened(data, b"P", [0, 1, 2, 3], {0, 1, 2, 3}, float("inf"))
    check(file[1], [HASH, HASH], "base")
    check(file[2], [HASH, HASH], "target")
    need(isinstance(ops := file[3], list), "section", "ops")
    for path, op in ((f"ops[{at}]", op) for at, op in enumerate(ops)):
        need(isinstance(op, list) and len(op) > 1 and op[0] in [*OPS], "section", path)
        check(op[1], OPS[op[0]], path)
        value = FLAGS.get(op[1][1]) if op[0] == "flag" else FILLED if op[1] == [68] else VALUES.get(op[0], ANY)
        change = [[] if v == [] and op[0] != "retype" else [value] for v in op[2:4]]
        node = [[*KIND, (port, ANY), (TEXT, FLAGS)]] if op[0][:4] == "node" else []
        check(op[2:], node if op[0][:4] in ("node", "edge") else change, path)
        need(op[0][:4] in ("node", "edge") or (len(op) == 4 and repr(op[2]) != repr(op[3])), "section", path)
    keys = [([*OPS].index(op[0]), [v if type(v) is int else (len(v.encode()), v) for v in op[1]]) for op in ops]
    each((a < b for a, b in zip([(-1, []), *keys], keys, strict=False)), "order", "ops")
    taken: set[str] = set()
    for at, op in enumerate(ops):
        mark = repr(op[1]) if "edge" in op[0] else op[1][0] if op[0] in IN_NODES else None
        need(mark not in taken, "duplicate", f"ops[{at}]")
        taken |= {mark} if op[0][:4] in ("edge", "node") else set()
    for at, op in enumerate(ops):
        secret(
            [*op[2][2].values()] if op[0][:4] == "node" else op[2:] if op[0] in ("set", "graph") else [], f"ops[{at}]"
        )


def verdict(read: Any, data: bytes) -> dict[str, Any]:
    try:
        read(data)
    except CycleError:
        return {"code": "cycle", "verdict": "invalid", "path": "edges"}
    except ValueError as error:
        return dict(error.args[0])
    return {"verdict": "accept"}
