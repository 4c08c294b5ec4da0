"""The command `sol`. The language comes with a later version; until then the command says so."""

import argparse
import sys
from importlib.metadata import version


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="sol", description="The tensor language SOL.")
    parser.add_argument("--version", action="version", version=f"sol {version('spaces')}")
    parser.parse_args(arguments)
    print("sol: the tensor language comes with a later version", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
