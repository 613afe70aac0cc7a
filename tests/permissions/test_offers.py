"""Rules that are offered: exactly the command that was asked about, or a family that is spelled out."""

import argparse
import posixpath
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions import Allow, Ask, Mode, rule_in_words
from tests.cases import cases, grouped
from tests.permissions.programs.reading import found, run, state
from tests.permissions.test_verdicts import bash, decided, empty_disk, permissions


def asked(line: str) -> Ask:
    """The question about a line."""
    decision = decided(line)
    assert isinstance(decision, Ask), decision
    return decision


def offers(line: str) -> tuple[str, ...]:
    """The exact rules that are on offer for a line."""
    return asked(line).offers


@cases(__file__, "exactly", "line")
def test_a_command_is_offered_as_it_is_written(line: str) -> None:
    [offered] = [offer for offer in offers(line) if offer.startswith("bash(")]
    assert not offered.endswith("*)")
    assert isinstance(decided(line, Mode.ASK, allow=list(offers(line))), Allow)
    for more in ("x", "--config=x", "-x", "$x", "*"):
        assert isinstance(decided(f"{line} {more}", allow=list(offers(line))), Ask)


def test_a_rule_with_a_variable_needs_that_variable() -> None:
    for line, bare in [("DRY_RUN=1 ./deploy.sh", "./deploy.sh"), ("PYTHONPATH=src pytest a", "pytest a")]:
        allow = list(offers(line))
        assert isinstance(decided(line, allow=allow), Allow)
        for other in (bare, line.replace("=", "=/tmp/"), f"FOO=1 {line}"):
            assert isinstance(decided(other, allow=allow), Ask), other


@cases(__file__, "wide", "line offered")
def test_where_nothing_more_can_come_of_it_other_words_may_follow(line: str, offered: str) -> None:
    assert asked(line).family == offered
    assert isinstance(decided(f"{line} more", allow=offered), Allow)


@cases(__file__, "no family", "line")
def test_a_chain_a_wrapper_and_what_is_not_seen_whole_have_no_family(line: str) -> None:
    assert asked(line).family == ""
    assert asked(f"pytest {'a' * 200}").family == ""


@cases(__file__, "in words", "rule words")
def test_a_family_is_spelled_out(rule: str, words: str) -> None:
    assert rule_in_words(rule) == words


OPTIONS = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False, add_help=False)
for option in ["-q", "-x", "-v", "--lf", "-s"]:
    OPTIONS.add_argument(option, action="store_true")
for option in ["-k", "-m", "--tb"]:
    OPTIONS.add_argument(option)
OPTIONS.add_argument("paths", nargs="*")
AROUND = {"": "", "timeout 5 ": "", "CI=1 ": "", "cd src && ": "src", "cd src/../a && ": "a"}
ELSEWHERE = ["cd /tmp && ", "cd .. && ", "FOO=1 ", "PYTHONPATH=src ", "cd $x && ", "nohup env -i ", "./"]
AFTER = {"": True, " 2>&1": True, " | tail -5": True, " > out.txt": False, "; rm -rf a": False, " && make": False}
PLAIN_WORDS = (
    *("-q", "-x", "-qx", "-xvs", "-qk", "-k", "-m", "-ka", "--tb", "--tb=short", "--lf", "--l", "-p", "-qp", "-c"),
    *("tests", "src/a.py", "./a", "a/../b", "..", "a/../../b", "/etc/passwd", "/srv/project/a", "a.py::t", "@args"),
    *("--basetemp=src", "--pdbcls=a:b", "-o", "x=y", "a and not b", "*", "tests/*", "a b", "--tb=-p", "-k=a"),
    *("", "--", "-"),
)
WILD_WORDS = ("$x", "tests/*", "`ls`", "$(ls)", "{a,b}", "~", "~/x", "a?", "<(ls)")


