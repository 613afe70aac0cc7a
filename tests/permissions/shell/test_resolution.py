"""What runs inside other commands. Where it can run here, the shell is the judge of how a wrapper is written."""

import pytest

from harness.permissions import Allow, Ask, Mode
from harness.permissions.shell.resolution import base_name, resolved_commands
from tests.permissions.test_verdicts import decided


def commands(line: str) -> list[str]:
    return [" ".join(word.text for word in run.simple.words) for run in resolved_commands(line)]


WRAPPED = [
    *("env - {}", "env -i - {}", "env -- - {}", "env -S '{}'", "env -vS '{}'", "env --split-string='{}'"),
    *("env -C / {}", "env a.b=c {}", "env -u X A=1 {}", "env A=$x {}", "env --chdir=/ {}", "env -P /bin {}"),
    *("env --block-signal {}", "flock f {}", "flock -w 5 f {}", "flock f -c '{}'", "flock --command='{}' f"),
    *("flock --com '{}' f", "flock 9 {}", "script -c '{}'", "script f -c '{}'", "script -qc '{}' f", "script -q f {}"),
    *("script --command '{}'", "setarch x86_64 {}", "setarch -R {}", "linux32 {}", "linux64 {}", "i386 {}"),
    *("x86_64 -R {}", "arch -x86_64 {}", "unshare -r {}", "nsenter -t 1 -a {}", "chroot / {}", "prlimit --nofile=9 {}"),
    *("setpriv --nnp {}", "capsh -- -c '{}'", "runuser -u bob -- {}", "runuser bob -c '{}'", "su -c '{}'"),
    *("su bob -c '{}'", "sg g '{}'", "systemd-run --user {}", "systemd-inhibit {}", "ltrace {}", "strace -f -o log {}"),
    *("gdb --args {}", "valgrind {}", "perf stat {}", "\\time -o log {}", "\\time -vp {}", "/usr/bin/time -f %e {}"),
    *("time -p {}", "time -p -- {}", "time -- {}", "jobs -x {}", "hash -p /usr/bin/git x; x push"),
    *("mapfile -C '{} #' -c 1 a < f", "time ! {}", "readarray -tC '{}' a", "complete -C '{}' x", "compgen -C '{}'"),
    *("bind -x '\"a\": {}'", "coproc {}", "trap '{}' EXIT", "trap -- '{}' EXIT", "eval -- '{}'", "eval {}"),
    *("command {}", "command -p -- {}", "exec {}", "builtin eval '{}'", "exec -a x {}", "exec -cl {}", "nice {}"),
    *("nice -n 5 {}", "nice -5 {}", "nice --adj=5 {}", "ionice -c 3 {}", "ionice -c3 -n 0 {}", "chrt -f 1 {}"),
    *("chrt -o 0 {}", "chrt -b {}", "taskset 1 {}", "taskset -c 0,1 {}", "stdbuf -oL {}", "setsid -w {}", "nohup {}"),
    *("timeout 5 {}", "timeout --kill=1 5 {}", "timeout $x {}", "timeout -k 1 5 {}", "timeout * {}", "watch {}"),
    *("watch -n 1 {}", "watch -x {}", "watch '{}'", "watch --exec {}", "watch -d {}", "watch -dn1 {}", "xargs {}"),
    *("xargs -i {}", "xargs -I % {}", "xargs -l {}", "xargs --replace {}", "xargs -J % {}", "xargs -e {}"),
    *("xargs -a f {}", "xargs sh -c '{}'", "parallel {}", "entr {}", "entr -s '{}'", "busybox {}", "toybox {}"),
    *("busybox sh -c '{}'", "dbus-run-session -- {}", "faketime '1 day' {}", "torsocks {}", "proxychains4 -q {}"),
    *("ssh-agent {}", "expect -c 'spawn {}'", "rlwrap {}", "unbuffer {}", "caffeinate -i {}", "xvfb-run -a {}"),
    *("fakeroot {}", "firejail --net=none {}", "bwrap --bind / / {}", "sshpass -p x {}", "direnv exec . {}"),
    *("mise exec -- {}", "mise x -c '{}'", "nix-shell -p git --run '{}'", "nix-shell --command '{}'", "rbenv exec {}"),
    *("conda run -n x {}", "cross-env A=1 {}", "numactl -N 0 {}", "sudo {}", "sudo -u bob {}", "sudo -s {}", "doas {}"),
    *("pkexec {}", "uv run {}", "uv run --with x {}", "npx {}", "uv --directory x run {}", "poetry -C x run {}"),
    *("poetry run {}", "npm exec -- {}", "npm exec -c '{}'", "npx -c '{}'", "uv $x run {}", "strace flock f -c '{}'"),
    *("flock f env - {}", "strace strace -f {}", "/lib64/ld-linux-x86-64.so.2 {}", "find . -exec {} \\;"),
    *("find . -name x -ok {} \\;", "find . $x {} \\;", "fd -Hx {}", "fd x --exec={}", "fd -x {}", "git bisect run {}"),
    *("git -C . bisect run {}", "git submodule foreach '{}'", "git submodule foreach --recursive {}"),
    *("git rebase -x '{}' main", "git rebase --exec='{}' main", "git -c core.pager='{}' log", "git -c alias.p=push p"),
    *("git --config-env a.b=HOME push", "git --exec-path=/tmp push", "/usr/lib/git-core/git-push", "git-push origin"),
    *("sh -c '{}'", "sh -ec '{}'", "sh -c -e '{}'", "sh -sc '{}'", "sh -e -c '{}'", "bash -lc '{}'"),
    *("bash --login -c '{}'", "bash -o pipefail -c '{}'", "bash -euo pipefail -c '{}'", "bash --rcfile f -ic '{}'"),
    *("bash -O extglob -c '{}'", "bash +x -c '{}'", "bash -c -- '{}'", "zsh -c '{}'", "fish -c '{}'"),
    *("fish -C '{}' a.fish", "ksh -c '{}'", "bash --init-file f -i", "sh -o noexec -c '{}'", 'bash -c "{}"'),
    *("sh -c 'eval \"$1\"' _ '{}'", "sh -c '$*' _ {}", "read 'a[$({})]'", "unset 'a[$({})]'"),
    *("declare -i x='a[$({})]'", "declare 'a[$({})]=1'", "let 'a[$({})]'", "printf -v 'a[$({})]' x"),
    *("test -v 'a[$({})]'", "[ -v 'a[$({})]' ]", "export 'a[$({})]=1'", "wait -p 'a[$({})]'"),
    *("sh -c 'alias x=\"git push\"\nx'", "enable -f x.so x", "git {{f}}>/dev/null push", "{{git,push}}"),
    *("git {{push,-f}}", "for x in push; do git $x; done", "for x in push; do for y in -f; do git $x $y; done; done"),
    *("case a in a) {};; esac", "[[ -n $({}) ]]", "[[ a == a && -f $({}) ]]", "case $({}) in a) ls;; esac"),
    "case a in $({})) ls;; esac",
]
"""git push in other words, {} standing for it."""


