"""How options and operands are distinguished, beside getopt of the standard library and of util-linux."""

import getopt
import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions.programs import ParsedCommand, Program, WordRole, parse
from harness.permissions.shell.syntax import Word, WordKind

_SHORT, _LONG = "abn:f:", ["all", "number=", "file="]
_PROGRAM = Program(flags="ab --all", texts="n --number", reads="f --file")
_STRICT = Program(flags="ab --all", texts="n --number", reads="f --file", permutes=False)
_TEXTS = """-a -b -ab -n -n5 -an5 -ban -f -fx -bfx --all --number --number=5 --file=x --file -- - x y 5 -abz --bad
--all=1 -n=5 --number="""
_WORDS = st.lists(st.sampled_from(["", *_TEXTS.split()]), max_size=7)


def glob(text: str) -> Word:
    return Word(text, WordKind.GLOB)


def unknown(text: str) -> Word:
    return Word(text, WordKind.UNKNOWN)


def words(*texts: str | Word) -> tuple[Word, ...]:
    return tuple(Word(text) if isinstance(text, str) else text for text in texts)


def roles(parsed: ParsedCommand | None) -> list[tuple[WordRole, str]]:
    assert parsed is not None
    return [(use.role, use.word.text) for use in parsed.uses]


def _read_by_getopt(texts: list[str], *, permutes: bool) -> tuple[list[tuple[str, str]], list[str]] | None:
    read = getopt.gnu_getopt if permutes else getopt.getopt
    try:
        options, operands = read(texts, _SHORT, _LONG)
    except getopt.GetoptError:
        return None
    if any(text.partition("=")[0] not in ("--", "--all", "--number", "--file") for text in texts if text[:2] == "--"):
        return None
    return options, operands


@given(texts=_WORDS, permutes=st.booleans())
def test_options_and_operands_are_those_of_getopt(texts: list[str], *, permutes: bool) -> None:
    expected = _read_by_getopt(texts, permutes=permutes)
    parsed = parse(_PROGRAM if permutes else _STRICT, words(*texts))
    if expected is None:
        # A word that is not in the grammar behind a value that takes it is known to getopt only; never the other way.
        assert parsed is None or "--bad" in texts or "--all=1" in texts
        return
    assert parsed is not None
    assert [(name, "" if value is None else value.text) for name, value in parsed.options] == expected[0]
    assert [word.text for word in parsed.operands] == expected[1]


@pytest.mark.skipif(shutil.which("getopt") is None, reason="getopt is not installed")
@given(texts=_WORDS)
def test_options_and_operands_are_those_of_the_program_getopt(texts: list[str]) -> None:
    parsed = parse(_PROGRAM, words(*texts))
    if parsed is None:
        return
    done = subprocess.run(
        ["getopt", "-o", "abn:f:", "-l", "all,number:,file:", "--", *texts], capture_output=True, text=True, check=False
    )
    given_options = [
        part for name, value in parsed.options for part in (name, *(() if value is None else (value.text,)))
    ]
    assert done.returncode == 0
    assert shlex.split(done.stdout) == [*given_options, "--", *(word.text for word in parsed.operands)]


def test_every_file_that_an_option_names_is_read() -> None:
    for texts in (["-f", "x"], ["-fx"], ["-abfx"], ["--file=x"], ["--file", "x"]):
        assert roles(parse(_PROGRAM, words(*texts))) == [(WordRole.READ, "x")]


def test_the_value_of_an_option_behind_an_operand_may_be_an_operand_too() -> None:
    assert roles(parse(_PROGRAM, words("a", "-n", "5"))) == [(WordRole.READ, "5"), (WordRole.READ, "a")]


def test_what_may_turn_out_to_be_another_option_is_not_in_the_grammar() -> None:
    table = [
        words("-z"),
        words("--al"),
        words("--all=x"),
        words("-n", glob("*")),
        words("-n", unknown("$x")),
        words(unknown("-n$x")),
        words(glob("-n*")),
        words(glob("-[n]")),
        words(glob("-f[x]")),
        words(glob("--[a]ll")),
        words(unknown("$x")),
        words("x", unknown("$x")),
        words("--", unknown("$x")),
        words(unknown("--")),
        words("-f=x"),
    ]
    assert [given_words for given_words in table if parse(_PROGRAM, given_words) is not None] == []


def test_the_value_of_a_pattern_stays_in_its_option_where_it_cannot_be_empty() -> None:
    for word in (glob("--number=*"), glob("-n[0-9]"), glob("-n?*")):
        parsed = parse(_PROGRAM, (word,))
        assert parsed is not None
        assert parsed.operands == ()


def test_a_single_dash_and_a_name_is_a_word_of_its_own() -> None:
    program = Program(flags="-name v", texts="-size")
    parsed = parse(program, words("-name", "-size=5", "-size", "6", "-v"))
    assert parsed is not None
    assert [(name, value and value.text) for name, value in parsed.options] == [
        *(("-name", None), ("-size", "5"), ("-size", "6"), ("-v", None))
    ]


def test_a_pattern_that_may_be_several_words_shifts_the_roles_behind_it() -> None:
    grep = Program(operands=(WordRole.TEXT, WordRole.READ))
    assert roles(parse(grep, (glob("a*"), Word("b")))) == [
        (WordRole.TEXT, "a*"),
        (WordRole.READ, "a*"),
        (WordRole.READ, "b"),
    ]
    assert parse(Program(most=2), (glob("a*"),)) is None


def test_a_pattern_at_the_beginning_of_a_word_may_become_an_option() -> None:
    parsed = parse(_PROGRAM, (glob("*"), glob("a*"), glob("./*"), glob("?x"), glob("[-]a")))
    assert parsed is not None
    assert [word.text for word in parsed.turning] == ["*", "?x", "[-]a"]


def test_mere_text_may_hold_what_only_the_shell_knows_where_no_option_matters() -> None:
    echo = Program(flags="n", operands=(WordRole.TEXT,), free=True)
    assert parse(echo, (unknown("$x"),)) is not None
    assert parse(Program(texts="s", operands=(WordRole.TEXT,), free=True), (unknown("$x"),)) is not None
    for program in (
        Program(reads="f", operands=(WordRole.TEXT,), free=True),
        Program(texts="s", operands=(WordRole.TEXT,), free=True, check=lambda parsed: True),
    ):
        assert parse(program, (unknown("$x"),)) is None
        assert parse(program, (Word("a"), unknown("$x"))) is not None


def test_folders_are_searched_only_where_an_option_says_so() -> None:
    grep = Program(operands=(WordRole.TEXT, WordRole.READ), unless="e", texts="e", tree="r", follow="R", default=True)
    assert roles(parse(grep, words("x"))) == [(WordRole.TEXT, "x")]
    assert roles(parse(grep, words("-r", "x"))) == [(WordRole.TEXT, "x"), (WordRole.TREE, ".")]
    assert roles(parse(grep, words("-R", "-e", "x"))) == [(WordRole.FOLLOWED, ".")]
    assert roles(parse(grep, words("-re", "x", "a"))) == [(WordRole.TREE, "a")]


def test_a_subcommand_has_the_options_before_it() -> None:
    inner = Program(flags="v", operands=(WordRole.READ,))
    program = Program(flags="q", operands=(), subcommands={"show": inner})
    parsed = parse(program, words("-q", "show", "-v", "a"))
    assert parsed is not None
    assert [name for name, _ in parsed.options] == ["-q", "-v"]
    assert parse(program, words("-q")) is None
    assert parse(program, words("other", "a")) is None
    assert parse(program, (unknown("$x"),)) is None
