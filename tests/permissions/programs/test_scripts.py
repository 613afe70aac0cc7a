"""find, sed, awk, jq and expr: which scripts only print."""

import os
from itertools import count, islice
from random import Random
from shlex import quote

import pytest

from benchmarks.canary import Canary
from benchmarks.command_gate import CommandGate
from harness.permissions import Allow
from tests.cases import cases, lines, parts
from tests.permissions.programs.reading import found, looks, parsed
from tests.whole import WHOLE

LINES = int(os.environ.get("HARNESS_TEST_LINES", "150" if WHOLE else "50"))
"""Scripts that are tried for each program."""
SEED = int(os.environ.get("HARNESS_TEST_SEED", "7"))
_FILES = ("a.txt", "data.json", "", "b.txt")


def test_an_ordinary_script_only_prints() -> None:
    assert [line for line in lines(__file__, "looks") if not looks(line)] == []


def test_another_script_does_not_only_print() -> None:
    assert [line for line in lines(__file__, "does more") if looks(line)] == []


@cases(__file__, "roles", "line expected", str, parts)
def test_each_word_has_its_role(line: str, expected: list[str]) -> None:
    command = parsed(line)
    assert command is not None
    assert [f"{use.role.value} {use.word.text}" for use in command.uses] == expected


def test_a_root_that_may_turn_into_an_action_is_named() -> None:
    command = parsed("find *.d ?x a*")
    assert command is not None
    assert [word.text for word in command.turning] == ["*.d", "?x"]


# ── scripts made up of pieces, run by the real programs ─────────────────────────────────────────

_SED_PIECES = [
    *("p", "d", "D", "N", "n", "G", "g", "H", "h", "x", "=", "q", "P", "l", "F", "z", "w x", "w", "r link", "R link"),
    *("W x", "e", "e sh", "e touch x", "s/a/b/", "s/a/b/w x", "s/a/sh/e", "s/[/]/b/", "s,a,b,", "s/a/\\/w x/"),
    *("s|a\\|b|c|p", "y/a/b/", "/a/", "/[/]/", "\\,a,", "1", "$", "2,3", "0~2", "!", "{", "}", ";", ";", ";", "\n"),
    *("\n", " ", "a text", "a\\\n", "i\\", "c x", ":a", "ba", "b", "t", "#", "# w x\n", "/", "\\", "[", "]", "x", "w"),
    *("&", "\\n", "s", "a", "M", "I", "g", "0", "'", '"', "s;a;b;"),
]
_AWK_PIECES = [
    *("print", "print $1", 'printf "%s"', '> "x"', '>> "x"', '| "sh"', 'system("sh")', "getline", '< "link"'),
    *('close("x")', "{", "}", "{", "}", "(", ")", ";", ";", "\n", "/", "/", "/a/", "/[/]/", '/"/', '"', '"', "\\", "#"),
    *('#"', "BEGIN", "END", "if (1)", "for(i=0;i<3;i++)", "for(k in a)", "while(1)", "a[1]", "x", "x = 1", "++", "--"),
    *("+", "$1", "$NF", "1", "~", ">", "<", "=", ",", " ", 'ENVIRON["HOME"]', 'getline x < "link"', "ARGV[1]"),
    *("length", "substr($0, 1)", 'gsub(/a/, "b")', "next", "in", "!", "?", ":"),
]
_JQ_PIECES = [
    *(".", ".a", ".env", "env", "$ENV", "input", "keys", "[", "]", "{", "}", "(", ")", "|", ",", "if", "then", "else"),
    *("end", '"', "\\(", "$__loc__", "$__prog_args", "1", '"a"', ":", ";", "..", "recurse", "range(3)", "repeat(.)"),
    *("as $x", "$x", "#", "\n", "env:", "?", '"\\(env)"', "{env}", "{a: 1, env}", "{a: env}", "[1, env, 2]", "@text"),
    *("reduce", "def f: 1;", "until(false; .)", "//", "-", "+", " "),
]


