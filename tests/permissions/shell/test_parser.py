"""What a command line would run, and which lines are not understood."""

import shutil
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions.shell import Unreadable, WordKind, read_line
from harness.permissions.shell.syntax import Dialect
from tests.cases import cases, lines, members

BASH = shutil.which("bash")


def commands(line: str) -> list[list[str]]:
    return [[word.text for word in simple.words] for simple in read_line(line)]


def test_every_simple_command_of_a_line_is_found() -> None:
    table = [
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
        (
            "ls {a,b} src/{x,{y,z}}.py --{c,d}=e",
            [["ls", "a", "b", "src/x.py", "src/y.py", "src/z.py", "--c=e", "--d=e"]],
        ),
        ("ls a{1..3} {2..1}", [["ls", "a1", "a2", "a3", "2", "1"]]),
        ("{rm,-rf,a}", [["rm", "-rf", "a"]]),
        ("echo {,a} x{,y}", [["echo", "a", "x", "xy"]]),
        ("x={a,b} make", [["make"]]),
        ("for f in a b; do cat $f; ls; done", [[], ["cat", "a"], ["ls"], ["cat", "b"]]),
        ('for f in a; do for g in b; do cat "src/$f.$g" ${f}x; done; done', [[], [], ["cat", "src/a.b", "ax"]]),
        ("for f in a b; do :; done; for f in c; do cat $f; done", [[], [":"], [], ["cat", "c"]]),
        ("for f in a; do cat `echo $f`; done", [[], ["echo", "a"], ["cat", "`echo $f`"]]),
        ("for f in a; do cat <<E\n$(echo $f)\nE\ndone", [[], ["cat"], ["echo", "a"]]),
        ("for f in 'a b'; do cat \"$f\" $f; done", [[], ["cat", "a b", "$f"]]),
        (
            "[[ -f a && ( $x == *.py || b < c ) ]] && ls",
            [["[[", "-f", "a", "]]"], ["[[", "$x", "==", "*.py", "]]"], ["[[", "b", "<", "c", "]]"], ["ls"]],
        ),
        ("[[ ! a =~ ^[a-z]+$ ]] >f", [["[[", "a", "=~", "^[a-z]+$", "]]"], []]),
        ("case $x in (a|b*) ls;; *) pwd; esac", [["ls"], ["pwd"], []]),
        ("case a in\nb)\n;;\nc) ls\n;;\nesac; wc", [["ls"], ["wc"]]),
        ("git stash show stash@{0}", [["git", "stash", "show", "stash@{0}"]]),
        ("", []),
        ("# nothing", []),
    ]
    assert [line for line, expected in table if commands(line) != expected] == []


def unreadable(line: str, dialect: Dialect = "bash") -> bool:
    try:
        read_line(line, dialect)
    except Unreadable:
        return True
    return False


def test_what_is_not_certain_is_not_read() -> None:
    table = [
        *("echo 'x", 'echo "x', "echo $(ls", "echo `ls", "ls )", "( )", "ls;;", "; ls", "ls | ", "ls && ", "ls | ! ls"),
        *("ls | time ls", "f() { ls; }", "function f { ls; }", "case x in x) ls;& esac", "case x in x) ls;;& esac"),
        *("case x in x) ls", "case x in (esac) ls;; esac", "echo $(case x in x) ls;; esac)", "[[ -v a[$(ls)] ]]"),
        *("[[ a -eq b ]]", "[[ -o x ]]", "[[ -R x ]]", "[[ a ]", "[[ a && ]]", "[[ a=b c ]]", "[[ a | b ]]"),
        *("[[ x =~ a||b ]]", "[[ x =~ (a|b) ]]", "[[ <(ls) ]]", "[[ -f\nx ]]", "echo {x}>a", "echo {x[$(ls)]}>a"),
        *("time -- ls", "time -p -x", "((x=1))", "echo $((a))", "echo $[1+1]", "echo ${x@P}", "echo ${x:=y}"),
        *("echo ${!x}", "echo ${x:$(ls)}", "echo ${x:y}", "echo ${x%$(ls)}", "echo ${x%$y}", "echo ${x/a/$(ls)}"),
        *("echo ${x[0]%a}", "echo ${a[$(ls)]}", "a[$(ls)]=1 make", "a=(1 2)", "select x in a; do ls; done"),
        *("coproc ls", "for ((i=0;i<3;i++)); do ls; done", "if ls; then", "while ls; done", "cat <<EOF\nnever ends"),
        *("cat <<EOF", "cat <<$x\n$x", "cat <<A $(ls\npwd)\nA", "l\\\ns", "ls \\", "echo \x07", "rm\u00a0x", "rm\rx"),
        *("echo \0", 'echo "$\\\n(ls)"', "X=1 if ls", "echo @(a|b)", "{ ls", "ls }; }", "$(" * 30 + "ls" + ")" * 30),
        "echo " + "x" * 30_000,
        # What bash reads in its own way.
        *("bad>&-c E", "good >& -n", "good <&-x", "good $(cat <<'E'\na\nE\nfor x in a; do ls; done)"),
        'good "$(cat <<E; ls\na\nE\n)"',
    ]
    assert [line for line in table if not unreadable(line)] == []


