"""The plan of s05 in its file, and who speaks of it when."""

from pathlib import Path

from chapters.s05_todo_write.demo import PlanKeeper, plan_in
from harness.events import HookPoint, ItemStatus, PlanChanged, PlanItem, TurnStarted
from harness.hooks import HookCall
from harness.journal import Journal

OPEN = (PlanItem("first", ItemStatus.DONE), PlanItem("second"))
DONE = (PlanItem("first", ItemStatus.DONE), PlanItem("second", ItemStatus.DONE))


def stop(objections: int) -> HookCall:
    """The end of a turn, after so many objections."""
    return HookCall(HookPoint.STOP, "/w", 1, objections=objections)


def test_the_last_plan_counts() -> None:
    assert plan_in([]) == ()
    assert plan_in([PlanChanged(OPEN), TurnStarted(1, "on"), PlanChanged(DONE)]) == DONE


def test_another_program_finds_the_plan_in_the_file(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "one") as journal:
        keeper = PlanKeeper(journal)
        keeper.record(PlanChanged(OPEN))
        keeper.record(TurnStarted(1, "on"))
        assert keeper.plan == OPEN
    with Journal.open(keeper.path) as journal:
        assert PlanKeeper(journal).plan == OPEN


def test_it_speaks_once_and_only_of_a_plan_with_open_parts(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "one") as journal:
        keeper = PlanKeeper(journal)
        assert keeper.unfinished(stop(0)) is None
        keeper.record(PlanChanged(OPEN))
        answer = keeper.unfinished(stop(0))
        assert answer is not None
        assert "second" in answer.block
        assert "first" not in answer.block
        assert keeper.unfinished(stop(1)) is None
        keeper.record(PlanChanged(DONE))
        assert keeper.unfinished(stop(0)) is None


def test_after_a_compaction_the_model_reads_the_plan_again(tmp_path: Path) -> None:
    shortened = HookCall(HookPoint.AFTER_COMPACTION, "/w", 1, trigger="auto")
    with Journal.create(tmp_path, "one") as journal:
        keeper = PlanKeeper(journal)
        assert keeper.again(shortened) is None
        keeper.record(PlanChanged(OPEN))
        answer = keeper.again(shortened)
    assert answer is not None
    assert answer.context == "Your plan: [x] first; [ ] second"
