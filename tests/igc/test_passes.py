"""Passes, text in and text out: `tests/golden/igc/<pass>/`; `python -m tests.igc.golden` writes them anew."""

from pathlib import Path

import pytest

from igc.compile import PIPELINE
from tests.igc import golden


@pytest.mark.parametrize("path", golden.files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_pass_gives_what_its_golden_file_says(path: Path) -> None:
    assert path.read_text("utf-8") == golden.given(path) + golden.LINE + golden.answer(path)


def test_each_pass_has_golden_files_and_the_name_of_its_file() -> None:
    assert {path.parent.name for path in golden.files()} == {one.name for one in PIPELINE}
    assert [type(one).__module__ for one in PIPELINE] == [f"igc.passes.{one.name}" for one in PIPELINE]
