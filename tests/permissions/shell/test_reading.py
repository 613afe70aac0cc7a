"""What a command line would run, and which lines are not understood."""

import shutil
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions.shell import Unreadable, WordKind, read_line

BASH = shutil.which("bash")


def commands(line: str) -> list[list[str]]:
    return [[word.text for word in simple.words] for simple in read_line(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls -la", [["ls", "-la"]]),
        ("rm\t-rf\t/", [["rm", "-rf", "/"]]),
        ("ls;pwd", [["ls"], ["pwd"]]),
        ("a && b || c | d |& e & f\ng", [[one] for one in "abcdefg"]),
        ("'r'\"m\" \\-rf $'\\x78\\n'", [["rm", "-rf", "x\n"]]),
        ("echo a#b # and more; rm x", [["echo", "a#b"]]),
        ("echo $(git push) `git pull`", [["git", "push"], ["git", "pull"], ["echo", "$(git push)", "`git pull`"]]),
        ('echo "$(rm a)" "`rm b`"', [["rm", "a"], ["rm", "b"], ["echo", "$(rm a)", "`rm b`"]]),
        ("echo '$(rm a)'", [["echo", "$(rm a)"]]),
        ("diff <(ls a) >(cat)", [["ls", "a"], ["cat"], ["diff", "<(ls a)", ">(cat)"]]),
        ("(cd x && make)", [["cd", "x"], ["make"]]),
        ("{ ls; } 2>&1 >out", [["ls"], []]),
        ("if a; then b; elif c; then d; else e; fi", [[one] for one in "abcde"]),
        ("while a; do b; done", [["a"], ["b"]]),
        ("for x in $(ls); do rm $x; done", [["ls"], [], ["rm", "$x"]]),
        ("! time -p ls", [["ls"]]),
        ("ls \\\n  -la", [["ls", "-la"]]),
        ("cat <<EOF | sh\n$(date)\nEOF\nls", [["cat"], ["sh"], ["date"], ["ls"]]),
        ("cat <<'EOF'\n$(date)\nEOF", [["cat"]]),
        ("cat <<-A\n\tx\n\tA\nls", [["cat"], ["ls"]]),
        ("A=1 B='x y' make", [["make"]]),
        ("[ -f x ] && echo y", [["[", "-f", "x", "]"], ["echo", "y"]]),
        ("echo 2>err 2 >&2 &>all <in", [["echo", "2"]]),
        ("git stash show stash@{0}", [["git", "stash", "show", "stash@{0}"]]),
        ("", []),
        ("# nothing", []),
    ],
)
def test_every_simple_command_of_a_line_is_found(line: str, expected: list[list[str]]) -> None:
    assert commands(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "echo 'x",
        'echo "x',
        "echo $(ls",
        "echo `ls",
        "ls )",
        "( )",
        "ls;;",
        "; ls",
        "ls | ",
        "ls && ",
        "ls | ! ls",
        "ls | time ls",
        "f() { ls; }",
        "function f { ls; }",
        "case x in x) ls;& esac",
        "case x in x) ls;;& esac",
        "case x in x) ls",
        "case x in (esac) ls;; esac",
        "echo $(case x in x) ls;; esac)",
        "[[ -v a[$(ls)] ]]",
        "((x=1))",
        "echo $((a))",
        "echo $[1+1]",
        "echo ${x@P}",
        "echo ${x:=y}",
        "echo ${a[$(ls)]}",
        "a[$(ls)]=1 make",
        "a=(1 2)",
        "select x in a; do ls; done",
        "coproc ls",
        "for ((i=0;i<3;i++)); do ls; done",
        "if ls; then",
        "while ls; done",
        "cat <<EOF\nnever ends",
        "cat <<EOF",
        "cat <<$x\n$x",
        "cat <<A $(ls\npwd)\nA",
        "l\\\ns",
        "ls \\",
        "echo \x07",
        "rm\u00a0x",
        "rm\rx",
        "echo \0",
        'echo "$\\\n(ls)"',
        "X=1 if ls",
        "echo @(a|b)",
        "{ ls",
        "ls }; }",
        "$(" * 30 + "ls" + ")" * 30,
        "echo " + "x" * 30_000,
    ],
)
def test_what_is_not_certain_is_not_read(line: str) -> None:
    with pytest.raises(Unreadable):
        read_line(line)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("x", WordKind.LITERAL),
        ("'*'", WordKind.LITERAL),
        ("\\*", WordKind.LITERAL),
        ("'$x'", WordKind.LITERAL),
        ("{}", WordKind.LITERAL),
        ("{a}", WordKind.LITERAL),
        ("{'a,b'}", WordKind.LITERAL),
        ("*.py", WordKind.GLOB),
        ("[ab]", WordKind.GLOB),
        ("$x", WordKind.UNKNOWN),
        ("a${x}b", WordKind.UNKNOWN),
        ('"$x"', WordKind.UNKNOWN),
        ('$"x"', WordKind.UNKNOWN),
        ("$(ls)", WordKind.UNKNOWN),
        ("$((1+2))", WordKind.UNKNOWN),
        ("{a,b}", WordKind.LITERAL),
        ("{a,*}", WordKind.LITERAL),
        ("{*,a}", WordKind.GLOB),
        ("{1..3}", WordKind.LITERAL),
        ("{1..99}", WordKind.UNKNOWN),
        ("{a..c}", WordKind.UNKNOWN),
        ("{a,$x}", WordKind.UNKNOWN),
        ("{a{b,c}", WordKind.UNKNOWN),
        ("{a}{b,c}", WordKind.UNKNOWN),
        ("~root/x", WordKind.UNKNOWN),
        ("~+", WordKind.UNKNOWN),
        ("of=~/x", WordKind.UNKNOWN),
        ("<(ls)", WordKind.PIPE),
        ("x<(ls)", WordKind.UNKNOWN),
    ],
)
def test_how_much_of_a_word_is_known(word: str, kind: WordKind) -> None:
    assert read_line(f"echo {word}")[-1].words[1].kind is kind