def test_no_wrapper_gets_a_denied_command_past_its_rule() -> None:
    lines = [form.format("git push") for form in WRAPPED]
    assert [line for line in lines if isinstance(decided(line, Mode.YOLO, deny="bash(git push *)"), Allow)] == []


def test_no_wrapper_hides_what_is_dangerous() -> None:
    lines = [form.format("rm -rf a") for form in WRAPPED if "{}" in form]
    assert [line for line in lines if not isinstance(decided(line, allow=["bash", "read", "write"]), Ask)] == []


@pytest.mark.parametrize(
    "line", ["git rebase -x make main", "git bisect run make", "git submodule foreach make", "git difftool -x make"]
)
def test_what_git_runs_is_allowed_by_no_rule_about_git(line: str) -> None:
    assert isinstance(decided(line, allow="bash(git *)"), Ask)
    [make] = [run for run in resolved_commands(line) if run.simple.program == "make"]
    assert not make.inside


@pytest.mark.parametrize(
    ("line", "inner"),
    [
        ("env -u A B=1 ls -l", "ls -l"),
        ("env - ls", "ls"),
        ("timeout -k 1 5m make", "make"),
        ("nice -n5 make", "make"),
        ("stdbuf -oL -e0 make", "make"),
        ("time -p make", "make"),
        ("\\time -v make", "make"),
        ("taskset -c 0-3 make", "make"),
        ("xargs -0 -n 1 ls", "ls …"),
        ("xargs -i cp {} b", "cp … b"),
        ("xargs -I % cp % b", "cp … b"),
        ("bash -euo pipefail -c 'make'", "make"),
        ("trap -- 'make' EXIT", "make"),
        ("eval -- make", "make"),
        ("uv run --with x pytest -q", "pytest -q"),
        ("poetry run pytest", "pytest"),
        ("flock f make -j", "make -j"),
        ("git-lfs pull", "git lfs pull"),
    ],
)
def test_what_a_wrapper_runs_is_known_exactly(line: str, inner: str) -> None:
    assert inner in commands(line)
    assert not any(run.opaque for run in resolved_commands(line))


