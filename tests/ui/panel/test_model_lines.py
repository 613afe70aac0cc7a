"""Panel lines for the model, the context and the cost."""

import pytest

from harness.events import (
    CompactionEnded,
    PauseReported,
    PermissionAsked,
    SpendChanged,
    StepStarted,
    TransitionCode,
    Usage,
)
from harness.ui.folds.model import Phase
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.model_lines import spent
from harness.ui.panel.sections import is_calm
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import KEYS, colours, look, panel_content, says
from tests.ui.panel.situations import NOW, ended


def test_when_all_is_well_the_model_is_one_line_and_nothing_has_a_colour() -> None:
    assert look(situation.CALM) == [
        "model    claude-sonnet-4-6 answers",
        "context  ▓▓░░░░░░░░ 41k of 200k",
        "",
        "● 7 tools not used",
        "",
        "failures ░░░░░ 0 of 5",
        "",
        "steps    ∙",
    ]
    for panel in (situation.CALM, situation.IDLE):
        assert is_calm(panel)
        seen = colours(panel_content(panel, 60, 60, NOW))
        assert {colour for colour in seen if "$" in colour} == {"$text-success"}
        content = panel_content(panel, 60, 60, NOW)
        assert [content.plain[at.start : at.end].strip() for at in content.spans if "$" in str(at.style)] == ["●"]


def test_a_retry_says_why_which_when_what_was_kept_and_what_can_be_pressed() -> None:
    assert look(situation.WAITING, now=NOW + 0.05, actions=KEYS)[:6] == [
        "model    529 overloaded, try 3 of 10",
        "         next try in 3 s",
        "         kept: 1,204 characters, 1 tool call",
        "         Alt+R retry now   Alt+M fallback model   Esc stop",
        "context  ▓▓░░░░░░░░ 41k of 200k",
        "spent    $0.11, retries $0.02",
    ]


def test_in_a_narrow_panel_what_retries_cost_has_a_line_of_its_own() -> None:
    spend = SpendChanged(3, Usage(30_000, 1_000), 0.0, Usage(12_000, 184), 0.0)
    panel = PanelFold()
    panel.on_event(spend, NOW)
    assert [line.plain.split() for line in spent(panel.now, 31)[0]] == [
        ["spent", "31k", "tokens"],
        ["retries", "12k", "tokens"],
    ]
    assert [line.plain for line in spent(panel.now, 60)[0]] == ["spent    31k tokens, retries 12k tokens"]


@pytest.mark.parametrize(("later", "left"), [(-1.0, 4), (0.0, 3), (0.2, 2), (1.2, 1), (2.05, 1), (2.5, 0), (99.0, 0)])
def test_the_countdown_is_derived_from_the_moment_of_the_retry_and_never_negative(later: float, left: int) -> None:
    says(situation.WAITING, f"next try in {left} s", now=NOW + later)


def test_a_long_wait_is_a_question() -> None:
    says(
        situation.OFFERED,
        "the server asks for a wait of 21 min",
        "until",
        "30,000 tokens",
        "w wait",
        actions=[("w", "wait")],
    )


def test_a_fallback_says_for_whom_it_answers_and_how_that_one_is() -> None:
    says(situation.FALLBACK, "asking claude-haiku-4-5", "→ instead of claude-sonnet-4-6")
    says(situation.FALLBACK, "claude-sonnet-4-6: PAUSED after 3 failures")


def test_a_model_that_is_asked_again_is_not_called_paused() -> None:
    waiting = situation.after(situation.FAILED, situation.MODEL_OPENED, situation.RETRY)
    says(waiting, "529 overloaded, try 3 of 10", "next try in")
    assert "PAUSED" not in "\n".join(look(waiting, 60))


def test_a_compaction_shows_the_tokens_before_and_after() -> None:
    says(situation.COMPACTING, "compacting about 212k tokens")
    says(situation.COMPACTED, "✂ compacted 212k → 38k tokens", "38k of 200k")


def test_other_ways_to_continue_are_listed() -> None:
    says(situation.CAP_RAISED, "▲ output cap 8k → 64k tokens")
    says(situation.CONTINUED, "… continuation 2 of 3")
    says(situation.DRAINED, "↻ collapse drain retry: why")


def test_a_way_to_continue_is_shown_for_one_more_step() -> None:
    drained = situation.next_request(TransitionCode.COLLAPSE_DRAIN_RETRY)
    assert "collapse drain" in "\n".join(look(situation.after(*drained)))
    assert "collapse drain" not in "\n".join(look(situation.after(*drained, StepStarted(3))))


def test_silence_is_shown_with_the_time_left() -> None:
    says(situation.STALLED, "silent for 22 s · asks again in 68 s")


def test_a_question_about_a_call_shows_what_would_run() -> None:
    says(situation.QUESTION, "a question for you", "Which colour shall the header have?")
    says(situation.ASKED, "may bash run?", "rm -rf build", "it runs a program", "y once", actions=[("y", "once")])


def test_why_a_call_is_asked_about_takes_one_line() -> None:
    asked = PermissionAsked("a", "bash", "rm -rf build", "no rule allows it, " * 9)
    assert sum("no rule" in line for line in look(situation.after(situation.REPLIED, asked))) == 1


def test_the_end_of_a_turn_that_failed_stays_with_its_reason() -> None:
    says(situation.FAILING, "claude-sonnet-4-6 · model error", "the key was refused")
    assert not is_calm(situation.FAILING)


def test_why_a_turn_ended_is_not_shown_after_an_answer_nor_twice() -> None:
    assert not any("answered" in line for line in look(situation.IDLE))
    paused = situation.after(PauseReported(situation.REPORT), *ended(TransitionCode.FAILURE_BUDGET_PAUSED, "because"))
    assert not any("because" in line for line in look(paused))


def test_the_time_a_pause_has_lasted_is_shown_when_noticed() -> None:
    assert look(situation.CALM, now=NOW + 1.9)[0] == "model    claude-sonnet-4-6 answers"
    assert look(situation.CALM, now=NOW + 12.3)[0] == "model    claude-sonnet-4-6 answers · 12 s"
    assert look(situation.CALM, 36, now=NOW + 12.3)[0] == "model    answering · 12 s"


def test_how_the_history_was_compacted_is_said_where_there_is_room() -> None:
    says(situation.COMPACTED, "tokens, by summary", width=64)
    assert not any("by summary" in line for line in look(situation.COMPACTED, 63))


def test_a_compaction_that_gained_nothing_is_no_success() -> None:
    grown = situation.after(CompactionEnded("summary", 4_138, 4_150, succeeded=True, detail=""))
    says(grown, "✂ compaction gained nothing: 4.1k → 4.2k tokens")


def test_what_is_kept_of_an_answer_is_said_while_it_is_continued_and_not_of_a_whole_one() -> None:
    model = situation.CALM.model._replace(phase=Phase.ASKING, kept_characters=120)
    kept = [
        "kept: 120 characters" in "\n".join(look(situation.CALM._replace(model=one)))
        for one in (model, model._replace(continuations=1))
    ]
    assert kept == [False, True]
