"""Dots on the toy model: exact limits, one release, nothing leaks, the same text alone and in company."""

import pytest

from dots.arena import PAGE
from dots.dot import State
from dots.errors import Code, Refused
from dots.models.device import Batch
from dots.program import Limits
from tests.dots.toy import END, PIECES, ToyExecutor, ToyModel, ToyTokenizer, letters, spoken, text_of, tokens_of
from tests.dots.world import kib, work, world


def test_a_dot_says_what_the_model_says() -> None:
    with world() as w:
        dot = w.submit(work("hello", max_tokens=20))
        w.run()
        w.engine.cancel(dot)  # too late to change anything
        assert dot.tokens == tokens_of(letters("hello"), 20)
        assert (dot.state, dot.finish, dot.stream.text) == (State.DONE, "cut", text_of(dot.tokens))
        assert w.is_empty()


def test_the_step_limit_is_exact_and_keeps_the_partial_text() -> None:
    with world() as w:
        dot = w.submit(work("x" * 20, Limits(16, kib(35), 60), end_tokens=False))
        w.run()
        assert (dot.steps, dot.launched, dot.state) == (16, 16, State.FAILED)
        assert dot.failure is not None
        assert dot.failure.code is Code.LAUNCH_OUT_OF_RESOURCES
        assert dot.stream.text == text_of(tokens_of(letters("x" * 20), 16))
        assert sum(w.model.executor.batches) == 20 + 15  # the step after the last was never launched
        assert w.is_empty()


def test_a_stop_string_on_token_12_ends_the_dot_without_an_error() -> None:
    say = [PIECES.index(bytes([c])) for c in b"once upon a time there was".replace(b" ", b"")]
    model = ToyModel(ToyExecutor(spoken(PIECES, 5, say)))
    with world(model=model) as w:
        dot = w.submit(work("hello", Limits(16, 1024, 60), stop=("time", "atim"), end_tokens=False))
        w.run()
        assert (dot.steps, dot.state, dot.finish, dot.failure) == (12, State.DONE, "stop", None)
        assert dot.stream.text == "onceupon"


def test_an_end_token_is_a_step_and_no_text() -> None:
    with world(model=ToyModel(ToyExecutor(spoken(PIECES, 5, [3, 4, END])))) as w:
        dot = w.submit(work("hello"))
        w.run()
        assert (dot.steps, dot.finish, dot.stream.text) == (3, "end", "cd")


def test_an_end_token_on_the_last_step_is_an_end_and_no_error() -> None:
    with world(model=ToyModel(ToyExecutor(spoken(PIECES, 5, [3, 4, END])))) as w:
        dot = w.submit(work("hello", Limits(3, 1024, 60)))
        w.run()
        assert (dot.finish, dot.failure) == ("end", None)


def test_without_end_tokens_an_end_token_is_an_ordinary_one() -> None:
    with world(model=ToyModel(ToyExecutor(spoken(PIECES, 5, [3, END, 4])))) as w:
        dot = w.submit(work("hello", max_tokens=3, end_tokens=False))
        w.run()
        assert (dot.tokens, dot.finish) == ([3, END, 4], "cut")


def test_the_soft_limit_wins_over_an_equal_hard_one() -> None:
    with world() as w:
        dot = w.submit(work(limits=Limits(8, 1024, 60), max_tokens=8))
        w.run()
        assert (dot.steps, dot.finish, dot.failure) == (8, "cut", None)


def test_four_dots_at_once_get_exactly_their_steps_and_the_text_they_get_alone() -> None:
    prompts = {"one": 3, "another": 16, "a third one": 17, "the last of four": 64}
    with world() as w:
        dots = [w.submit(work(p, Limits(n, 1024, 60), end_tokens=False)) for p, n in prompts.items()]
        w.run()
        assert [d.steps for d in dots] == [3, 16, 17, 64]
        assert [d.tokens for d in dots] == [tokens_of(letters(p), n) for p, n in prompts.items()]
        assert {d.failure.code for d in dots if d.failure} == {Code.LAUNCH_OUT_OF_RESOURCES}
        assert w.is_empty()


def test_a_long_prompt_goes_in_chunks_and_says_the_same() -> None:
    with world() as w:
        dot = w.submit(work("p" * 300, max_tokens=5))
        w.run()
        assert w.model.executor.batches == [256, 44, 1, 1, 1, 1]
        assert dot.tokens == tokens_of(letters("p" * 300), 5)


def test_a_decoding_dot_goes_on_while_another_reads_a_long_prompt() -> None:
    with world() as w:
        first = w.submit(work("hi", max_tokens=30))
        w.engine.step()
        second = w.submit(work("p" * 300, max_tokens=2))
        for steps in (2, 3, 4):
            w.engine.step()
            assert first.steps == steps
        assert w.model.executor.batches == [2, 65, 65, 65]
        assert 0 < second.computed < 300
        w.run()
        assert first.tokens == tokens_of(letters("hi"), 30)


@pytest.mark.parametrize(
    ("prompt", "limits", "where", "numbers"),
    [
        ("x" * 20, Limits(64, 64, 60), "kv limit", ("64 KiB", "448 KiB", "83 rows", "20 prompt tokens", "64 steps")),
        ("x" * 20, Limits(1000, 10_000, 60), "kv pool", ("4096 KiB", "4992 KiB", "1019 rows")),
        ("x" * 20, Limits(5000, 100_000, 60), "context", ("4096 rows", "5019 rows")),
    ],
)
def test_a_dot_that_can_never_fit_is_refused_at_once_with_numbers(
    prompt: str, limits: Limits, where: str, numbers: tuple[str, ...]
) -> None:
    with world(pages=64) as w:
        with pytest.raises(Refused) as caught:
            w.submit(work(prompt, limits))
        failure = caught.value.failure
        assert (failure.code, failure.where, failure.retry) == (Code.OUT_OF_MEMORY, where, False)
        assert [n for n in numbers if n not in str(failure)] == []
        assert w.is_empty()


