"""One reader inside the fuzzer's process: `python -m tests.fuzz.target NAME [options of libFuzzer]`; see `__main__`."""

import sys

import atheris

with atheris.instrument_imports(include=["dots", "igc", "spaces"], enable_loader_override=False):
    from tests.hostile.readers import READERS


def main() -> None:
    reader = READERS[sys.argv[1]]

    def one(data: bytes) -> None:
        try:
            reader.read(data)
        except reader.refusals:
            return

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