@pytest.mark.parametrize(
    "line",
    ["env ls", "env LANG=C ls", "timeout 5 ls", "nice ls", "bash -c 'ls'", "sh -ec ls", "command ls", "time -p ls"],
)
def test_a_wrapper_around_what_looks_only_looks(line: str) -> None:
    assert isinstance(decided(line), Allow)


def test_what_runs_nothing_else_is_not_opaque() -> None:
    table = [
        *("trap -p", "trap - EXIT", "wait $!", "read -r x", 'export A="$b"', "local x=1", "unset x", "mapfile -t a"),
        *("git -c user.name=x commit", "git -C a status", "git rebase main", "hash git", "jobs -l", "fd x src"),
        *("alias", "bash build.sh", "bash -x build.sh a", "sh --version", "uv sync", "npm install", "test -f x"),
        *("git config user.name x", "git config --get core.editor", "git config -l", "GIT_PAGER=cat git log"),
        *("A='x[1]' ls", "ENV=prod make", "export EDITOR=true", "test -n 'a[1]'", 'find "$x"', 'env A="$x" ls'),
    ]
    assert [line for line in table if any(run.opaque for run in resolved_commands(line))] == []


def test_text_for_sh_is_read_as_every_shell_reads_it_or_asked_about() -> None:
    table = [
        *("sh -c 'echo $'\"'\"'\\'\"'\"'; touch P; #'\"'\"''", "sh -c 'ls &> f'", "sh -c 'ls |& cat'"),
        *("sh -c 'cat <<< x'", "sh -c 'echo {a,b}'", "sh -c '[[ -f x ]]'", "sh -c 'cat <(ls)'", "sh -c 'ls 10>x'"),
        *("sh -c 'a+=b ls'", "sh -c 'ls [^a]*'", "sh -c 'ls ?'", "sh -c 'time ! ls'", "sh -c 'echo `echo \\`ls\\``'"),
        *("sh -c 'ls >&x'", "sh -c 'ls {x}>a'", "sh -c 'echo $\"x\"'", "sh -c 'echo $[1]'", "sh -c 'ls .*'"),
        *("sh -c '! ! ls'", "dash -c 'ls &> f'", "watch 'ls &> f'", "busybox sh -c 'ls &> f'", "xargs sh -c 'ls &> f'"),
        "find . -exec sh -c 'ls &> f' \\;",
    ]
    assert [line for line in table if not isinstance(decided(line, allow="bash"), Ask)] == []


def test_text_for_bash_is_read_as_bash_reads_it() -> None:
    assert isinstance(decided("bash -c 'ls {a,b} &>/dev/null'"), Allow)


def test_a_line_can_be_read_as_any_shell_reads_it() -> None:
    assert [run.simple.program for run in resolved_commands("ls | wc", "portable")] == ["ls", "wc"]


def test_what_xargs_adds_is_what_the_pipeline_lists() -> None:
    [ls, xargs, grep] = resolved_commands("ls | xargs grep x")
    assert [one.words for one in xargs.simple.fed_by] == [ls.simple.words]
    [listed] = grep.simple.words[-1].listed_by
    assert listed.words == ls.simple.words
    [*_, grep] = resolved_commands("ls | xargs grep x < other")
    assert not grep.simple.words[-1].listed_by


def test_the_base_name_of_a_program() -> None:
    assert base_name("/usr/bin/RM.exe") == "rm"
