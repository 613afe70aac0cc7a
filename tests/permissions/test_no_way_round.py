"""No spelling of a command evades its decision."""

import shlex
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from harness.permissions import Allow, Ask, Deny, Mode
from tests.permissions.test_verdicts import ASKING, bash, decided, permissions

# ── a command in other words ────────────────────────────────────────────────────────────────────

HELD_BACK = ["git push origin main", "rm -rf build", "rm -r 'a b'", "git reset --hard", "chmod 777 a", "make install"]
EVERY_KIND_OF_ALLOWING = ["bash(ls *)", "bash(echo *)", "bash(env *)", "bash(sh *)", "bash(xargs *)", "bash(find *)"]


def in_quotes(line: str, at: int) -> str:
    """The same words with one letter of one of them quoted."""
    words = shlex.split(line)
    word = words[at % len(words)]
    place = at % len(word)
    style = ["'{}'", '"{}"', "\\{}", "''{}", "$'{}'"][at % 5]
    odd = shlex.quote(word[:place]) if place else ""
    words[at % len(words)] = (
        "\0" + odd + style.format(word[place]) + (shlex.quote(word[place + 1 :]) if word[place + 1 :] else "")
    )
    return " ".join(one[1:] if one.startswith("\0") else shlex.quote(one) for one in words)


Wrapping = Callable[[str], str]
WRAPPINGS: list[Wrapping] = [
    lambda line: f"ls; {line}",
    lambda line: f"ls && {line}",
    lambda line: f"ls || {line}",
    lambda line: f"ls | {line}",
    lambda line: f"ls & {line}",
    lambda line: f"ls\n{line}",
    lambda line: f"{line}; ls",
    lambda line: f"{line} | cat",
    lambda line: f"  {line}\t",
    lambda line: f"{line} # ls",
    lambda line: f"# ls\n{line}",
    lambda line: f"({line})",
    lambda line: f"{{ {line}; }}",
    lambda line: f"! {line}",
    lambda line: f"time {line}",
    lambda line: f"if ls; then {line}; fi",
    lambda line: f"while {line}; do ls; done",
    lambda line: f"for x in a b; do {line}; done",
    lambda line: f"echo $({line})",
    lambda line: f'echo "$({line})"',
    lambda line: f"cat <({line})",
    lambda line: f"ls > >({line})",
    lambda line: f"cat <<E\n$({line})\nE",
    lambda line: f"ls $(echo $({line}))",
    lambda line: f"sh -c {shlex.quote(line)}",
    lambda line: f"bash -ec {shlex.quote(line)}",
    lambda line: f"eval {shlex.quote(line)}",
    lambda line: f"{line} 2>/dev/null",
    lambda line: f"A=1 {line}" if not line.startswith(("(", "{", "!", "if", "while", "for", "#", "time")) else line,
    lambda line: line.replace(" ", "\t"),
    lambda line: line.replace(" ", " \\\n "),
]
PREFIXES = ["env", "nohup", "nice -n 5", "timeout 5", "command", "exec", "xargs", "xargs -0 -n 1", "setsid", "busybox"]


@given(
    st.sampled_from(HELD_BACK),
    st.sampled_from(["", *PREFIXES]),
    st.integers(0, 200),
    st.lists(st.sampled_from(WRAPPINGS), max_size=3),
)
def test_nothing_turns_what_was_held_back_into_what_runs(
    line: str, prefix: str, at: int, wrappings: list[Wrapping]
) -> None:
    written = f"{prefix} {in_quotes(line, at)}".strip()
    for wrapping in wrappings:
        written = wrapping(written)
    for mode in ASKING:
        assert not isinstance(decided(written, mode, allow=EVERY_KIND_OF_ALLOWING), Allow), written


@given(st.sampled_from(["", *PREFIXES]), st.integers(0, 200), st.lists(st.sampled_from(WRAPPINGS), max_size=3))
def test_nothing_gets_round_a_denial_even_where_everything_is_allowed(
    prefix: str, at: int, wrappings: list[Wrapping]
) -> None:
    written = f"{prefix} {in_quotes('git push origin main', at)}".strip()
    for wrapping in wrappings:
        written = wrapping(written)
    assert not isinstance(decided(written, Mode.YOLO, deny="bash(git push *)"), Allow), written


# ── rules ───────────────────────────────────────────────────────────────────────────────────────

SAID = {"allow": ["bash(git *)", "bash"], "ask": ["bash(git pu*)"], "deny": ["bash(git push *)"]}


@given(st.permutations(["allow", "ask", "deny"]), st.sampled_from(["git push", "git pull", "git fetch"]))
def test_deny_beats_ask_beats_allow_in_any_order(order: list[str], line: str) -> None:
    rules: dict[str, str | list[str]] = {verdict: list(SAID[verdict]) for verdict in order}
    expected = {"git push": Deny, "git pull": Ask, "git fetch": Allow}[line]
    assert isinstance(permissions(Mode.ASK, **rules).decide(bash(line)), expected)
