"""Ids of Spaces, nodes and transfers: 50 random bits, ten characters of Crockford's base 32 (docs/formats.md §2)."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(10))
