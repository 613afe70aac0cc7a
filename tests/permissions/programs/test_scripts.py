"""find, sed, awk, jq and expr: which scripts only print."""

import os
from itertools import count, islice
from random import Random
from shlex import quote

import pytest

from benchmarks.canary import Canary
from benchmarks.command_gate import CommandGate
from harness.permissions import Allow
from harness.permissions.programs import WordRole
from harness.permissions.programs.find import FindSearch, search_of
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Word
from tests.permissions.programs.reading import found, parsed_line

LINES = int(os.environ.get("HARNESS_TEST_LINES", "150"))
"""Scripts that are tried for each program."""
SEED = int(os.environ.get("HARNESS_TEST_SEED", "7"))
_FILES = ("a.txt", "data.json", "", "b.txt")

_LOOKING = [
    *("find", "find .", "find . -name '*.py'", "find src tests -type f", "find . -maxdepth 2 -type d", "find . -empty"),
    *("find . -name '*.py' -not -path './node_modules/*'", "find . ! -name a -o -iname b", "find src -newer a -print0"),
    *(r"find . \( -name a -o -name b \) -prune -o -print", "find . -mtime -1 -size +10k -ls", "find . -perm -u+x"),
    *("find . -printf '%f %s\\n'", "find . -newermt '2026-01-01'", "find *.d -name x", "find -P . -regex '.*/a'"),
    *("find . -name '*.py' -exec wc -l {} +", r"find . -exec grep -l x {} \;", r"find . -exec ls \; -print"),
    *("sed -n 1,20p a.py", "sed -n '5p;9p' a", "sed -n '$p' a", "sed 's/a/b/' a", "sed s/a/b/g", "sed '/^#/d' a b"),
    *("sed -e 's/a/b/' -e '/x/d' a", "sed -E 's#^(.*)/x#\\1#g; /foo/d' a", "sed -nE '/a/,/b/{p;q}' a", "sed 5q a"),
    *("sed -n '/start/,/end/p' a", "sed '$!d' a", "sed '1!G;h;$!d' a", "sed ':a;N;$!ba;s/\\n/ /g' a", "sed = a"),
    *("sed '/[/]x/d;s,[^,/]*,,' a", "sed 's/[^/]*$//' a", "sed 's|/|,|g' a", "sed 's/x/a\\/b/' a"),
    *("sed 'y/abc/xyz/' a", "sed '$!N;P;D' a", "sed n a", "sed '2i hello' a", "sed '/x/a\\\nmore' a", "sed -n 'l 5' a"),
    *("sed '0~3d' a", "sed '/a/I,+2d' a", "sed '/x/b\ns/a/b/'", "sed -s -u -z 1d a b", "sed --quiet --expression=1p a"),
    *("sed 's/\\(a\\)[[:space:]]*/\\1/2gp' a", "sed '# w x' a", 'sed "s/\'//g" a', "sed 's/;w x/;e/' a"),
    *("sed 's,[a-z]*,(&),' *.py", "sed --version", "sed -n '\\,a/b,p' a", "awk '{print $1}' a"),
    *("awk -F: '{print $1, $3}' a b", "awk 'NR>=5 && NR<=10' a", "awk 'END{print NR}' a"),
    *("awk '{s+=$1} END {print s/NR}' a", "awk '/^## /{print FILENAME\": \"$0}' a", "awk '$3 > 100 {print $1}' a"),
    *("awk '{for(i=1;i<=NF;i++) c[$i]++} END{for (w in c) print c[w], w}' a", "awk 'length > 80' a", "awk 1 a"),
    *("awk '{printf \"%s\\t%5.2f\\n\", $2, $1/1024}' a", "awk -v n=5 'NR==n' a", "awk -F'\\t' -vOFS=, '{$1=$1}1' a"),
    *("awk '!seen[$0]++' a", "awk '{gsub(/a/, \"b\"); print}' a", 'awk \'{print (a > b ? "x" : "y")}\' a'),
    *("awk '$1 ~ /x/' a", "awk 'BEGIN{for(i=10;i>0;i-=2) print i}'"),
    *("awk '{ if ($1 > 5) n++; else m++ } END { print n, m }' a", "awk NF a"),
    *("awk 'NR==FNR{a[$1]=1;next} $1 in a' a b", "awk '{n=split($0,p,\",\"); for(i=1;i<=n;i++) print p[i]}' a"),
    *("awk '# a comment\n{ print } # > x' a", "awk '{print $NF}' FS=: a", "gawk '{print toupper($0)}' a"),
    *("awk --version", "awk '{ $2 = \"\"; print $0 }' a", "awk '{ print ($1 + $2) / 2 }' a", "awk '/=/ {print}' a"),
    *("jq . a.json", "jq .version package.json", "jq -r '.dependencies | keys[]' a", "jq '.[] | {name, id: .id}' a"),
    *("jq '.items[] | select(.name == \"env\")' a", "jq -r '.s | to_entries[] | \"\\(.key): \\(.value)\"' a"),
    *("jq -c '.[0:3]'", "jq '[.[] | .env.import] | unique | length' a", "jq --arg n x '.[$n]' a"),
    *("jq -nr --argjson a 1 '$a + 1'", "jq keys", "jq 'map(select(.a > 1 and (.b | not))) | sort_by(.c) | .[-1]' a"),
    *("jq -s 'add' a b", "jq '..|.id? // empty' a", "jq 'if .a then 1 else {b: 2} end' a"),
    *("jq '{env: .env, \"import\": 1}' a", "jq -r '@tsv \"\\(.a)\"' a", "jq . *.json"),
    *("jq 'reduce .[] as $x (0; . + $x)' a", "jq --indent 2 'with_entries(.value |= tostring)' a"),
    *("jq -e '.a // \"b\"'", "jq -n '$ARGS.positional' --args a b", "jq -r '.[] | [.a, .b] | @csv' a"),
    *("jq 'recurse | scalars' a", "jq 'del(.a)' a", "expr 1 + 2", "expr $i + 1", "expr \"$x\" : '.*a'", "expr -5 + 2"),
    "expr length abc",
]
_OTHERS = [
    *("find . -delete", "find . -fprint a", "find . -fls a", "find . -fprintf a %p", "find -L .", "find -H a"),
    *("find . -follow", "find -files0-from a", "find . -name *.py", "find . -name $x", "find $x"),
    *("find . -execdir ls \\;", "find . -ok rm {} \\;", "find . -exec rm {}", "find . -exec ls + -delete \\;"),
    *("find . -exec ls * \\;", "find . -unknown", "find . -exec echo + rm {} \\;", "find . -exec ls {} \\; -delete"),
    *("find . -name", "find -D exec .", "find -?", "find . -[d]elete", "find . '' -delete", "find . -depth 2"),
    *("find . -exec $x \\;", "find . -name a -fprint0 b", "sed -i s/a/b/ a", "sed -i.bak 1d a", "sed -ni 1p a"),
    *("sed -I '' 1d a", "sed --in-place 1d a", "sed 1d a -i", "sed -f a b", "sed '1e touch P' a", "sed e a"),
    *("sed 's/[/]x/w x;/' a", "sed 's/[/]x/ge x;/' a", "awk '/a[^/]b/' a", "sed '1w x' a", "sed 's/a/b/w x' a"),
    *("sed 's/a/b/ w x' a", "sed 's/a/id/e' a", "sed 'r b' a", "sed 'R b' a", "sed 'W b' a", "sed ':a;ba' a"),
    *("sed ':a' a", "sed 'ba' a", "sed 's/a/b/gw x' a", "sed 'p w x' a", "sed 's/[/]/x/;w x' a", "sed 's/[/x/;w x' a"),
    *("sed 's/a/b\nw x/' a", "sed 's a b w ' a", "sed 's\\a\\b\\w x' a", "sed -e 's/a/b/' -e 'w x' a", "sed 'G;D' a"),
    *("sed '1a\\' a", "sed 'a' a", "sed '{p' a", "sed 'p}' a", "sed -l 5 p a", 'sed "${x}p" a', "sed -n $x a"),
    *("sed -n -e$x a", "sed '1{w x\n}' a", "sed '1!w x' a", "sed '/a/w x' a", "sed '\\aba;w x' a"),
    *("sed 's/x/あ\\/w x/' a", "sed -i 's/a/b/' a --help", "sed 'v' a", "sed 'y/a/b/w x' a", "sed '}' a"),
    *("sed '#\nw x' a", "sed --posix 1d a", "sed -s -i 1d a", "sed --file=a b", "sed 'l w' a", "sed 'q w x' a"),
    *("sed 'b\nw x' a", "sed 'a x\nw x' a", "awk 'BEGIN{system(\"id\")}'", "awk '{print > \"f\"}' a"),
    *("awk '{print >> \"f\"}' a", "awk '{print | \"sh\"}' a", "awk -f a b", "awk '{\"id\" | getline x}' a"),
    *("awk '{getline x < \".env\"}' a", "awk 'BEGIN{print ENVIRON[\"A\"]}'", "awk '{close(\"a\")}' a"),
    *("awk 'BEGIN{ARGV[1]=\".env\"; ARGC=2}1'", "awk 'BEGIN{while(1);}'", "awk 'BEGIN{for(;;);}'"),
    *("awk 'BEGIN{do x++; while(1)}'", "awk '@include \"a\"' b", "awk '@load \"a\"' b"),
    *('awk \'BEGIN{f="system"; @f("id")}\'', "awk 'function f(){f()} BEGIN{f()}'", 'awk \'BEGIN{printf "x" > "f"}\''),
    *("awk '{print(1)(2) > \"f\"}' a", "awk '{print a,\nb > \"f\"}' a", "awk '{print\n> \"f\"}'"),
    *('awk \'BEGIN{for(i=0;i<1;print "x" > "f")i++}\'', "awk 'BEGIN{for(i=0;i<3;i++)i=0}'"),
    *("awk '{for(i=1;i<=NF;i++)NF++}' a", "awk '{for(i=1;i<=NF;i++)$(i+1)=1}' a"),
    *("awk '{for(i=1;i<=NF;i++)gsub(/a/,\"a a\")}' a", "awk 'BEGIN{for(i=0;i<3;i--)x}'"),
    *('awk \'{if ($1) /"/ ; system("id") #"/}\' a', 'awk \'{x++ /"/ ; system("id") #"/}\' a'),
    *('awk \'/[/]"/{system("id")}#"/\' a', "awk '{print \"a\\\nb\"}' a", 'awk "{print $x}" a', "awk $x a"),
    *("awk -v 'ENVIRON=x' 1 a", "awk -v x=$y 1 a", "awk -i inplace 1 a", "awk 'BEGIN{print PROCINFO[\"pid\"]}'"),
    *("awk 'BEGIN{awk::system(\"id\")}'", "awk 'BEGIN{print SYMTAB[\"ENVIRON\"]}'", "awk -W exec a b", "awk -l a 1"),
    *("awk -o/tmp/x 1", "gawk --source 1 a", "awk 'BEGIN{system(\"id\")}' --help", "awk --help 1 a"),
    *("awk 'BEGIN{fflush(\"a\")}'", "awk '{ print |& \"x\" }' a", "awk 'BEGIN { print length /x/ ; system(\"id\") }'"),
    *("awk -f. 1", "jq -n env", "jq -n '$ENV.HOME'", "jq -n '$ ENV'", "jq -n '$__prog_args'"),
    *("jq 'import \"a\" as a; .' b", "jq 'include \"a\"; .' b", "jq -f a b", "jq --from-file a b", "jq -L . a b"),
    *("jq --argfile a b . c", "jq 'def f: f; f' a", "jq -n 'repeat(1)'", "jq -n '[1, env]'", "jq -n 'range(infinite)'"),
    *("jq -n 'range(9999999999)'", "jq 'until(false; .)' a", "jq 'recurse(.)' a", "jq 'while(true; .)' a"),
    *("jq '{a: if . then 1, env else 2 end}' a", "jq -n '\"\\(env)\"'", "jq '{(env|tostring): 1}' a"),
    *("jq '{a: (1, env, 2)}' a", "jq '. # \\\nenv' a", "jq 'modulemeta' a", "jq 'get_search_list' a", "jq $x a"),
    *('jq ".$x" a', "jq *.json", "jq -n '..env'", "jq --arg a $x . b", "jq 'a::b' c", "jq -n '1.env'"),
    *("jq --rawfile a $x . b", "jq '.a' -x b", "jq 'input_filename, $ENV' a", "expr -x $i"),
]