_SED_ADDRESSES = ["", "", "1", "$", "2,$", "/a/", "/[/x]/", "\\,a,", "/a/,+1", "1!", "0~2", "/a/I,/b/!"]
_SED_COMMANDS = [
    *("p", "P", "d", "D", "N", "$!N", "n", "G", "g", "H", "h", "x", "=", "q", "q5", "l", "F", "z", "b", "t", "a text"),
    *("i\\\ntext", "s/a/b/", "s/[/]/b/g", "s,a,w x,p", "s/b/w\\/x/2", "y/ab/ba/", "s/[^/]*$//", "s/[[:alpha:]]/&&/gI"),
    *("# w x", "c e x", "w x", "s/a/b/w x", "s/./sh/e", "e touch x", "r link", "R link", "W x", "ba", ":a"),
    *("s/[/]x/w x;/", "s/a/b/ w x"),
]
_AWK_PATTERNS = [
    *("", "", "BEGIN", "END", "NR > 1", "/a/", "/[/]/", "$1 ~ /\\//", "!x[$0]++", "NR==1,NR==2", "length > 3"),
]
_AWK_STATEMENTS = [
    *("print", "print $1, $NF", 'printf "%s\\n", $2', "x = $1 > 2", "n++", "print (1 > 2)", "next"),
    *("if (n > 1) print n; else m++", "for (i = 1; i <= NF; i++) s = s $i", "for (k in c) print k, c[k]"),
    *('gsub(/a/, "b")', "$2 = toupper($2)", "print x / 2 / 3", 'print > "x"', 'print $1 > $2 "x"', 'print | "sh"'),
    *('system("touch x")', 'getline y < "link"; print y', 'print (1)(2) > "x"', 'print ENVIRON["HOME"]', 'close("x")'),
    *("for (i = 1; i <= NF; i++) NF++", "while (1) n++", "for (;;) n++", 'if (n) /"/; print "/x"'),
    *('n = n++ /"/; system("sh"); #"/', 'printf "x" >> "x"', '"sh" | getline', "for (i = 0; i < 9; i++) i = 0"),
    "for (i = 0; i < 3; i--) n",
]
_JQ_TERMS = [
    *(".", ".name", ".list[]?", "keys?", "length", "tostring", "[..]", "{name}", "{a: .name, env: 1}", "map(.)?"),
    *("select(.name)", "1", '"\\(.name) x"', "if .name then 1 else {env} end", "reduce range(3) as $i (0; . + $i)"),
    *("@json", "input_filename", "$__loc__", "env", "$ENV", "{a: if . then 1, env else 2 end}", '"\\(env)"'),
    *("{(env.HOME): 1}", "[limit(3; repeat(1))]", "[1, env]", "(env)", "get_search_list", "$__prog_args"),
    *("{a: (1, env, 2)}", "debug", "@base64", "to_entries?", "def f: env; f", "until(false; .)"),
]


def _scripts(name: str, random: Random) -> str:
    """Half of them are well formed."""
    if random.random() < 0.5:
        return "".join(
            random.choice(_PIECES[name]) + random.choice(("", "", " ", ";")) for _ in range(random.randint(1, 7))
        )
    most = random.choice((1, 1, 2, 3))
    match name:
        case "sed":
            parts = [random.choice(_SED_ADDRESSES) + random.choice(_SED_COMMANDS) for _ in range(most)]
            body = random.choice((";", "\n", " ; ", "\n\n")).join(parts)
            return random.choice((body, body, f"1{{{body}\n}}", f"/a/{{{body};}};p"))
        case "jq":
            return random.choice((" | ", ", ")).join(random.choices(_JQ_TERMS, k=most))
        case _:
            rules = (
                f"{random.choice(_AWK_PATTERNS)} {{ {random.choice(('; ', chr(10))).join(statements)} }}"
                for _ in range(most)
                for statements in [random.choices(_AWK_STATEMENTS, k=random.choice((1, 1, 2)))]
            )
            return random.choice(("\n", " ")).join(rules)


_OPTIONS = {
    "sed": ["", "-n", "-E", "-s", "-z", "-nE", "--debug"],
    "awk": ["", "-F:", "-v x=1"],
    "jq": ["", "-n", "-r", "-c", "-s", "-R", "--arg x 1"],
}
_PIECES = {"sed": _SED_PIECES, "awk": _AWK_PIECES, "jq": _JQ_PIECES}


@pytest.mark.parametrize("name", _OPTIONS)
def test_no_script_that_only_prints_writes_runs_or_reads_elsewhere(name: str) -> None:
    if not found(name):
        pytest.skip(f"{name} is not installed")
    random = Random(f"{SEED}{name}")
    with Canary.made() as canary:
        gate = CommandGate(canary.work, canary.home)
        made = (
            f"{name} {random.choice(_OPTIONS[name])} {quote(_scripts(name, random))} {random.choice(_FILES)}"
            for _ in count()
        )
        lines = list(islice((line for line in made if isinstance(gate.decide(line), Allow)), LINES))
        effects = canary.run(lines, limit_s=60)
    assert (effects.harm, effects.ended) == ((), True), lines