def test_how_much_of_a_word_is_known() -> None:
    table = [
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
        ("{a,$x}", WordKind.UNKNOWN),
        ("{a{b,c}", WordKind.UNKNOWN),
        ("{a}{b,c}", WordKind.UNKNOWN),
        ("~root/x", WordKind.UNKNOWN),
        ("~+", WordKind.UNKNOWN),
        ("of=~/x", WordKind.UNKNOWN),
        ("<(ls)", WordKind.PIPE),
        ("x<(ls)", WordKind.UNKNOWN),
    ]
    assert [word for word, kind in table if read_line(f"echo {word}")[-1].words[1].kind is not kind] == []


def test_a_here_document_alone_in_a_substitution_is_read() -> None:
    found = read_line("git commit -m \"$(cat <<'E'\nA message\nE\n)\"")
    assert [simple.program for simple in found] == ["cat", "git"]
    assert read_line("ls >&- 2>&-")[0].redirects == ()


@pytest.mark.skipif(BASH is None, reason="needs bash")
@cases(__file__, "printed", "line")
def test_text_that_a_substitution_passes_on_is_what_bash_makes_of_it(line: str) -> None:
    assert BASH is not None
    given = subprocess.run([BASH, "-c", line], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    words = read_line(line)[-1].words
    assert all(word.known for word in words)
    assert [word.text for word in words[2:]] == given


@cases(__file__, "not printed", "word")
def test_a_substitution_that_does_more_than_pass_on_text_is_not_known(word: str) -> None:
    assert not read_line(f"x {word}")[-1].words[1].known


def test_braces_make_no_variable_of_a_dollar_sign() -> None:
    for word in ("{$,x}HOME", "a{b$,c}y{1,2}", "{a,b}$", "${,}HOME"):
        with pytest.raises(Unreadable):
            read_line(f"echo {word}")
    assert [word.text for word in read_line("echo {'$',b}HOME")[0].words] == ["echo", "$HOME", "bHOME"]


@pytest.mark.parametrize(
    "word", ["{1..99}", "{a..c}", "{1..9..2}", "$x{1..1000000000}", "{1..9}{1..9}", "{a,$x}{1..999}", "x{a,{1..99}}"]
)
def test_braces_that_make_many_words_are_not_read(word: str) -> None:
    with pytest.raises(Unreadable, match="braces"):
        read_line(f"echo {word}")


def test_a_redirection_names_what_it_writes() -> None:
    redirects = read_line("make >a 2>>b <c &>d >|e <>f >&g 2>&1 >&-")[0].redirects
    assert [(one.operator, one.target.text, one.writes) for one in redirects] == [
        *((">", "a", True), (">>", "b", True), ("<", "c", False), ("&>", "d", True)),
        *((">|", "e", True), ("<>", "f", True), (">&", "g", True)),
    ]


def test_a_loop_is_read_for_its_words_only_where_nothing_else_assigns_its_variable() -> None:
    assert [
        other
        for other in lines(__file__, "assigns")
        if ["cat", "$f"] not in commands(f"for f in a b; do cat $f; {other}; done")
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        *("for f in $x; do cat $f; done", "for f in a $x; do cat $f; done", "for PATH in a; do cat $f; done"),
        *("for f in " + "a " * 60 + "; do cat $f; done", "for f in ~/a; do cat x$f; done"),
        "for f in a; do cat ${f:-b} ${#f}; done",
    ],
)
def test_a_loop_that_is_not_known_keeps_its_variable(line: str) -> None:
    assert commands(line)[-1][0] == "cat"
    assert any("$" in word for word in commands(line)[-1])


