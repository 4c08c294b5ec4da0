"""Passes, text in and text out: `tests/golden/igc/<pass>/`; `--accept` writes what came."""

from pathlib import Path

import pytest

from igc.compile import PIPELINE
from tests.igc import golden


@pytest.mark.parametrize("path", golden.files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_pass_gives_what_its_golden_file_says(path: Path, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept", False):
        path.write_text(golden.given(path) + golden.LINE + golden.answer(path), "utf-8")
    assert path.read_text("utf-8") == golden.given(path) + golden.LINE + golden.answer(path)


def test_each_pass_has_golden_files_and_the_name_of_its_file() -> None:
    assert {path.parent.name for path in golden.files()} == {one.name for one in PIPELINE}
    assert [type(one).__module__ for one in PIPELINE] == [f"igc.passes.{one.name}" for one in PIPELINE]
