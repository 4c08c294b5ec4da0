"""Compiles a pass, in a process of its own: `python -m dots.models.compiler` reads what on standard input, as JSON.

Compiling takes seconds and much memory that nobody needs again; here it holds up nobody and leaves nothing behind. A
dot is written for each function that is ready, then the end of the line, the code's name as a line, and the code.
"""

import json
import sys

from dots.models.compiling import machine_code, watched
from dots.models.forward import build
from dots.models.isa import Isa
from dots.models.layout import Form, Shape


def main() -> None:
    wanted = json.load(sys.stdin)
    out = sys.stdout.buffer

    def dot() -> None:
        out.write(b".")
        out.flush()

    shape = wanted["shape"] | {"forms": tuple(map(Form, wanted["shape"]["forms"]))}
    with watched(dot):
        name, code = machine_code(build(Isa(wanted["isa"]), Shape(**shape)))
    out.write(b"\n" + name.encode() + b"\n" + code)
    out.flush()


if __name__ == "__main__":
    main()