def test_a_loop_over_file_patterns_passes_them_on() -> None:
    [_, cat] = read_line('for f in src/*.md; do cat "$f" $f "a/$f.x"; done')
    assert [(word.text, word.kind, word.split) for word in cat.words[1:]] == [
        ("src/*.md", WordKind.GLOB, False),
        ("src/*.md", WordKind.GLOB, True),
        ("a/src/*.md.x", WordKind.GLOB, False),
    ]


@pytest.mark.parametrize(
    "other", ["[ -f $f ]", '[ -n "$f" ]', "[[ -f $f ]]", "$f", "printf '%s' $f", 'echo "$x"', "set -e", '[ "$x" = y ]']
)
def test_what_assigns_nothing_leaves_a_loop_known(other: str) -> None:
    assert ["cat", "b"] in commands(f"for f in a b; do {other}; cat $f; done")


def test_a_variable_in_quotes_is_one_word_for_each_file() -> None:
    line = 'for f in *.md; do [ -f "$f" ] && [[ -s $f ]] && cat "$f" $f *.md "$f"*; done'
    _, test, conditional, cat = read_line(line)
    assert [word.single for word in cat.words[1:]] == [True, False, False, False]
    assert (test.words[2].single, conditional.words[2].single) == (True, True)


def test_many_loops_inside_one_another_are_read_quickly() -> None:
    line = "cat $a$b$c$d$e"
    for name in "abcde":
        line = f"for {name} in {'x y z ' * 10}; do {line}; done"
    assert 1 < len(commands(line)) < 100


@cases(__file__, "variables", "line variables", str, members)
def test_the_variables_that_the_shell_puts_into_a_line_are_named(line: str, variables: set[str]) -> None:
    assert {name for simple in read_line(line) for name in simple.variables} == variables


def test_a_command_names_only_its_own_variables() -> None:
    [inner, outer] = read_line("echo $(ls $A) $B")
    assert (inner.variables, outer.variables) == (("A",), ("B",))


@pytest.mark.parametrize(
    ("word", "split"),
    [("$x", True), ('"$x"', False), ('"$@"', True), ("$?", False), ("$(ls)", True), ('"$(ls)"', False), ("a$x", True)],
)
def test_whether_an_unknown_word_may_be_several(word: str, split: bool) -> None:
    assert read_line(f"echo {word}")[-1].words[1].split is split


PORTABLE = ["ls -l | wc", "a && b || c & d; (e)", "if a; then b; fi", 'cat "$x" ${y} ~/a *.py', "ls 2>&1 >a <b"]
PORTABLE += [
    *("for f in a b; do cat $f; done", "! a", "cat <<E\n$x\nE", "A=1 b", "case a in b) c;; esac", "time ls"),
    "[ -f a ]",
]
DIFFERENT = [
    *("echo $'a'", 'echo $"a"', "cat <(a)", "a > >(b)", "cat <<< a", "a &> b", "a >& b", "a |& b", "ls {a,b}"),
    "[[ a ]]",
]
DIFFERENT += [
    *("function f { a; }", "time ! a", "time -p { a; }", "ls [^a]", "ls ?", "ls {a}>b", "echo $[1]", "a+=b", "a 10>b"),
]
DIFFERENT += [
    *("! ! a", "case a in b) c;& esac", "ls .*", "for x do a; done", "a=(b)", "echo `a \\` `", "a <&3-", "coproc a"),
]
DIFFERENT += [
    *("select x in a; do b; done", "((1))", "echo ${x:0:1}", "echo ${!x}", "a &>> b", 'echo "`a "b"`"', "echo {1..3}"),
]


def test_what_every_shell_reads_in_one_way_is_portable() -> None:
    assert [line for line in PORTABLE if read_line(line, "portable") != read_line(line)] == []


def test_what_shells_read_in_different_ways_is_not() -> None:
    assert [line for line in DIFFERENT if not unreadable(line, "portable")] == []


# ── the shell itself is the judge ───────────────────────────────────────────────────────────────

PIECES = ["a", "b-c", " ", "  ", "\t", "'", '"', "\\", "#", "=", "%", ":", "/", ".", "é", "$'", "\\n", "''", '""', "@"]
PIECES += ["{", "}", ",", "{a,b}", "{1..3}", "..", "{,", "-"]
"""Pieces of words without expansions, so that bash can be the witness."""


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
    if any(word.kind is WordKind.UNKNOWN for word in read[0].words):
        return
    expected = words_of_bash(line)
    assert expected is not None, "bash accepts every line that is read"
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
