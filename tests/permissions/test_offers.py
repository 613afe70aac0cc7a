"""Rules that are offered: never more than the command that was asked about."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions import Allow, Ask, Mode
from tests.cases import cases, grouped
from tests.permissions.programs.reading import found, run, state
from tests.permissions.test_verdicts import decided


def offers(line: str) -> tuple[str, ...]:
    """The rules that are on offer for a line that is asked about."""
    decision = decided(line)
    assert isinstance(decision, Ask), decision
    return decision.offers


@cases(__file__, "exactly", "line")
def test_a_command_is_offered_as_it_is_written(line: str) -> None:
    [offered] = [offer for offer in offers(line) if offer.startswith("bash(")]
    assert not offered.endswith("*)")
    assert isinstance(decided(line, Mode.ASK, allow=list(offers(line))), Allow)
    for more in ("x", "--config=x", "-x", "$x", "*"):
        assert isinstance(decided(f"{line} {more}", allow=list(offers(line))), Ask)


@cases(__file__, "wide", "line offered")
def test_where_nothing_more_can_come_of_it_other_words_may_follow(line: str, offered: str) -> None:
    assert offers(line) == (offered,)
    assert isinstance(decided(f"{line} more", allow=offered), Allow)


NASTY = grouped(__file__, "nasty")


@cases(__file__, "wide", "line offered")
def test_what_is_kept_covers_nothing_nasty(line: str, offered: str) -> None:
    for nasty in NASTY[line.split()[0]]:
        assert isinstance(decided(nasty, allow=offered), Ask), nasty


def test_what_is_not_known_or_dangerous_is_not_offered() -> None:
    table = [
        *("rm -rf build", "make $target", "PATH=. make", "FOO=1 make", "cp *.py out", "npm run build -- *"),
        *("'A=1' make", "cp ~/'a b' c", "make <(ls)", "make 'a\nb'", "git commit -m $x", "sudo make"),
    ]
    assert [line for line in table if offers(line) != ()] == []


WORDS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12) | st.sampled_from(
    ["-x", "--y=z", "*", "~", "a b", "'", '"', "$HOME", "`", "\\", "#", "!", "{a,b}", "run", "--", "[a]", "=", ""]
)


@given(
    program=st.sampled_from(["make", "pytest", "npm", "git", "docker", "sed", "cp", "tool"]),
    words=st.lists(WORDS, max_size=4),
)
def test_an_offer_for_any_words_means_just_these(program: str, words: list[str]) -> None:
    line = " ".join([program, *("'" + word.replace("'", "'\\''") + "'" for word in words)])
    decision = decided(line)
    if not isinstance(decision, Ask) or len(decision.offers) != 1 or decision.offers[0].endswith("*)"):
        return
    assert isinstance(decided(line, allow=list(decision.offers)), Allow)
    for other in (f"{line} x", line + "x", line.replace(program, program + "x", 1)):
        assert not isinstance(decided(other, allow=list(decision.offers)), Allow) or isinstance(decided(other), Allow)


# ── why a rule for a script ends at --, and none for make in a * ────────────────────────────────


@pytest.mark.parametrize(
    ("looked_at", "then"),
    [
        ("npm run build", "npm run build --script-shell=./evil.sh"),
        ("make all", "make all SHELL=./evil.sh"),
        ("sed -n 1p a", "sed -n '1p;1e ./evil.sh' a"),
        ("awk '{print $1}' a", "awk 'BEGIN { system(\"./evil.sh\") }' a"),
        ("tar xf a.tar", "tar xf a.tar --checkpoint=1 --checkpoint-action=exec=./evil.sh"),
    ],
)
def test_words_that_would_run_something_else_are_asked_about(looked_at: str, then: str, tmp_path: Path) -> None:
    if not found(looked_at):
        pytest.skip("the program is not installed")
    (tmp_path / "package.json").write_text('{"name": "x", "scripts": {"build": "true"}}')
    (tmp_path / "Makefile").write_text("all:\n\t@true && true\n")
    (tmp_path / "evil.sh").write_text("#!/bin/sh\ntouch PWNED\n")
    (tmp_path / "evil.sh").chmod(0o755)
    (tmp_path / "a").write_text("text\n")
    run("tar cf a.tar a", tmp_path)
    run(looked_at, tmp_path)
    assert "PWNED" not in state(tmp_path)
    run(then, tmp_path)
    assert "PWNED" in state(tmp_path), "the test has lost its object"
    decision = decided(looked_at)
    if isinstance(decision, Ask):
        assert isinstance(decided(then, allow=list(decision.offers)), Ask)
    else:
        assert isinstance(decided(then), Ask)