def looks(line: str) -> bool:
    parsed = parsed_line(line)
    return parsed is not None and parsed.looks and parsed.ends


def test_an_ordinary_script_only_prints() -> None:
    assert [line for line in _LOOKING if not looks(line)] == []


def test_another_script_does_not_only_print() -> None:
    assert [line for line in _OTHERS if looks(line)] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("find a b -newer c", [("list", "a"), ("list", "b"), ("list", "c")]),
        ("find -name x", [("list", ".")]),
        ("find a -delete", [("write", "a")]),
        ("find a -fprintf b %p", [("list", "a"), ("write", "b")]),
        ("sed s/a/b/ f", [("text", "s/a/b/"), ("read", "f")]),
        ("sed -i s/a/b/ f", [("text", "s/a/b/"), ("write", "f")]),
        ("sed -ie s/a/b/ f", [("text", "s/a/b/"), ("write", "f")]),
        ("sed -n -e p f", [("read", "f")]),
        ("sed -f s f", [("command", "s"), ("read", "f")]),
        ("sed 'w x' f", [("text", "w x"), ("read", "f"), ("command", "w x")]),
        ("awk 1 f v=1", [("text", "1"), ("read", "f"), ("read", "v=1")]),
        ("awk -f p f", [("command", "p"), ("read", "f")]),
        ("awk 1 -f x", [("text", "1"), ("read", "-f"), ("read", "x")]),
        ("jq . a --slurpfile n b", [("text", "."), ("read", "a"), ("read", "b")]),
        ("jq . --args a", [("text", "."), ("text", "a")]),
    ],
)
def test_each_word_has_its_role(line: str, expected: list[tuple[str, str]]) -> None:
    parsed = parsed_line(line)
    assert parsed is not None
    assert [(use.role.value, use.word.text) for use in parsed.uses] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("find . -name '*.py' -exec wc {} +", FindSearch((Word("."),), ("*.py",))),
        ("find a b -type f -name x -print0", FindSearch((Word("a"), Word("b")), ("x",), plain_files=True)),
        ("find -type f", FindSearch((Word("."),), (), plain_files=True)),
        ("find . -print -name x -type f", FindSearch((Word("."),))),
        ("find . -exec cat {} + -name x", FindSearch((Word("."),))),
        ("find . -name a -o -name b", FindSearch((Word("."),))),
        ("find . ! -name a", FindSearch((Word("."),))),
        ("find . -iname a", FindSearch((Word("."),))),
        ("find . -name *.py", None),
        ("find -L . -name a", None),
    ],
)
def test_what_find_finds_is_known_where_its_tests_are_plain(line: str, expected: FindSearch | None) -> None:
    (simple, *_) = read_line(line)
    assert search_of(simple.words[1:]) == expected


def test_a_root_that_may_turn_into_an_action_is_named() -> None:
    parsed = parsed_line("find *.d ?x a*")
    assert parsed is not None
    assert [word.text for word in parsed.turning] == ["*.d", "?x"]


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


def test_a_script_that_is_not_understood_is_a_command() -> None:
    for line in ("sed 'w x' a", "awk 'BEGIN{system(\"id\")}'", "jq -n env"):
        parsed = parsed_line(line)
        assert parsed is not None
        assert any(use.role is WordRole.COMMAND for use in parsed.uses)