def is_inside(words: list[str], folder: str) -> bool:
    """By the parser that pytest itself uses, and by the names of the paths."""
    try:
        given = OPTIONS.parse_intermixed_args(words)
    except (argparse.ArgumentError, SystemExit):
        return False
    places = (posixpath.normpath(posixpath.join("/srv/project", folder, path)) for path in given.paths)
    inside = all(f"{place}/".startswith("/srv/project/") for place in places)
    return inside and not any(path.startswith(("@", "/")) or "*" in path for path in given.paths)


@given(
    before=st.sampled_from([*AROUND, *ELSEWHERE]),
    words=st.lists(st.sampled_from([*PLAIN_WORDS, *PLAIN_WORDS, *WILD_WORDS]), max_size=5),
    after=st.sampled_from(list(AFTER)),
)
def test_a_family_allows_nothing_that_its_words_do_not_say(before: str, words: list[str], after: str) -> None:
    written = [word if word in WILD_WORDS and word not in PLAIN_WORDS else shlex.quote(word) for word in words]
    decision = decided(f"{before}pytest {' '.join(written)}{after}", allow=asked("pytest").family)
    if isinstance(decision, Allow):
        assert before in AROUND
        assert AFTER[after]
        assert is_inside([word for word in words if word not in WILD_WORDS], AROUND[before])
        assert not any(word in WILD_WORDS and word not in PLAIN_WORDS for word in words)


def test_a_family_covers_what_its_words_say() -> None:
    family = asked("pytest").family
    for line in ("pytest", "pytest -xvs tests a.py", "cd src && pytest -qk 'a or b' ./a --tb short 2>&1 | tail -5"):
        assert isinstance(decided(line, allow=family), Allow), line


def test_a_path_of_a_family_does_not_leave_the_folder_by_a_link() -> None:
    gate = permissions(allow=asked("pytest").family)
    for path in ("tests/link", "tests/link::test_a", "tests/link[a"):
        request = bash(f"pytest {path}")
        assert "/srv/project/tests/link" in gate.questions(request).paths
        for real, kind in (("/srv/project/tests/link", Allow), ("/etc", Ask)):
            disk = replace(empty_disk(gate.questions(request)), places={"/srv/project/tests/link": (real,)})
            assert isinstance(gate.decide(replace(request, disk=disk)), kind), path


@cases(__file__, "of this folder", "line")
def test_a_rule_about_a_file_says_nothing_about_that_of_another_folder(line: str) -> None:
    rules = [*offers(line), asked(line).family]
    for rule in filter(None, rules):
        assert isinstance(decided(line, allow=rule), Allow)
        for folder in ("src", "node_modules/evil", "src/../a", "$x"):
            for before in (f"cd {folder} && ", f"cd {folder}; nice ", f"pushd {folder} && "):
                assert not isinstance(decided(f"{before}{line}", allow=rule), Allow), (before, rule)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("while read l; do echo $l; done < a.md", "what `read l` gets is known only when it runs"),
        ('while read f; do wc -l "$f"; done < a', '`wc -l "$f"`: which file that is, is known only when it runs'),
        ("while read f; do make $f; done < a", "it runs `make`"),
        ("echo a > b", "it writes `b`"),
    ],
)
def test_a_reason_says_of_no_command_of_the_shell_that_it_is_a_program(line: str, why: str) -> None:
    assert asked(line).why == why


NASTY = grouped(__file__, "nasty")


@cases(__file__, "wide", "line offered")
def test_what_is_kept_covers_nothing_nasty(line: str, offered: str) -> None:
    for nasty in NASTY[line.split()[0]]:
        assert isinstance(decided(nasty, allow=offered), Ask), nasty


def test_what_is_not_known_or_dangerous_is_not_offered() -> None:
    table = [
        *("rm -rf build", "make $target", "PATH=. make", "cp *.py out", "npm run build -- *"),
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
    if not isinstance(decision, Ask) or len(decision.offers) != 1:
        return
    if not decision.offers[0].startswith("bash(") or decision.offers[0].endswith("*)"):
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
