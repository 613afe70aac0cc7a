"""Programs that read and search text, or show the state of the system: which forms only look."""

import pytest

from harness.permissions.programs import WordRole, text
from tests.permissions.programs.reading import parsed_line

_LOOKING = [
    *("ls", "ls -la src", "ls -lah --color=never --group-directories-first", "ls -I '*.pyc' src", "ls -1 *.py"),
    *("cat README.md", "cat -n a b", "tac a", "rev a", "head -n 20 a.py", "head -5 a", "head -c -5 a", "tail -n +5 a"),
    *("tail -5 log.txt", "tail +5 a", "tail -n 5 -- -f", "wc -l a b", "wc -lwc < a", "nl -ba a", "od -t x1 -A d a"),
    *("od -An -tx1 -N16 a", "hexdump -C a", "hexdump -e '16/1 \"%02x\"' a", "xxd a", "xxd -l 16 a", "xxd -s 4 -c 8 a"),
    *("strings a.out", "strings -n 8 a.out", "strings -a -t x a", "stat a", "stat -c '%n %s' a", "stat -f %z a"),
    *("file a", "file -b --mime-type a", "du -sh src", "du -sh *", "du -h --max-depth=1", "du -d 1 -h .", "df -h"),
    *("df -hT .", "tree", "tree -L 2", "tree -a -I 'node_modules|.git' src", "tree -L2 --dirsfirst"),
    *("basename a/b .py", 'basename "$f" .py', 'dirname "$f"', "realpath a", "readlink -f a", "cksum a", "md5sum a b"),
    *("sha256sum a", "shasum -a 256 a", "b2sum a", "base64 a", "base64 -d a", "base64 -w0 a", "base64 -D -i a"),
    *("iconv -f latin1 a", "diff a b", "diff -u a b", "diff -rq a b", "diff -U5 --color=never a b"),
    *("diff -y -W 120 a b", "cmp a b", "comm -12 a b", "paste -sd, a", "paste -d '\\t' a b", "cut -d' ' -f1,3 a"),
    *("cut -c1-80", "cut -d: -f 1 a", "column -t -s, a", "column -t", "fold -w 80 -s a", "fmt -w 72 a"),
    *("expand -t 4 a", "join -t, -1 2 -2 1 a b", "look pre words", "pr -t -2 a", "col -b", "sort a", "sort -u a b"),
    *("sort -t: -k2,2n -k1 a", "sort -rn", "sort -h", "sort --key=2 -V a", "uniq -c", "uniq -d a", "uniq"),
    *("tr a-z A-Z", "tr -d '\\n'", 'tr "$a" "$b"', "tsort a", "shuf -n 5 a", "grep -rn 'a|b' src", "grep -e x a.py"),
    *("grep -c x a", "grep -A3 -B 2 x a", "grep -5 x a", "grep -v .env .gitignore"),
    *("grep --include='*.py' --include=*.pyi -rl x .", "grep -rn --exclude-dir=.git x", "grep -oP '(?<=a)b' a"),
    *("grep -i -- -x a", "egrep 'a|b' a", "fgrep -x a b", "grep --color=never x a", "rg x", "rg -n TODO src"),
    *("rg --files", "rg --files src -g '*.py'", "rg -tpy -l x", "rg -uu x docs", "rg -C3 x", "rg -e a -e b src"),
    *("rg --type-list", "rg -i --max-count=3 x", "rg -F 'a(' src", "fd", "fd -e py", "fd x src", "fd -t f -d 2"),
    *("fd -H -E .git", "bat -P a", "bat --paging=never -n a", "bat -pp a", "seq 3", "seq -w 0 2 10", "seq 10 -2 0"),
    *("seq -s, 5", "seq -5 5", "seq 0.5 0.1 2", "factor 12", "numfmt --to=iec 2048", "whoami", "id -u", "id", "groups"),
    *("users", "who -a", "w -h", "uname -a", "uname -sr", "hostname", "hostname -f", "hostid", "arch", "nproc"),
    *("nproc --all", "uptime", "uptime -p", "tty", "logname", "date", "date +%s", "date -u +%FT%TZ", "date -I"),
    *("date -Iseconds", "date -R", "date -d yesterday +%F", "date --date='2 days ago'", "date -r a", "date -v-1d +%F"),
    *("cal", "cal 2026", "cal -3", "printenv PATH HOME", "ps", "ps aux", "ps auxww", "ps -ef", "ps -aux", "ps -p 12"),
    *("ps -eo pid,ppid,cmd --sort=-%mem", "ps -o pid= -p 12", "ps axf", "ps -u root", "ps -ax -o pid,command"),
    *("pstree -p", "pgrep -fl python", "pidof init", "which python", "which -a ls", "whereis ls", "free -m", "free -h"),
    *("vmstat", "vmstat 1 3", "iostat", "lscpu", "lsblk -f", "locale", "locale -a", "locale LC_TIME"),
    *("getconf PAGESIZE", "last -n 5", "ls --help", "grep --version", "last -5"),
]
_OTHERS = [
    # They write, or read a list of files or settings.
    *("sort -o a a", "sort -no a a", "sort --output=a a", "sort --outp=a a", "sort a -o b", "sort -T . a"),
    *("sort --compress-program=x a", "sort --files0-from=a", "sort --random-source=a -R b", "sort +1 -o a"),
    *("sort -k* -- -o a", "sort -k$x a", "uniq a b", "uniq a -c", "uniq *", "uniq -c a b", "xxd a b", "xxd -r a"),
    *("xxd -pl 10 a", "xxd -revert a", "xxd -p* a", "xxd *", "tree -o a", "tree -Lo 2 a", "tree -R", "tree -l"),
    *("tree --fromfile a", "tree -Ho . a", "shuf -o a b", "shuf --random-source=a b", "base64 -o a b", "iconv -o a b"),
    *("wc --files0-from=a", "du --files0-from=a", "du -L", "file -f a", "file -m a b", "file -C a", "file -z a"),
    *("file -p a", "date -s 10:00", "date 01010000", "date -f .env", "date --file=a", "date -f.env", "date +%s 0101"),
    *("date --set=x", "hostname new", "hostname -F a", "strings @.env", "strings a @b", "strings -n @b a", "strings *"),
    *("strings [@]a", "md5sum -c a", "sha256sum --check a", "shasum -c a", "cksum -c a", "diff -l a b", "diff3 a b c"),
    *("diff --from-file=a b", "sdiff -o a b c", "colordiff a b", "rg --pre x y", "rg --pre=x y", "rg -z x"),
    *("rg --hostname-bin x y", "rg --pre-glob a b", "rg -f=/etc/passwd x", "fd -x rm", "fd -X rm", "fd -l"),
    *("fd --exec rm", "fd -Hx rm", "fd --base-directory / x", "grep -d recurse x .", "grep --directories=recurse x ."),
    *("grep $x a", "cat $x", "cat -$x", "head -n $n a", "head -n * a", "cat -[n] a", "head -n*", "cat -?", "bat a"),
    *("bat -p a", "bat --pager=x -P a", "bat -P --paging=always a", "bat -P cache --build", "less a", "man ls"),
    *("getconf -v x PATH", "printenv", "printenv GITHUB_TOKEN", "printenv PATH API_KEY", "printenv $x", "ps e"),
    *("ps auxe", "ps -auxe", "ps axeww", "ps -E", "ps -e -u x", "ps -aux -e", "ps -o pid,environ", "ps $x"),
    *("lscpu -s /x", "lsblk --sysroot x", "col a", "whoami x", "locale -mv", "pr -f -m --pag=x a", "locate x", "yes"),
    "factor $n",
]
_ENDLESS = [
    *("tail -f a", "tail -F a", "tail --follow a", "tail --follow=name a", "tail -qf a", "tail a -f", "tail +5f a"),
    *("tail -fn5 a", "seq inf", "seq 1 0 2", "seq -w 1 0.0 3", "seq 1 99999999999", "seq nan", "seq 1 $n", "seq 0x1 5"),
    *("seq 9 -.0 1", "free -s 1", "free -hs1", "vmstat 1", "iostat 5", "iostat -x 5", "shuf -r a", "factor 1e5"),
]


