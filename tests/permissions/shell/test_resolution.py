"""Commands inside other commands. Where it can run here, the shell is the judge of how a wrapper is written."""

import pytest

from harness.permissions import Allow, Ask, Mode
from harness.permissions.shell.resolution import base_name, resolved_commands
from tests.cases import cases, lines
from tests.permissions.test_verdicts import decided


def commands(line: str) -> list[str]:
    return [" ".join(word.text for word in run.simple.words) for run in resolved_commands(line)]


WRAPPED = lines(__file__, "wrappers")
"""git push in other words, {} standing for it."""


def test_no_wrapper_gets_a_denied_command_past_its_rule() -> None:
    pushes = [form.format("git push") for form in WRAPPED]
    assert [line for line in pushes if isinstance(decided(line, Mode.YOLO, deny="bash(git push *)"), Allow)] == []


def test_no_wrapper_hides_what_is_dangerous() -> None:
    removals = [form.format("rm -rf a") for form in WRAPPED if "{}" in form]
    assert [line for line in removals if not isinstance(decided(line, allow=["bash", "read", "write"]), Ask)] == []


@pytest.mark.parametrize(
    "line", ["git rebase -x make main", "git bisect run make", "git submodule foreach make", "git difftool -x make"]
)
def test_what_git_runs_is_allowed_by_no_rule_about_git(line: str) -> None:
    assert isinstance(decided(line, allow="bash(git *)"), Ask)
    [make] = [run for run in resolved_commands(line) if run.simple.program == "make"]
    assert not make.inside


@cases(__file__, "inner", "line inner")
def test_what_a_wrapper_runs_is_known_exactly(line: str, inner: str) -> None:
    assert inner in commands(line)
    assert not any(run.opaque for run in resolved_commands(line))


@pytest.mark.parametrize(
    "line",
    ["env ls", "env LANG=C ls", "timeout 5 ls", "nice ls", "bash -c 'ls'", "sh -ec ls", "command ls", "time -p ls"],
)
def test_a_wrapper_around_what_looks_only_looks(line: str) -> None:
    assert isinstance(decided(line), Allow)


@pytest.mark.parametrize("line", ["bash -lc ls", "bash -l -c ls", "bash --login -c ls"])
def test_a_login_shell_is_asked_about_because_it_reads_a_profile(line: str) -> None:
    assert isinstance(decided(line), Ask)


def test_what_runs_nothing_else_is_not_opaque() -> None:
    assert [line for line in lines(__file__, "not opaque") if any(run.opaque for run in resolved_commands(line))] == []


def test_text_for_sh_is_read_as_every_shell_reads_it_or_asked_about() -> None:
    assert [line for line in lines(__file__, "read as sh") if not isinstance(decided(line, allow="bash"), Ask)] == []


def test_text_for_bash_is_read_as_bash_reads_it() -> None:
    assert isinstance(decided("bash -c 'ls {a,b} &>/dev/null'"), Allow)


def test_a_line_can_be_read_as_any_shell_reads_it() -> None:
    assert [run.simple.program for run in resolved_commands("ls | wc", "portable")] == ["ls", "wc"]


def test_the_base_name_of_a_program() -> None:
    assert base_name("/usr/bin/RM.exe") == "rm"