def test_an_empty_prompt_is_refused() -> None:
    with world() as w, pytest.raises(Refused, match="at least one token"):
        w.submit(work(""))


def test_the_kv_limit_counts_whole_pages() -> None:
    with world() as w:
        rows = 2 * PAGE // 5000 + 1  # three pages
        with pytest.raises(Refused):
            w.submit(work("abc", Limits(rows - 2, 191, 60)))
        dot = w.submit(work("abc", Limits(rows - 2, 192, 60), end_tokens=False))
        w.run()
        assert (dot.kv_committed, dot.kv_used) == (3 * PAGE, rows * 5000)


def test_a_full_pool_queues_with_a_place_and_serves_in_order() -> None:
    with world(pages=10) as w:
        dots = [w.submit(work("abc", Limits(100, 1024, 60), max_tokens=100)) for _ in range(3)]  # 8 pages each
        w.engine.step()
        assert [(d.state, d.place, d.reason) for d in dots] == [
            (State.RUNNING, 0, ""),
            (State.QUEUED, 1, "pool"),
            (State.QUEUED, 2, "pool"),
        ]
        w.engine.cancel(dots[0])
        w.engine.step()
        assert [(d.state, d.place) for d in dots[1:]] == [(State.RUNNING, 1), (State.QUEUED, 1)]
        w.run()
        assert [d.finish for d in dots] == [None, "cut", "cut"]
        assert w.is_empty()


def test_cancel_frees_kv_and_steps_before_the_next_step() -> None:
    with world() as w:
        dot = w.submit(work(max_tokens=50))
        for _ in range(5):
            w.engine.step()
        assert w.engine.usage().steps_reserved == 45
        w.engine.cancel(dot)
        usage = w.engine.usage()
        assert (usage.kv_used, usage.kv_committed, usage.kv_reserved, usage.steps_reserved, usage.dots) == (
            0,
            0,
            0,
            0,
            0,
        )
        assert (dot.state, dot.steps, dot.stream.text) == (State.CANCELLED, 5, text_of(tokens_of(letters("hello"), 5)))
        w.engine.cancel(dot)
        assert w.is_empty()


def test_a_deadline_ends_only_its_dot() -> None:
    with world() as w:
        late = w.submit(work("late", Limits(50, 1024, 2), max_tokens=50))
        other = w.submit(work("other", max_tokens=50))
        for _ in range(3):
            w.engine.step()
        w.clock.now = 2.0
        w.run()
        assert late.failure is not None
        assert (late.failure.code, late.failure.retry, late.steps) == (Code.LAUNCH_TIMEOUT, True, 3)
        assert other.tokens == tokens_of(letters("other"), 50)
        assert w.is_empty()


def test_pages_used_again_read_as_zeros_and_give_the_same_text() -> None:
    with world(pages=24) as w:
        texts = []
        for _ in range(4):
            dot = w.submit(work("same", max_tokens=60))
            w.run()
            texts.append(dot.stream.text)
        assert len(set(texts)) == 1
        assert dot.failure is None


def test_a_failing_forward_ends_its_dots_and_no_others() -> None:
    def fail_once(batch: Batch) -> None:
        if len(w.model.executor.batches) == 3:
            w.model.executor.before = lambda batch: None
            raise RuntimeError("a kernel broke")

    with world(pages=12) as w:
        w.model.executor.before = fail_once
        dots = [w.submit(work(p, max_tokens=64)) for p in ("one", "two")]  # 6 pages each
        waiting = w.submit(work("three", max_tokens=64))
        w.run()
        assert [d.state for d in dots] == [State.FAILED, State.FAILED]
        assert [d.failure.got for d in dots if d.failure] == ["RuntimeError: a kernel broke"] * 2
        assert waiting.tokens == tokens_of(letters("three"), 64)
        assert w.is_empty()


def test_logits_that_are_not_finite_fail_their_dot_only() -> None:
    class Broken(ToyExecutor):
        def forward(self, batch: Batch):  # type: ignore[no-untyped-def]
            logits = super().forward(batch)
            if len(self.batches) == 4:
                logits[0, 5] = float("nan")
            return logits

    with world(model=ToyModel(Broken())) as w:
        first, second = (w.submit(work(p, max_tokens=10)) for p in ("one", "two"))
        w.run()
        assert (first.state, first.steps) == (State.FAILED, 3)
        assert second.tokens == tokens_of(letters("two"), 10)
        assert w.is_empty()


def test_text_waits_for_whole_characters() -> None:
    pieces = [b"", b"a", b"\xe4\xbd", b"\xa0", b"\xf0", *PIECES[5:]]
    model = ToyModel(ToyExecutor(spoken(pieces, 5, [1, 2, 3, 4])), ToyTokenizer(pieces))
    with world(model=model) as w:
        dot = w.submit(work("hello", max_tokens=4))
        taken = []
        while dot.live:
            w.engine.step()
            taken.append(dot.stream.take())
        assert taken == ["a", "", "你", "\ufffd"]


def test_a_smaller_tokenizer_than_the_model_hides_the_padding() -> None:
    model = ToyModel(ToyExecutor(lambda hashed, position: 63), ToyTokenizer(PIECES[:10]))
    with world(model=model) as w:
        dot = w.submit(work(max_tokens=2, end_tokens=False))
        w.run()
        assert dot.tokens == [0, 0]
