"""Kernel files through every pass: what the last stage computes is what the file's golden function does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from compat.lowering import compare, forget, harness_calls, last_stage

HERE = Path(__file__).parent
KERNELS = sorted([*(HERE / "files").glob("*.py"), *(HERE / "kernels").glob("*.py")])
FILES = [path for path in KERNELS if "__main__" in path.read_text(encoding="utf-8")]


@pytest.fixture(autouse=True)
def fresh_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files import their neighbours by bare names, which other tests may use too."""
    monkeypatch.chdir(tmp_path)
    forget(HERE / "kernels")
    yield
    forget(HERE / "kernels")


def test_there_are_files() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("backend_name", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_last_stage_agrees_with_the_golden(path: Path, backend_name: str) -> None:
    platform = "a2a3sim" if backend_name == "Ascend910B" else "a5sim"
    calls = harness_calls(path, "-p", platform)
    assert calls, f"{path.stem} calls no harness"
    for call in calls:
        compare(last_stage(call.program(), backend_name), call)


def test_the_page_tells_of_every_file() -> None:
    page = (HERE.parents[1] / "docs/compat.md").read_text(encoding="utf-8")
    assert f"hold {len(FILES)} files" in page
    assert [path.stem for path in FILES if f"`{path.stem}`" not in page] == []
