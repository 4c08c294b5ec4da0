"""The matcher process: says which tokens a grammar allows next. `python -m dots.matcher CONTROL VOCABULARY` is started
by `dots.grammar` and forks itself for every grammar, so that one that runs wild takes nobody with it.

A grammar is text from people. Its compilation is native code that no thread can stop, and a few lines can make it
overflow its stack or work for minutes: here the kernel bounds memory and processor time, and the parent may kill.
The vocabulary is read once and shared by all forks; nothing else is.

A channel carries one packet each: to us the grammar, then four bytes for each token; from us `M` with a flag (the text
may end here) and the mask, a bit for each token, then `T` with a flag (nothing can follow) after each token. `E` with
a message ends it.
"""

import gc
import os
import resource
import socket
import sys
from collections.abc import Sequence
from typing import Final

from llguidance import LLMatcher, LLParserLimits, LLTokenizer, TokenizerWrapper

from dots.vocabulary import MEMORY, PACKET, is_text, unpacked

SECONDS: Final = 5  # of processor time: to compile, and at most for one step
WORDS: Final = 400  # characters of an error
# The work of a step is counted, not timed: the same grammar fails at the same token on every machine. At the library's
# own figures this is some 15 ms for the lexer and 3 ms for the parser.
LIMITS: Final = LLParserLimits(
    max_items_in_row=500,
    initial_lexer_fuel=1_000_000,
    step_lexer_fuel=200_000,
    step_max_items=50_000,
    max_lexer_states=20_000,
    max_grammar_size=100_000,
    verbose_errors=False,
)


class Tokens:
    """A vocabulary as the library reads it. A token without bytes is marked special: no grammar's text can reach it."""

    bos_token_id = None

    def __init__(self, pieces: Sequence[bytes], ends: Sequence[int]) -> None:
        self.tokens = [piece if is_text(piece) else b"\xff<%d>" % n for n, piece in enumerate(pieces)]
        self.special_token_ids = [n for n, piece in enumerate(pieces) if not is_text(piece)]
        self.eos_token_id = ends[0]

    def __call__(self, text: bytes) -> list[int]:
        """Asked only to force tokens, and grammars here never force: the model chooses where its tokens end."""
        return []


def main(arguments: list[str]) -> int:
    control, vocabulary = map(int, arguments)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(vocabulary, "rb") as file:
        pieces, ends = unpacked(file.read())
    tokenizer = LLTokenizer(TokenizerWrapper(Tokens(pieces, ends)), eos_token=ends)
    del pieces
    gc.freeze()  # what forks only read stays shared
    with socket.socket(fileno=control) as asked:
        while fork(asked, tokenizer):
            reap()
    return 0


def fork(asked: socket.socket, tokenizer: LLTokenizer) -> bool:
    """Serve one channel in a process of its own, and tell the parent how to end it; False when nobody asks any more."""
    message, given, _, _ = socket.recv_fds(asked, 1, 1)
    if not message:
        return False
    with socket.socket(fileno=given[0]) as channel:
        child = os.fork()
        if child == 0:
            asked.close()
            try:
                serve(channel, tokenizer)
            finally:
                os._exit(0)
    handle = os.pidfd_open(child)
    socket.send_fds(asked, [b"p"], [handle])
    os.close(handle)
    return True


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass  # none is left


def serve(channel: socket.socket, tokenizer: LLTokenizer) -> None:
    """One grammar, to the end of its channel."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # the library tells of its panics; the parent hears `E`
        os.dup2(nowhere.fileno(), 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    grammar = channel.recv(PACKET).decode()
    bound()
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0, limits=LIMITS)
    while not matcher.is_error():
        mask = matcher.compute_bitmask()
        if matcher.is_error():
            break
        channel.send(b"M" + bytes([matcher.is_accepting()]) + mask)
        token = channel.recv(4)
        if not token:
            return
        bound()
        if not matcher.consume_token(int.from_bytes(token, "little")):
            break
        channel.send(b"T" + bytes([matcher.is_stopped()]))
        if matcher.is_stopped():
            return
    channel.send(b"E" + matcher.get_error()[:WORDS].encode())


def bound() -> None:
    """Processor time from now on; more of it ends the process."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(spent.ru_utime + spent.ru_stime) + SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