def looks(line: str) -> bool:
    parsed = parsed_line(line)
    return parsed is not None and parsed.looks


def roles(line: str) -> list[tuple[str, str]]:
    parsed = parsed_line(line)
    assert parsed is not None
    return [(use.role.value, use.word.text) for use in parsed.uses]


def test_an_ordinary_form_only_looks_and_ends() -> None:
    found = {line: parsed_line(line) for line in _LOOKING}
    assert [line for line, one in found.items() if one is None or not one.looks or not one.ends] == []


def test_another_form_does_not_only_look() -> None:
    assert [line for line in _OTHERS if line.split()[0] in text.PROGRAMS and looks(line)] == []


def test_what_may_go_on_for_ever_does_not_end_by_itself() -> None:
    found = {line: parsed_line(line) for line in _ENDLESS}
    assert [line for line, one in found.items() if one is not None and one.ends] == []


def test_each_word_has_its_role() -> None:
    table = [
        ("grep -v .env .env", [("text", ".env"), ("read", ".env")]),
        ("grep -f.env x", [("read", ".env"), ("read", "x")]),
        ("grep -r x", [("text", "x"), ("tree", ".")]),
        ("grep -R x a", [("text", "x"), ("followed", "a")]),
        ("grep x* y", [("text", "x*"), ("read", "x*"), ("read", "y")]),
        ("grep -e x a -f b", [("read", "b"), ("read", "b"), ("read", "a")]),
        ("rg --files /", [("list", "/")]),
        ("rg x", [("text", "x"), ("tree", ".")]),
        ("rg -L x a", [("text", "x"), ("followed", "a")]),
        ("rg -f a b", [("read", "a"), ("tree", "b")]),
        ("diff a b", [("followed", "a"), ("followed", "b")]),
        ("ls -I x a", [("list", "x"), ("list", "a")]),
        ("stat -f %z a", [("list", "%z"), ("list", "a")]),
        ("head a -n 5", [("read", "5"), ("read", "a")]),
        ("date -r .env", [("list", ".env")]),
        ("fmt -p ../x a", [("read", "../x"), ("read", "a")]),
        ("uniq a b", [("read", "a"), ("write", "b")]),
        ("sort -o a b", [("write", "a"), ("read", "b")]),
        ("du -X .env a", [("read", ".env"), ("list", "a")]),
    ]
    assert [line for line, expected in table if roles(line) != expected] == []


@pytest.mark.parametrize(
    ("line", "skips"),
    [
        *(("rg x", True), ("rg --no-ignore x", True), ("rg -. x", False), ("rg -uu x", False), ("rg -g '.*' x", False)),
        *(("rg -tsh x", False), ("fd x", True), ("fd -H x", False), ("fd -u", False), ("grep -r x", False)),
    ],
)
def test_only_rg_and_fd_pass_over_hidden_files(line: str, *, skips: bool) -> None:
    parsed = parsed_line(line)
    assert parsed is not None
    assert parsed.skips_hidden is skips


def test_every_role_of_a_looker_is_one_that_looks() -> None:
    for name, program in text.PROGRAMS.items():
        if program.looks and name not in ("uniq", "xxd"):
            assert not set(program.operands) & {WordRole.WRITE, WordRole.EXECUTE, WordRole.COMMAND}, name
