"""Frames on the engine's own sockets: one codec item behind a u32 little-endian length, at most 16 MiB.

What arrives is hostile until it is decoded: a length is checked before anything is read for it.
"""

import asyncio
import socket
import struct
from typing import Any, Final

from dots import codec

PROTOCOL: Final = 1  # what client and host say hello with
HEAD: Final = struct.Struct("<I")


class BadFrame(ValueError):
    """What arrived is no frame; the connection is of no further use."""


def pack(value: object) -> bytes:
    """Raises codec.Unencodable for a value that has no encoding."""
    body = codec.encode(value)
    return HEAD.pack(len(body)) + body


def _size(head: bytes) -> int:
    size: int = HEAD.unpack(head)[0]
    if size > codec.MAX_SIZE:
        raise BadFrame(f"expected a frame of at most {codec.MAX_SIZE} bytes, got {size}")
    return size


def _map(body: bytes) -> dict[str, Any]:
    try:
        value = codec.decode(body)
    except codec.Malformed as error:
        raise BadFrame(str(error)) from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise BadFrame(f"expected a map with text keys, got {type(value).__name__}")
    return {str(key): item for key, item in value.items()}


async def read(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next frame; None at the end of the stream."""
    try:
        head = await reader.readexactly(HEAD.size)
        return _map(await reader.readexactly(_size(head)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def receive(sock: socket.socket) -> dict[str, Any] | None:
    """The next frame of a blocking socket; None at its end. Raises TimeoutError with the socket's timeout."""
    head = _exactly(sock, HEAD.size)
    body = _exactly(sock, _size(head)) if head else None
    return None if body is None else _map(body)


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            part = sock.recv(min(size - len(data), 1 << 20))
        except ConnectionError:
            return None
        if not part:
            return None
        data += part
    return bytes(data)
