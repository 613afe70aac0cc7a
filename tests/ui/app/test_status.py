"""The line at the bottom, in any width."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.session import NoAsker, open_session
from harness.ui.app.activity import status_of
from harness.ui.app.status_line import BETWEEN, Status, line
from harness.ui.panel.state import Panel
from tests.agent.stage import MODEL, settings_of
from tests.ui.panel import situations

WORDS = st.text(alphabet="ab 0…·天é🙂", min_size=1, max_size=20)
STATUSES = st.builds(
    Status,
    st.lists(WORDS, min_size=1, max_size=5).map(tuple),
    st.one_of(st.just(""), WORDS),
    st.lists(st.tuples(WORDS, WORDS), max_size=4).map(tuple),
)
USUAL = Status(("claude", "asks first", "20%"), "", (("F2", "panel"), ("F3", "full"), ("?", "keys")))


@given(STATUSES, st.integers(1, 120))
def test_it_never_has_more_cells_than_there_is_room_for(status: Status, columns: int) -> None:
    assert line(status, columns).cell_length <= columns


@given(STATUSES, st.integers(70, 120))
def test_where_there_is_room_the_first_fact_and_the_warning_are_there(status: Status, columns: int) -> None:
    shown = line(status, columns).plain
    assert shown.startswith(status.facts[0])
    assert status.warning in shown


@given(STATUSES, st.integers(1, 60))
def test_in_any_width_the_warning_or_else_the_first_fact_begins_to_show(status: Status, columns: int) -> None:
    wanted = status.warning or status.facts[0]
    shown = line(status, columns).plain
    assert wanted in shown or shown.rstrip().rstrip("…").strip() in wanted


@given(STATUSES, st.integers(1, 120))
def test_facts_and_keys_are_left_out_from_the_end_and_never_cut(status: Status, columns: int) -> None:
    shown = line(status, columns).plain
    if not status.warning and not shown.rstrip().endswith("…"):
        assert any(shown.startswith(BETWEEN.join(status.facts[:count])) for count in range(len(status.facts), 0, -1)), (
            shown
        )


def test_the_long_name_of_a_model_leaves_room_for_the_mode_and_the_keys() -> None:
    status = Status(("claude-" + "long-" * 14, "asks first", "21 %"), "", USUAL.keys, main="asks first")
    shown = line(status, 100).plain
    assert shown.startswith("claude-long-long-")
    assert "… · asks first" in shown
    assert shown.endswith("F2 panel   F3 full   ? keys")


def test_what_is_left_out_first() -> None:
    assert line(USUAL, 60).plain == "claude · asks first · 20%        F2 panel   F3 full   ? keys"
    assert line(USUAL, 50).plain == "claude · asks first    F2 panel   F3 full   ? keys"
    assert line(USUAL, 20).plain == "claude      F2 panel"
    assert line(USUAL, 10).plain == "claude    "
    assert line(USUAL, 4).plain == "cla…"
    assert line(Status(("claude",), "stopping", USUAL.keys), 30).plain == "claude" + " " * 16 + "stopping"
    assert line(Status(("claude",), "Ctrl+C again to quit"), 12).plain == "Ctrl+C agai…"


@pytest.mark.parametrize("model", ["practice model", "claude-sonnet-5-5", "opus-4-8 instead of sonnet-5-5"])
@pytest.mark.parametrize("columns", [20, 30, 40, 50, 60, 80, 120])
def test_the_permission_mode_outlives_the_keys_and_the_model(model: str, columns: int) -> None:
    status = Status((model, "high", "asks first", "21 %", "$0.11"), "", USUAL.keys, main="asks first")
    shown = line(status, columns).plain
    assert "asks first" in shown
    assert "F2 panel" not in shown or model[: columns // 2 - 1] in shown


@pytest.mark.parametrize("columns", [24, 30, 40, 60])
def test_the_key_that_stops_outlives_the_end_of_what_runs(columns: int) -> None:
    shown = line(Status(("running bash: " + "x" * 60, "12 s"), "", (("Esc", "stop"),), shortens=True), columns).plain
    assert shown.startswith("running b")
    assert shown.endswith("…   Esc stop")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("panel", "running", "model"),
    [
        (situations.CALM, True, MODEL),
        (situations.FALLBACK, True, f"{situations.OTHER} instead of {MODEL}"),
        (situations.FALLBACK, False, MODEL),
    ],
    ids=["the chosen one answers", "another one answers", "at rest"],
)
async def test_the_model_that_answers_is_the_first_fact(
    tmp_path: Path, panel: Panel, running: bool, model: str
) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        assert status_of(session, panel, running=running, past=False, warning="").facts[0] == model


def test_nothing_is_said_in_no_room() -> None:
    assert line(USUAL, 0).plain in ("", "…")


def test_a_status_without_facts_is_an_empty_line() -> None:
    assert line(Status(), 20).plain.strip() == ""
