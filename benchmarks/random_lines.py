# ruff: noqa: E501
"""Random command lines, made from the grammars of the permission gate and from names that are traps."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from harness.permissions.programs import PROGRAMS, Program


@dataclass(frozen=True, slots=True)
class MadeLine:
    """A line, and the programs that are in it."""

    text: str
    programs: frozenset[str]


PLAIN = (
    "README.md",
    "a.txt",
    "b.txt",
    "data.json",
    "table.csv",
    "src",
    "src/app.py",
    "src/util.py",
    "docs",
    "docs/guide.md",
    "sub/plain.txt",
    "code.py",
    ".",
    "./src/app.py",
)
NAMES_OF_TRAPS = (
    *(".env", ".env.staging", ".env.local", "sub", "sub/.env", "secrets", "secrets/prod.yml", "server.p12", "lin", "way", "way/", "way/secret.txt", "homeward", "homeward/.netrc"),
    *("cmpa", "cmpb", "cmpa/inner", "cmpa/inner/", "linked", "linked/in/key", "loop", "circle", "bare", "hostile", "staged", "staged/.env", "x://../.env", "x:/../.env", "x:", "dashes", "dashes/-delete"),
    *("./-delete", "../outside/secret.txt", "../outside", "..", "../home", "~", "~/.netrc", "~/.ssh/id_rsa", "~/", "~root", "~+", "~-", "@list.txt", "@.env", "list.txt", "files0", "args", "evil.awk", "evil.sed", "evil.jq"),
    *("evil.sh", "canary", "./canary", "src/run.sh", "Makefile", ".git/config", ".git/HEAD", "/dev/stdin", "/dev/null", "/dev/fd/0", "/proc/self/environ", "/proc/self/cwd/.env", "-", "--", "", " ", "a b", "\n", "src//../.env"),
    *("OUT/secret.txt", "HOME/.netrc", "OUT", "written", "-o", "-delete", "-exec", "-f.env", "--output=written", "-i", "--file=.env", "-w", "=", ":0:.env", ":.env", "HEAD:a.txt", "HEAD:../outside/secret.txt", "file:.env", "x=.env", "README.md:.env"),
)  # fmt: skip
PATTERNS = (
    "*",
    "*.txt",
    "*.md",
    "src/*",
    "src/*.py",
    "s*",
    "*/*",
    "?*",
    "-*",
    "[-]*",
    "?",
    "??",
    ".*",
    ".e*",
    ".en?",
    ".en[v]",
    ".en[!x]",
    ".en[^x]",
    ".en[[:lower:]]",
    "li*",
    "l[i]n",
    "wa[a-z]",
    "way/*",
    "../*",
    "../outside/*",
    "~/*",
    "~/.ssh/*",
    "*/prod.yml",
    "d*/-*",
    "*[!x]",
    "[a-z]*",
    "**/*",
    "**",
    "+(x)",
    "@(a|b).txt",
    "!(x)",
    "{*,x}",
    "cmp[a-b]",
    "cmpa/*",
    "cmpa/*/*",
    "?:*",
    "--*",
    "-?elete",
    "-[d]*",
)
BRACES = (
    "{a,b}.txt",
    "{src,docs}",
    "{.env,a.txt}",
    "a.{txt,md}",
    "{1..3}",
    ".e{n,}v",
    "{a,-o}",
    "src/{app,util}.py",
    "{src,../outside}",
    ".e{n..n}v",
    "{,.env}",
    "{-f,.env}",
    "{a..c}.txt",
)
VARIABLES = (
    "$HOME",
    '"$HOME"',
    "$PWD",
    '"$PWD"',
    "$x",
    '"$f"',
    "$f",
    "$GITHUB_TOKEN",
    '"$GITHUB_TOKEN"',
    "${x:-.env}",
    "${GITHUB_TOKEN:0:9}",
    "${!G*}",
    "${!x}",
    "$(ls)",
    '"$(git ls-files)"',
    "$(echo .env)",
    "$(cat list.txt)",
    "`ls`",
    "$((1+1))",
    "$((a[0]))",
    "$?",
    "$#",
    "$@",
    "$*",
    "$0",
    "$$",
    "${#x}",
    "${x@P}",
    "$'\\x2eenv'",
    '$"a"',
    "$_",
    "${MY_API_KEY}",
    "$DATABASE_PASSWORD",
    "${PATH%%:*}",
    "$OLDPWD",
    "${x:=y}",
    "${x:?y}",
    "${x//a/b}",
    "$[1+1]",
    "$RANDOM",
    "$SHELL",
    "$-",
    "$BASH_VERSION",
)
TEXTS = (
    "x",
    "main",
    "one",
    "1",
    "2",
    "10",
    "0",
    "-1",
    "+1",
    "1,3",
    "a",
    "",
    "^a",
    "a$",
    ".",
    ".*",
    "%s",
    "%n",
    "%h",
    "%s\\n",
    "\\n",
    ",",
    ":",
    "k",
    "1K",
    "never",
    "always",
    "auto",
    "*.py",
    "*.md",
    ".env",
    ".*",
    "HEAD",
    "HEAD~1",
    "main..HEAD",
    "v1",
    "red",
    "short",
    "json",
    "full",
    "iso",
    "name",
    "-x",
    "path",
    "py",
    "node_modules",
    "UTC",
    "utf-8",
    "1d",
    "$1",
    "recurse",
    "read",
    "all",
    "simple",
    "text",
    "follow",
    "name,size",
    "pid,comm",
    "+%s",
    "@0",
    "now",
    "yesterday",
    "/x/",
    "x/../..",
    "skip",
    "\\;",
    "hex",
    "c",
    "x1",
    "d2",
    "u1",
    "5",
    "40",
    "0,5",
    "/main/,+2",
    "!node_modules",
    "submodule",
    "log",
    "diff",
    "patience",
    "raw",
    "--",
    "textconv",
)

SED = (
    "p",
    "d",
    "q",
    "=",
    "l",
    "1p",
    "1,3p",
    "$p",
    "/a/p",
    "/a/,/b/p",
    "1!p",
    "s/a/b/",
    "s/a/b/g",
    "s/a/b/p",
    "s/a/b/w written",
    "s/one/ls/e",
    "s|a|b|2",
    "s,x,y,I",
    "y/abc/def/",
    "1e ls",
    "e",
    "w written",
    "W written",
    "r .env",
    "R .env",
    "1r a.txt",
    "w /dev/stdout",
    "a x",
    "i\\x",
    "c x",
    "n",
    "N",
    "D",
    "G",
    "h;x",
    "1~2p",
    "0~3d",
    "/a/I,+1p",
    "{p}",
    "{p;p}",
    "1{p",
    "}",
    ":a",
    "ba",
    "ta",
    ":a;N;$!ba;s/\\n/,/g",
    "F",
    "z",
    "#n",
    "\\,a,p",
    "s/[/]/w/",
    "s/a\\/b/c/",
    "$!N",
    "$d",
    "/^$/d",
    "\n",
    "l 5",
    "Q3",
    "v",
    "T",
    "s/a/b/;w written",
    "/w written/p",
    "s/a/w written/",
    "s/\\(a\\)/\\1\\n/",
    "5q",
    "2,4!d",
    "s/x/y/M",
    "1i\\\nw written",
    "p;e ls",
    "s/a/&/3g",
)
AWK = (
    "1",
    "{print}",
    "{print $1}",
    "{print $NF}",
    "NR==1",
    "NR>1 && NR<3",
    "/a/",
    "!/a/",
    "/a/,/b/",
    "BEGIN{print 1}",
    "END{print NR}",
    "{s+=$1} END{print s}",
    '{print > "written"}',
    '{print | "cat"}',
    'BEGIN{system("ls")}',
    "{getline; print}",
    'BEGIN{getline x < ".env"; print x}',
    '{"ls" | getline x; print x}',
    '{print ENVIRON["GITHUB_TOKEN"]}',
    "BEGIN{for(k in ENVIRON) print ENVIRON[k]}",
    '{printf "%s\\n", $1}',
    "length($0)>3",
    '{gsub(/a/,"b");print}',
    "{a[$1]++} END{for(k in a) print k,a[k]}",
    'BEGIN{FS=","} {print $2}',
    '{print $1">"$2}',
    '{print "a > b"}',
    "$1 > 1",
    "{print ($1 > 1)}",
    "{print $1 > 1}",
    'BEGIN{ARGV[1]=".env"}1',
    'BEGIN{ARGC=3;ARGV[2]="lin"}1',
    "{print substr($0,1,3)}",
    "function f(x){return x} {print f($1)}",
    'BEGIN{f="system";@f("ls")}',
    '@include "evil.awk"',
    '@load "filefuncs"',
    '{close("x")}',
    "{fflush()}",
    "BEGIN{while(1);}",
    "BEGIN{while((getline l)>0) print l}",
    "{print toupper($0)}",
    '{split($0,a,",");print a[1]}',
    'BEGIN{printf "x" > "/dev/stdout"}',
    "BEGINFILE{print FILENAME}",
    "{print;next}",
    "BEGIN{srand();print rand()}",
    "{exit}",
    'BEGIN{print PROCINFO["pid"]}',
    '{print $1 >> "written"}',
    '{print $1 |& "cat"}',
    "/>/ {print}",
    '{print "|" $1}',
    '{x="a|b";print x}',
    "/a|b/",
    "{print /x/ ? 1 : 2}",
    'BEGIN{print 1/2 > "written"}',
    '{print a/b/c > "written"}',
    "#x\n{print}",
    "{print} # > x",
    "BEGIN{print length()}",
    "{ print $1, $2 ; }",
    "NF",
    'BEGIN{print index("a","a")}',
    "{print -$1}",
    'BEGIN { "date" | getline }',
    '{ print "\\"" > "written" }',
    '{ print "a\\\\" > "written" }',
)
JQ = (
    ".",
    ".a",
    ".a[0]",
    ".b.c",
    "keys",
    ".[]?",
    ".. | .c?",
    "length",
    "to_entries",
    "map(.)?",
    "env",
    "$ENV",
    "$ENV.GITHUB_TOKEN",
    "env.GITHUB_TOKEN",
    "input",
    "inputs",
    "[inputs]",
    "input_filename",
    "debug",
    "halt_error",
    "@base64",
    "@text",
    '"\\(.)"',
    '"\\(env)"',
    "select(.a)",
    "{a}",
    ". as $x | $x",
    "def f: .; f",
    'import "evil" as e; .',
    'include "evil"; .',
    "$__loc__",
    "$__prog_args",
    "repeat(.)",
    "range(3)",
    "limit(2;repeat(1))",
    "while(true;.)",
    "recurse",
    "paths",
    "tojson",
    "now",
    'getpath(["a"])',
    'splits("a")',
    'test("a")?',
    'ltrimstr("a")?',
    "first(.a[])",
    "any",
    "error?",
    "@sh",
    "reduce .a[] as $x (0;.+$x)",
    "foreach .a[] as $x (0;.+$x)",
    "label $out | 1",
    "try error catch .",
    "input_line_number",
    "$ENV|keys",
    "get_search_list",
    "modulemeta",
    "ascii",
    "builtins|length",
    '"env"',
    ".env",
    ".env?",
    "{env:1}",
    "until(true;.)",
    "$named",
    "$ARGS",
    'ltrimstr("x") // 1',
    "-.a[0]",
    'splits("a";"g")?',
)
FIND = (
    "-name '*.py'",
    "-name x",
    "-iname '*.MD'",
    "-type f",
    "-type d",
    "-type l",
    "-type f,l",
    "-maxdepth 2",
    "-mindepth 1",
    "-not -name x",
    "! -name x",
    "-o",
    "-a",
    "\\( -name a.txt \\)",
    "-print",
    "-print0",
    "-ls",
    "-delete",
    "-exec cat {} +",
    "-exec wc -l {} \\;",
    "-exec grep -l main {} +",
    "-exec grep -H a {} \\;",
    "-exec ls -l {} +",
    "-exec head -1 {} \\;",
    "-exec sh -c 'cat {}' \\;",
    "-exec sh -c 'head -1 \"$1\"' _ {} \\;",
    "-exec {} \\;",
    "-exec sort -o written {} \\;",
    "-exec sed -n 1p {} \\;",
    "-exec sed -i s/a/b/ {} +",
    "-exec file {} +",
    "-exec stat {} +",
    "-exec canary {} \\;",
    "-execdir cat {} \\;",
    "-ok cat {} \\;",
    "-fprint written",
    "-fprintf written x",
    "-fls written",
    "-printf '%p\\n'",
    "-printf '%f %s'",
    "-size +0",
    "-mtime -1",
    "-newer a.txt",
    "-newermt 2020-01-01",
    "-empty",
    "-path './src/*'",
    "-path ./.git -prune",
    "-prune",
    "-quit",
    "-L",
    "-H",
    "-follow",
    "-xdev",
    "-regex '.*'",
    "-perm 644",
    "-user nobody",
    "-samefile a.txt",
    "-files0-from files0",
    "-lname '*'",
    "-xtype f",
    "-readable",
    "-inum 1",
    "-links 1",
    "-anewer .env",
    "-newerXY a.txt",
    "-exec awk 1 {} \\;",
    "-exec git log {} \\;",
    "-exec test -f {} \\;",
    "-exec cat way/{} \\;",
    "-exec cat {}/.env \\;",
    "-exec grep -r a {} \\;",
    "-exec diff {} .env \\;",
    "-exec tail -n1 {} ';'",
    "-depth",
    "-daystart",
    "-noleaf",
    "-true",
    "-D exec",
    "-O2",
    "-E",
    "-exec echo {} \\; -exec cat {} \\;",
    "-exec basename {} \\;",
    "-exec od -c {} +",
    "-exec xargs cat \\;",
    "-exec env cat {} \\;",
    "-exec printf %s {} +",
    "-exec cp {} written \\;",
)
TEST = (
    "-f a.txt",
    "-d src",
    "-e x",
    "-n a",
    "-z ''",
    "a = b",
    "a == b",
    "1 -eq 1",
    "1 -lt 2",
    "! -f x",
    "-f a.txt -a -d src",
    "-f x -o -f y",
    "a.txt -nt b.txt",
    "-v x",
    "-v 'a[$(touch written)]'",
    "-r .env",
    "-s ../outside/secret.txt",
    "-t 1",
    "-x canary",
    "-L lin",
    "'a[$(touch written)]' -eq 0",
    "\\( -f a.txt \\)",
    "-o noglob",
    "-R x",
    "-- = --",
    "-- -o -v x",
    "$x -eq 1",
    '"$x" = a',
    '-n "$GITHUB_TOKEN"',
    "x -ef y",
    "x",
    "",
    "-f *",
    "a \\< b",
    "! x",
    "-a x",
    "-v 0",
    "-k x -a -v 'b[`touch written`]'",
    "-p /dev/stdin",
)
DATE = (
    "+%s",
    "+%Y-%m-%d",
    "-u",
    "-d now",
    "-d @0",
    "-d yesterday",
    "-Iseconds",
    "-R",
    "-r a.txt",
    "-r .env",
    "-f .env",
    "-f.env",
    "--file=.env",
    "--date=now",
    "-s now",
    "+%T -u",
    "-uR",
    "--rfc-3339=date",
    "01010101",
    "-j -f %s 0",
    "-v+1d",
    "--resolution",
    "--debug",
)
NUMBERS = (
    "1",
    "2",
    "3",
    "1 3",
    "1 2 5",
    "0",
    "-1 1",
    "-s, 3",
    "-w 3",
    "-f %g 2",
    "-f %03g 2",
    "0.1 1",
    "1 1 1",
    "5 1",
    "1 0 5",
    "inf",
    "1 inf",
    "nan",
    "1e2",
)
FORMATS = (
    "%s\\n a",
    "'%s\\n' a b",
    "%d 1",
    "-v x a",
    "-- -v x",
    "'%(%F)T' -1",
    "'%n' x",
    "'%q' a",
    "'%b' '\\x41'",
    "x",
    "'\\n'",
    "'%s' \"$GITHUB_TOKEN\"",
    "'%*d' 1 2",
    "'%s ' *",
    "-v'a[0]' x",
    "'%d' 'a[$(touch written)]'",
    "'%i' x",
)
WAITS = ("", "-n", "-p x", "-np x", "1", "%1", "-f", "-- x", "-p 'a[$(touch written)]'", "-n -p 'a[$(touch written)]'")
FORM_OF: Mapping[str, tuple[str, ...]] = {
    "find": FIND,
    "test": TEST,
    "[": tuple(f"{one} ]" for one in TEST),
    "date": DATE,
    "seq": NUMBERS,
    "printf": FORMATS,
    "wait": WAITS,
    "sleep": ("0", "0.01", "0.02s", "0 0.01", "inf", "infinity", "-- 0", "0x1p-9", "nan"),
    "set": ("", "-e", "-eu", "-o pipefail", "+e", "-euo pipefail", "-x", "-o", "-- a", "a b", "-o posix", "-v", "+o", "-a", "-o noglob"),
    "ps": ("", "aux", "-ef", "-e", "e", "eww", "auxe", "-o pid,comm", "-o args", "-p 1", "-A", "-eo pid,args", "axo pid,environ", "-C x", "--forest", "-E", "-p 1 e", "-u nobody e", "u e", "-ejH", "-eLf", "-eM", "ax", "axjf", "-aux"),
    "expr": ("1 + 1", "a : 'a'", "length a", "substr a 1 1", "1 / 0", "index a a", "a = a", "match a '.*'", "1 \\* 2", "+ x", "\"$GITHUB_TOKEN\" : '.*'"),
    "xargs": ("cat", "-n1 echo", "-0 cat", "-I{} cat {}", "wc -l", "grep a", "ls", "rm", "sh -c 'echo x'", "-a list.txt cat", "-r ls", "-P2 -n1 head -1", "sort -o", "git show", "-t echo", "-d , echo", "sed -n 1p", "file", "awk 1", "stat", "-L1 echo", "head -n 2", "diff a.txt", "git log --", "test -f", "find", "env", "printf %s", "", "-p echo", "-x echo", "-I % grep % a.txt", "du -sh", "basename", "-i cat {}", "tac"),
}  # fmt: skip
WRAPPERS = (
    "timeout 5",
    "time",
    "env",
    "nice",
    "command",
    "nohup",
    "env X=1",
    "builtin",
    "exec",
    "timeout -k 1 5",
    "env -i",
    "stdbuf -oL",
    "!",
    "LC_ALL=C",
    "x=1",
    "TZ=UTC",
    "setsid",
    "env --",
    "nice -n 5",
    "ionice",
    "X=$GITHUB_TOKEN",
    "GIT_DIR=bare",
    "PAGER=canary",
    "LESSOPEN=canary",
)
REDIRECTS = (
    "2>/dev/null",
    "2>&1",
    ">/dev/null",
    "< a.txt",
    "< .env",
    "< lin",
    "<<< x",
    "<<< $x",
    '<<< "$GITHUB_TOKEN"',
    "> written",
    "&>/dev/null",
    "2>&1 >/dev/null",
    "< /dev/null",
    "<<< $(ls)",
    "> /dev/stderr",
    "1>&2",
    "< way/secret.txt",
    "3< a.txt",
    "< .en?",
    "< x://../.env",
    "2> written",
    "<> a.txt",
    ">| /dev/null",
    "< <(ls)",
    ">&-",
    "< ~/.netrc",
    "> /dev/tty",
    "<&0",
    "< src/../a.txt",
    '< "$x"',
    "<<E\n$GITHUB_TOKEN\nE",
    "<<'E'\n$GITHUB_TOKEN\nE",
    "<<E\n$(ls)\nE",
    "<<< ~",
    ">/dev/stdout",
)
SLOW = frozenset(
    {
        "npm",
        "pip",
        "pip3",
        "docker",
        "node",
        "java",
        "cargo",
        "rustc",
        "python",
        "python3",
        "gh",
        "go",
        "yarn",
        "pnpm",
        "npx",
        "sleep",
        "uv",
        "perl",
        "ruby",
        "mvn",
        "gradle",
        "man",
        "javac",
        "kubectl",
        "make",
        "journalctl",
        "top",
        "vmstat",
        "iostat",
    }
)
"""Programs that take long to start or wait: they are rare in the lines."""
_OF_LOOPS = ('"$f"', "$f", "./$f", '"./$f"', '-- "$f"')
_JOINS = ("&&", ";", "||", "&", "|&")
_SHELLS = ("sh", "bash", "dash", "sh -e")
_BETWEEN = ("\\", "''", '""')
_VALUED = ("texts", "maybe", "reads")
TRAP_OPTIONS = (
    *(
        "-o written",
        "-owritten",
        "--output=written",
        "--output written",
        "-i",
        "-i.bak",
        "--in-place",
        "-T .env",
        "-f .env",
    ),
    *("-T list.txt", "--files-from=list.txt", "--files0-from=files0", "-f evil.awk", "-f evil.sed", "--file=evil.sed"),
    *(
        "--pre ./canary",
        "--pre=./canary",
        "--compress-program=./canary",
        "--ext-diff",
        "--textconv",
        "--show-signature",
    ),
    *(
        "--open-files-in-pager=./canary",
        "-O./canary",
        "--no-index",
        "--untracked",
        "--exec=./canary",
        "-exec ./canary ;",
    ),
    *("--to-command=./canary", "-I ./canary", "--use-compress-program=./canary", "--checkpoint-action=exec=./canary"),
    *("--diff-program=./canary", "-l", "--search-zip", "-z", "--hostname-bin=./canary", "-x ./canary", "-X ./canary"),
    *("-s now", "--set=now", "-v x=1", "--rawfile a .env", "--slurpfile a .env", "-L .", "--ignore-revs-file=.env"),
    *(
        "--contents .env",
        "-S .env",
        "-X .env",
        "--exclude-per-directory=.env",
        "--format=%G?",
        "--pager=./canary",
        "-m",
    ),
)
"""Options that are in no grammar, because they write, run or read something else."""


class LineMaker:
    """Makes random lines. About every sixth word is a trap."""

    def __init__(self, random: Random, programs: Mapping[str, Program] = PROGRAMS) -> None:
        self._random = random
        self._programs = programs
        self._names = [name for name in programs for _ in range(1 if name in SLOW else 12)]
        self._names += [name for name in ("git", "find", "grep", "sed", "awk", "jq", "xargs") if name in programs] * 60
        self._used: set[str] = set()
        self._root = Path()

    def line(self, root: Path) -> MadeLine:
        """One line, for a canary folder at `root`."""
        self._used, self._root = set(), root
        text = self._whole()
        return MadeLine(text, frozenset(self._used))

    # ── lines ───────────────────────────────────────────────────────────────────────────────────

    def _whole(self) -> str:
        one = self._command
        forms: tuple[tuple[int, Callable[[], str]], ...] = (
            (60, one),
            (12, lambda: f"{one()} | {self._filter()}"),
            (3, lambda: f"{one()} | {self._filter()} | {self._filter()}"),
            (4, lambda: f"{one()} {self._one_of(_JOINS)} {one()}"),
            (4, lambda: f"cd {self._word(self._operand())} && {one()}"),
            (1, lambda: f"cd {self._word(self._operand())}; {one()}"),
            (3, lambda: f"for f in {self._operand_written()}; do {one()} {self._one_of(_OF_LOOPS)}; done"),
            (1, lambda: f"({one()})"),
            (1, lambda: f"{{ {one()}; }}"),
            (1, lambda: f"if {one()}; then {one()}; fi"),
            (1, lambda: f"[[ {self._one_of(TEST)} ]] && {one()}"),
            (2, lambda: f"{self._word(self._name())} $({one()})"),
            (1, lambda: f'echo "$({one()})"'),
            (1, lambda: f"cat <({one()})"),
            (1, lambda: f"diff <({one()}) <({one()})"),
            (1, lambda: f"{self._one_of(_SHELLS)} -c {self._quoted(one())}"),
            (1, lambda: f"{one()} | while read -r f; do {one()} \"$f\"; done"),
            (1, lambda: f"f={self._operand_written()}; {one()} \"$f\""),
            (1, lambda: f"{one()} # {one()}"),
            (1, lambda: f"{one()}\n{one()}"),
        )  # fmt: skip
        return self._random.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()

    def _filter(self) -> str:
        if self._random.random() < 0.5:
            return self._command()
        return self._command(
            self._one_of(
                ("head", "sort", "wc", "grep", "xargs", "sed", "awk", "cut", "tail", "uniq", "jq", "tr", "cat")
            )
        )

    def _command(self, name: str = "") -> str:
        name = name or self._name()
        self._used.add(name)
        words = [name, *self._arguments(name)]
        if self._random.random() < 0.03:
            wrapper = self._one_of(WRAPPERS)
            if "=" not in wrapper and wrapper != "!":
                self._used.add(wrapper.split()[0])
            words.insert(0, wrapper)
        if self._random.random() < 0.12:
            words.append(self._one_of(REDIRECTS))
        return " ".join(words)

    def _name(self) -> str:
        return self._random.choice(self._names)

    # ── words of a command ──────────────────────────────────────────────────────────────────────

    def _arguments(self, name: str) -> list[str]:
        if name in FORM_OF and self._random.random() < 0.9:
            words = [self._one_of(FORM_OF[name]) for _ in range(self._random.choice((1, 1, 1, 2, 3)))]
            if name == "find" and self._random.random() < 0.8:
                words.insert(0, self._operand_written())
            if name in ("test", "printf", "["):
                words = words[:1]
            return words
        if name in ("sed", "gsed"):
            return [*self._some_options(name, 2), *self._scripts(SED, ";"), *self._operands(2)]
        if name in ("awk", "gawk", "mawk", "nawk", "original-awk"):
            return [*self._some_options(name, 1), *self._scripts(AWK, " "), *self._operands(2)]
        if name in ("jq", "yq", "gojq", "jaq"):
            return [*self._some_options(name, 2), *self._scripts(JQ, self._one_of((" | ", ", "))), *self._operands(2)]
        return self._of_program(self._programs[name]) if name in self._programs else self._operands(2)

    def _scripts(self, pieces: tuple[str, ...], between: str) -> list[str]:
        script = between.join(self._one_of(pieces) for _ in range(self._random.choice((1, 1, 1, 2, 3))))
        if self._random.random() < 0.05:
            script = self._mutated(script)
        return [self._quoted(script)] if "\n" not in script or self._random.random() < 0.9 else []

    def _some_options(self, name: str, most: int) -> list[str]:
        return self._options(self._programs[name], most) if name in self._programs else []

    def _of_program(self, program: Program) -> list[str]:
        words = self._options(program, 3)
        if program.subcommands and self._random.random() < 0.97:
            if self._random.random() < 0.7:
                words = words[:0]
            name = self._one_of(tuple(program.subcommands))
            return [*words, name, *self._of_program(program.subcommands[name])]
        operands = self._operands(3)
        if self._random.random() < 0.08:
            operands.insert(0, "--")
        mixed = [*words, *operands]
        if self._random.random() < 0.1:
            self._random.shuffle(mixed)
        return mixed

    def _options(self, program: Program, most: int) -> list[str]:
        kinds = {field.name: getattr(program, field.name) for field in dataclasses.fields(program)}
        named = [(kind, name) for kind, text in kinds.items() if isinstance(text, str) for name in _names(text)]
        if not named:
            return []
        words: list[str] = []
        for _ in range(self._random.choice((0, 1, 1, 2, most))):
            kind, name = self._random.choice(named)
            words += [self._one_of(TRAP_OPTIONS)] if self._random.random() < 0.07 else self._option(kind, name)
        return words

    def _option(self, kind: str, name: str) -> list[str]:
        random = self._random.random()
        if name.startswith("--") and random < 0.04:
            name = name[: self._random.randint(3, len(name))]
        if kind not in _VALUED:
            if len(name) == 2 and random < 0.15:
                return [name + self._one_of(("n", "r", "R", "v", "f", "o", "e", "i", "L", "1", "z", "a", "s"))]
            return [f"{name}={self._value(kind)}"] if random > 0.98 else [name]
        value = self._value(kind)
        if kind == "maybe":
            glued = f"={value}" if name.startswith("--") else value
            return [name] if random < 0.5 else [name + glued]
        if random < 0.45:
            return [name + ("=" if name.startswith("--") else "") + value]
        return [name, value]

    def _value(self, kind: str) -> str:
        if kind in ("texts", "maybe") and self._random.random() < 0.85:
            return self._word(self._one_of(TEXTS))
        return self._operand_written()

    def _operands(self, most: int) -> list[str]:
        return [self._operand_written() for _ in range(self._random.choice((0, 1, 1, 1, 2, most)))]

    def _operand(self) -> str:
        if self._random.random() < 0.85:
            return self._one_of((*PLAIN, *PLAIN, *TEXTS))
        return (
            self._one_of(NAMES_OF_TRAPS)
            .replace("OUT", str(self._root / "outside"))
            .replace("HOME", str(self._root / "home"))
        )

    def _operand_written(self) -> str:
        """An operand as written in the line."""
        random = self._random.random()
        if random < 0.80:
            return self._word(self._operand())
        if random < 0.90:
            return self._one_of(PATTERNS)
        if random < 0.95:
            return self._one_of(BRACES)
        return self._one_of(VARIABLES)

    # ── quoting ─────────────────────────────────────────────────────────────────────────────────

    def _word(self, text: str) -> str:
        """A text, quoted in one of the ways that a shell knows, sometimes without need."""
        plain = text and all(letter.isalnum() or letter in "/._-:=@%+,~^" for letter in text)
        random = self._random.random()
        if plain and random < 0.8:
            return text
        if plain and random < 0.85:
            at = self._random.randrange(len(text))
            return f"{text[:at]}{self._one_of(_BETWEEN)}{text[at:]}"
        return self._quoted(text)

    def _quoted(self, text: str) -> str:
        way = self._random.random()
        if way < 0.6:
            return "'" + text.replace("'", "'\\''") + "'"
        if way < 0.9:
            return '"' + "".join(f"\\{letter}" if letter in '"\\`$' else letter for letter in text) + '"'
        escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"$'{escaped}'"

    def _mutated(self, text: str) -> str:
        at = self._random.randrange(len(text) + 1)
        return (
            text[:at]
            + self._one_of(("'", '"', "\\", "/", "\n", ";", " ", "w", "e", "|", ">", "}", "{", "#", ""))
            + text[at + 1 :]
        )

    def _one_of(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)


def _names(text: str) -> list[str]:
    found: list[str] = []
    for part in text.split():
        found += [part] if part.startswith("-") else [f"-{letter}" for letter in part]
    return found