def test_a_redirection_names_what_it_writes() -> None:
    redirects = read_line("make >a 2>>b <c &>d >|e <>f >&g 2>&1 >&-")[0].redirects
    assert [(one.operator, one.target.text, one.writes) for one in redirects] == [
        *((">", "a", True), (">>", "b", True), ("<", "c", False), ("&>", "d", True)),
        *((">|", "e", True), ("<>", "f", True), (">&", "g", True)),
    ]


# ── the shell itself is the judge ───────────────────────────────────────────────────────────────

PIECES = ["a", "b-c", " ", "  ", "\t", "'", '"', "\\", "#", "=", "%", ":", "/", ".", "é", "$'", "\\n", "''", '""', "@"]
"""Pieces of words in which nothing is expanded, so that bash may be asked what it makes of them."""


def words_of_bash(line: str) -> list[str] | None:
    assert BASH is not None
    command = f"printf '%s\\0' {line}"
    ran = subprocess.run([BASH, "-c", command], capture_output=True, check=False, env={"LC_ALL": "C.UTF-8"})
    if ran.returncode or ran.stderr:
        return None
    return ran.stdout.decode().split("\0")[:-1]


@pytest.mark.skipif(BASH is None, reason="needs bash")
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join))
def test_words_are_those_that_bash_passes_on(line: str) -> None:
    try:
        read = read_line(f"printf '%s\\0' {line}")
    except Unreadable:
        return
    expected = words_of_bash(line)
    assert expected is not None, "what is read, bash accepts"
    assert [word.text for word in read[0].words[2:]] == (expected if expected != [""] or read[0].words[2:] else [])


GRAMMAR = ["ls", " ", ";", "&", "|", "&&", "||", "(", ")", "{", "}", "\n", "if", "then", "fi", "while", "do", "done"]
GRAMMAR += ["for", "x", "in", "!", "'a'", '"', ">", "<", "<<", "E", "$(", "`", "#", "\\", "2", "A=1", "else", "time"]


@pytest.mark.skipif(BASH is None, reason="needs bash")
@given(
    st.lists(st.sampled_from(GRAMMAR), min_size=1, max_size=14).map(" ".join)
    | st.text("ls ;&|(){}<>\n'\"$`", max_size=14)
)
def test_a_line_that_is_read_is_one_that_bash_takes(line: str) -> None:
    try:
        read_line(line)
    except Unreadable:
        return
    assert BASH is not None
    ran = subprocess.run([BASH, "-n", "-c", line], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


@given(st.text(max_size=60) | st.lists(st.sampled_from(GRAMMAR + PIECES), max_size=30).map("".join))
def test_any_text_is_read_or_refused(line: str) -> None:
    with suppress(Unreadable):
        assert all(simple.words or simple.assignments or simple.redirects or simple.text for simple in read_line(line))
