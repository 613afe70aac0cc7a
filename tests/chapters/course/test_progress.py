"""How far a learner is."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapters.course import Progress
from chapters.course.progress import ProgressError


def test_it_is_kept(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "course.json")
    progress.reach("s01", 3, of=9)
    progress.reach("s02", 4, of=4)
    progress.passed("s01-loop")
    progress.set_language("ja")
    again = Progress(tmp_path / "course.json")
    assert (again.step("s01"), again.done("s01"), again.done("s02")) == (3, False, True)
    assert again.has_passed("s01-loop")
    assert not again.has_passed("s11-backoff")
    assert again.language == "ja"


def test_going_back_loses_nothing_and_restarting_forgets_one_chapter(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "course.json")
    progress.reach("s01", 9, of=9)
    progress.reach("s01", 2, of=9)
    progress.reach("s02", 2, of=9)
    assert (progress.step("s01"), progress.done("s01")) == (9, True)
    progress.restart("s01")
    assert (progress.step("s01"), progress.done("s01"), progress.step("s02")) == (0, False, 2)


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"language": "xx", "steps": {}, "done": [], "passed": []}']
)
def test_a_damaged_file_is_set_aside(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "course.json"
    path.write_bytes(damage)
    progress = Progress(path)
    assert progress.step("s01") == 0
    assert progress.set_aside is not None
    assert progress.set_aside.read_bytes() == damage
    progress.reach("s01", 1, of=2)
    assert Progress(path).step("s01") == 1


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    progress = Progress(tmp_path / "file" / "course.json")
    with pytest.raises(ProgressError, match=r"course\.json"):
        progress.reach("s01", 1, of=2)


def _reach(path: Path, number: int) -> None:
    for step in range(1, 6):
        Progress(path).reach(f"s{number:02}", step, of=5)


def test_sessions_side_by_side_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "course.json"
    with ThreadPoolExecutor(4) as sessions:
        list(sessions.map(lambda number: _reach(path, number), range(4)))
    assert Progress(path).set_aside is None
    assert [Progress(path).done(f"s{number:02}") for number in range(4)] == [True] * 4
    assert json.loads(path.read_bytes())["done"] == ["s00", "s01", "s02", "s03"]


STEPS = st.lists(
    st.tuples(st.sampled_from(["s01", "s02"]), st.sampled_from(["reach", "restart", "reopen"]), st.integers(1, 4)),
    max_size=12,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_it_is_the_furthest_beat_since_the_last_restart(tmp_path: Path, steps: list[tuple[str, str, int]]) -> None:
    path = tmp_path / "course.json"
    path.unlink(missing_ok=True)
    progress, furthest = Progress(path), {"s01": 0, "s02": 0}
    for lesson, action, step in steps:
        match action:
            case "reach":
                progress.reach(lesson, step, of=4)
                furthest[lesson] = max(furthest[lesson], step)
            case "restart":
                progress.restart(lesson)
                furthest[lesson] = 0
            case _:
                progress = Progress(path)
        assert {name: progress.step(name) for name in furthest} == furthest
        assert {name: progress.done(name) for name in furthest} == {name: seen == 4 for name, seen in furthest.items()}
