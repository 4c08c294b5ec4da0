"""The name of a file's bytes, worked out on a thread of its own while the file is already read.

A known file's digest is known before; nothing may be returned or kept under it until it is proven.
"""

import hashlib
import mmap
import threading

from dots.errors import Code, Failure, Refused


class Digest:
    """SHA-256 of a mapped file, hex."""

    def __init__(self, name: str, data: mmap.mmap, expected: str | None) -> None:
        self._name, self._data, self._expected = name, data, expected
        self._found = ""
        self._hashing = threading.Thread(target=self._hash, name="dots-digest")
        self._hashing.start()

    def _hash(self) -> None:
        # All in one call: between two, the thread would wait for the interpreter, which others are using.
        self._found = hashlib.sha256(self._data).hexdigest()

    def likely(self) -> str:
        """The expected one at once, where there is one."""
        return self._expected or self.proven()

    def proven(self) -> str:
        """Raises Refused where the file is not the expected one."""
        self._hashing.join()
        if self._expected not in (None, self._found):
            raise Refused(Failure(Code.INVALID_VALUE, f"model file {self._name}", str(self._expected), self._found))
        return self._found
