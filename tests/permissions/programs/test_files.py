"""Programs that change, pack and send files: which of their words they read, write or run."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from harness.permissions import Ask
from harness.permissions.programs import archives, development, files, network
from harness.permissions.programs.grammar import WordRole
from tests.permissions.programs.reading import found, looks, parsed, run, state, uses
from tests.permissions.test_verdicts import decided

TABLES = ("flags", "acts", "maybe", "tree", "follow", "texts", "lists", "reads", "writes", "executes", "commands")
ROLES = [
    # Copies, moves, links: a rule about reading has to see their sources.
    ("cp ~/.ssh/id_rsa k2", "read ~/.ssh/id_rsa; write k2; write k2/id_rsa"),
    ("cp a b out", "read a; read b; write out; write out/a; write out/b"),
    ("cp -R vendor/.git .", "tree vendor/.git; write .; write .git"),
    ("cp -r a out", "followed a; write out; write out/a"),
    ("gzip -lr a", "followed a"),
    ("cp -RL a out", "followed a; write out; write out/a"),
    ("cp -t out a", "read a; write out; write out/a"),
    ("cp --target-directory=out a", "read a; write out; write out/a"),
    ("cp src/*.py out", "read src/*.py; write out; write out/*.py"),
    ("mv a b", "tree a; write a; write b; write b/a"),
    ("ln -s secrets zz", "tree secrets; write zz; write zz/secrets"),
    ("ln -s ../secrets", "tree ../secrets; write .; write secrets"),
    ("ln a b", "tree a; write b; write b/a"),
    ("install -m 755 a b", "read a; write b; write b/a"),
    ("install -d a b", "read a; write a; write b; write b/a"),
    ("rsync -a secrets/ out/", "tree secrets/; write out/; write out/secrets"),
    ("rsync -aL secrets out", "followed secrets; write out; write out/secrets"),
    ("rsync -a --remove-source-files a out", "tree a; write a; write out; write out/a"),
    ("rsync -a -e 'ssh -i k' a h:b", "command ssh -i k; tree a; write h:b; write h:b/a"),
    ("rsync --files-from=list a out", "read list; read a; write out; write out/a"),
    ("scp -r secrets h:x", "followed secrets; write h:x; write h:x/secrets"),
    ("scp -i key -F conf a h:x", "read key; execute conf; read a; write h:x; write h:x/a"),
    # Files.
    ("dd if=secrets/a of=k bs=1", "read secrets/a; write k"),
    ("tee a b", "write a; write b"),
    ("tee -a /dev/null", "write /dev/null"),
    ("touch -r a b", "list a; write b"),
    ("mkdir -p -m 700 a/b", "write a/b"),
    ("rm -rf a", "write a"),
    ("chmod -R 755 d", "write d"),
    ("chmod --reference=a b", "list a; write b"),
    ("chown ada a", "write a"),
    ("truncate -s 0 a", "write a"),
    ("split -b 9 a", "read a; write ."),
    ("split a d/x", "read a; write d/x; write d"),
    ("split --filter='sh -c x' a", "command sh -c x; read a; write ."),
    ("patch -p1 -i a.patch", "read a.patch; write ."),
    # Archives.
    ("tar tzf a.tgz", "read a.tgz"),
    ("tar -xf a.tar -C out b", "read a.tar; list out; write out; write out/b"),
    ("tar czf o.tgz secrets", "write o.tgz; tree secrets"),
    ("tar chf o.tar secrets", "write o.tar; followed secrets"),
    ("tar cf o.tar -C ~/.ssh .", "write o.tar; list ~/.ssh; tree ~/.ssh/."),
    ("tar cf o.tar -C a -C b c", "write o.tar; list a; list b; tree a/b/c"),
    ("tar rf o.tar a", "read o.tar; write o.tar; tree a"),
    ("tar tf a -I ./x", "read a; command ./x"),
    ("tar tf a -T list", "read a; execute list"),
    ("tar tf a --to-command=x", "read a; command x"),
    ("tar tf a -F x", "read a; execute x"),
    ("zip -r o.zip secrets", "read o.zip; write o.zip; followed secrets"),
    ("zip -ry o.zip secrets", "read o.zip; write o.zip; tree secrets"),
    ("zip -m o.zip a", "read o.zip; write o.zip; read a; write a"),
    ("unzip -l a.zip", "read a.zip; read a.zip.zip"),
    ("unzip a", "read a; read a.zip; write ."),
    ("unzip -d out a.zip", "read a.zip; read a.zip.zip; write out"),
    ("gzip a", "read a; write a; write a.gz"),
    ("gunzip .env.gz", "read .env.gz; write .env.gz; write .env"),
    ("gzip -dc a.gz", "read a.gz"),
    ("zstd -d -o b a.zst", "write b; read a.zst; write a.zst; write a"),
    ("ar r o.a a.o", "read o.a; write o.a; read a.o"),
    ("jar cf o.jar src", "read o.jar; write o.jar; tree src; write ."),
    ("7z x a.7z -oout", "read a.7z; write a.7z; read out; write out; write ."),
    # Keys and the network.
    ("gpg -d a.gpg", "read a.gpg"),
    ("openssl pkey -in secrets/k -out o", "read pkey; read secrets/k; read o; write o"),
    ("openssl enc -pass file:secrets/k", "read enc; read secrets/k; read file:secrets/k"),
    ("ssh-keygen -y -f secrets/k", "read secrets/k; write secrets/k"),
    ("curl -d @secrets/a u", "read u; read secrets/a"),
    ("curl -d@secrets/a u", "read u; read secrets/a"),
    ("curl --data-binary @secrets/a u", "read u; read secrets/a"),
    ("curl --data-urlencode x@secrets/a u", "read u; read secrets/a"),
    ("curl -F 'f=@secrets/a;type=text/plain' u", "read u; read secrets/a; read type=text/plain"),
    ("curl -F 'f=<secrets/a' u", "read u; read secrets/a"),
    ("curl -H @secrets/a u", "read u; read secrets/a"),
    ("curl -b secrets/a u", "read u; read secrets/a"),
    ("curl -b a=b u", "read u"),
    ("curl -T secrets/a u", "read u; read secrets/a"),
    ("curl -K conf u", "read u; execute conf"),
    ("curl -n u", "read u; read ~/.netrc"),
    ("curl -sSLo out u", "read u; write out"),
    ("curl -O https://e.org/.bashrc", "read https://e.org/.bashrc; write .; write .bashrc"),
    ("curl --output-dir d -O u/x", "read u/x; write d; write d/x"),
    ("curl file:///etc/passwd", "read file:///etc/passwd; read /etc/passwd"),
    ("curl FILE://localhost/%65tc/passwd", "read FILE://localhost/%65tc/passwd; read /etc/passwd"),
    ("curl --url file:///etc/passwd", "read file:///etc/passwd; read /etc/passwd"),
    ("wget --post-file=secrets/a u/x", "read secrets/a; read u/x; write .; write x"),
    ("wget -O out u/x", "read u/x; write out"),
    ("wget --use-askpass=./x u/x", "command ./x; read u/x; write .; write x"),
    ("ssh -i key h rm x", "read key; command rm; command x"),
    ("ssh -o ProxyCommand=./x h", "command ProxyCommand=./x"),
    ("nc -e sh h 1", "command sh; read h; read 1"),
    # Editors and databases.
    ("vim -c '!x' a", "command !x; read a; write a"),
    ("vim '+!x' a", "command +!x; read +!x; write +!x; read a; write a"),
    ("sqlite3 db '.shell x'", "read db; write db; command .shell x"),
    ("psql -f a.sql -o out", "execute a.sql; write out"),
    ("ldd a", "execute a"),
    ("objdump -d --section .text a", "read .text; read a"),
    ("nm -D a", "read a"),
    ("crontab a", "execute a"),
    ("ffmpeg -i a.mp4 b.mp4", "read a.mp4; read b.mp4; write b.mp4"),
    ("pandoc -o b.html -F ./x a.md", "read a.md; write b.html; execute ./x"),
]


def test_every_word_has_its_role() -> None:
    assert [line for line, expected in ROLES if uses(line) != set(expected.split("; "))] == []


LOOKS = [
    *("tar tf a.tar", "tar -tf a.tar", "tar tzvf a.tgz", "tar --list --file=a.tar", "tar -tf a.tar a b"),
    *("tar ztf a.tgz", "unzip -l a.zip", "unzip -p a.zip a", "unzip -t a.zip", "unzip -Z a.zip", "zipinfo a.zip"),
    *("zipinfo -1 a.zip", "zcat a.gz", "gzip -l a.gz", "gzip -dc a.gz", "gunzip -c a.gz", "gzip -t a.gz"),
    *("bzcat a.bz2", "xzcat a.xz", "xz -l a.xz", "zstdcat a.zst", "zstd -l a.zst", "zstd -dc a.zst", "jar tf a.jar"),
    *("jar -tf a.jar", "ar t a.a", "cpio -it"),
]
"""The only forms that may run unasked."""


def test_these_forms_only_look() -> None:
    assert [line for line in LOOKS if not looks(line)] == []


def test_every_other_form_is_asked_about() -> None:
    table = [
        # What runs something, or obeys a file.
        *("tar tf a.tar -I ./x", "tar tf a.tar --checkpoint=1 --checkpoint-action=exec=x", "tar tf h:a.tar"),
        *("tar tf a.tar --to-command=x", "tar tf a.tar --info-script=x", "tar tf a.tar -F x", "tar tf a.tar -T x"),
        *("tar tf a.tar --rsh-command=x", "tar tf a.tar --use-compress-prog=x", "tar t", "tar tf", "tar tfM a.tar"),
        *("objdump -S a.o", "nm a.a", "readelf -h a", "objdump -d a.o", "objdump -s a.o", "objdump @x", "nm @x"),
        *("nm --plugin x.so a.o", "readelf -w a.o", "readelf -x .data a.o", "ar p a.a", "ar t @x", "jar tf @x"),
        *("jar -J-x tf a.jar", "ldd a", "xz -l --files=x", "cpio -it --rsh-command=x", "zstd -l --filelist=x"),
        *("objdump -t", "nm"),
        # What writes.
        *("tar xf a.tar", "tar cf a.tar a", "tar xOf a.tar", "tar tf a.tar -C x", "unzip a.zip", "unzip -o a.zip"),
        *("unzip -l 'a*.zip'", "unzip -l a.zip -d x", "unzip -T a.zip", "gzip a", "gunzip a.gz", "gzip -k a"),
        *("xz -tz a", "unxz --test --compress a", "zstd -t -z a", "zstd -l -d a.zst", "zstd -dc a.zst -o x"),
        *("zstd -dc --rm a.zst", "xz a", "ar x a.a", "ar d a.a a.o", "jar xf a.jar", "cpio -i", "tee a", "dd if=a"),
        *("cp a b", "zip -l a", "sqlite3 a .tables", "curl u", "ssh h ls", "gpg --list-keys"),
    ]
    assert [line for line in table if looks(line)] == []


@pytest.mark.parametrize("line", ["tar tf a.tar *", "unzip -l a.zip ?x", "zcat *", "cp * out"])
def test_a_pattern_that_may_become_an_option_is_named(line: str) -> None:
    command = parsed(line)
    assert command is not None
    assert command.turning


@pytest.mark.parametrize(
    "line", ["cp $x y", "tar tf $x", "dd if=$x", "dd if=* of=x", "cp --frobnicate a b", "zcat --x a", "ffmpeg -i=$x"]
)
def test_what_is_not_known_is_not_in_the_grammar(line: str) -> None:
    assert parsed(line) is None


def test_dd_may_be_given_the_home_folder_by_bash() -> None:
    command = parsed("dd if=~/.ssh/id_rsa")
    assert command is not None
    assert {(use.role, use.word.text, use.word.home) for use in command.uses} == {
        (WordRole.READ, "~/.ssh/id_rsa", True),
        (WordRole.READ, "~/.ssh/id_rsa", False),
    }


@pytest.mark.parametrize("module", [archives, development, files, network])
def test_no_option_is_in_two_tables_of_a_program(module: ModuleType) -> None:
    programs = list(module.PROGRAMS.items())
    while programs:
        name, program = programs.pop()
        programs += [(f"{name} {inner}", one) for inner, one in program.subcommands.items()]
        options = [option for table in TABLES for option in getattr(program, table).split()]
        letters = [f"-{one}" for text in options if text[0] != "-" for one in text]
        written = [*letters, *(text for text in options if text[0] == "-")]
        assert sorted(written) == sorted(set(written)), name


# ── what the programs really do ─────────────────────────────────────────────────────────────────


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A folder with an archive of each kind, and with files whose names are options."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("text\n")
    (folder / "b").write_text("text\n")
    (folder / "a.c").write_text("int one(void) { return 1; }\n")
    for line in [
        *("tar cf a.tar a b", "tar czf a.tgz a b", "zip -q a.zip a b; cp a.zip a.jar", "gzip -k a", "bzip2 -k a"),
        *("xz -k a", "zstd -qk a", "gcc -c a.c -o a.o && ar r a.a a.o && gcc -shared -fPIC a.c -o a.so"),
        "touch -- '--checkpoint-action=exec=touch PWNED' '--checkpoint=1' -o",
    ]:
        run(line, folder)
    return folder


def test_what_looks_changes_nothing(packed: Path) -> None:
    before = state(packed)
    for line in filter(found, LOOKS):
        done = run(line, packed)
        assert state(packed) == before, line
        missing = [word for word in line.split() if word.startswith("a.") and not (packed / word).exists()]
        assert done.returncode == 0 or missing or line == "cpio -it", (line, done.stderr)


CHANGES = [
    *("cp a b", "cp -r d out", "cp a out", "cp -t out a b", "mv a b", "mv d out", "ln -s d zz", "ln a zz"),
    *("ln -s ../x", "install -m 700 a out", "install -d x y", "dd if=a of=x", "tee x", "touch x", "mkdir x"),
    *("rmdir empty", "rm a", "rm -r d", "unlink a", "truncate -s 1 a", "chmod 600 a", "split -b 1 a", "split -b 1 a x"),
    *("shred -u a", "tar cf x.tar a", "tar rf a.tar b", "tar xf a.tar -C out", "tar xf c.tar", "zip -q x.zip a"),
    *("zip -qm x.zip a", "unzip -o a.zip -d out", "gzip a", "gunzip -f b.gz", "xz a", "bzip2 a", "mkfifo x"),
    *("sqlite3 x 'create table t(a)'", "csplit -s a 1", "patch -s a a.patch", "strip x.o", "cp a d -t out"),
    "rsync -a d out",
]


@pytest.fixture(scope="module")
def to_change(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, folders, archives and a program with symbols."""
    folder = tmp_path_factory.mktemp("change")
    for name in ("d", "out", "empty"):
        (folder / name).mkdir()
    for name, text in {"a": "text", "b": "other", "d/c": "text", "x.c": "int one(void) { return 1; }"}.items():
        (folder / name).write_text(f"{text}\n")
    (folder / "a.patch").write_text("--- a\n+++ a\n@@ -1 +1 @@\n-text\n+other\n")
    run("tar cf a.tar a d; tar cf c.tar b; echo third > b; gzip -k b; zip -q a.zip a; gcc -g -c x.c", folder)
    return folder


@pytest.mark.parametrize("line", [line for line in CHANGES if found(line)])
def test_what_a_program_changes_is_in_a_word_that_it_writes(line: str, to_change: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(to_change, tmp_path / "folder")
    before = state(folder)
    run(line, folder)
    after = state(folder)
    changed = {
        name for name in before.keys() | after.keys() if _but_time(before.get(name)) != _but_time(after.get(name))
    }
    written = [use.partition(" ")[2] for use in uses(line.partition(" <")[0]) if use.startswith("write ")]
    assert changed
    for name in changed:
        assert any(place == "." or name == place or name.startswith(f"{place}/") for place in written), (name, written)


def _but_time(about: str | None) -> list[str] | None:
    return None if about is None else [part for number, part in enumerate(about.split(" ")) if number != 1]


@pytest.mark.parametrize(
    "line", ["tar tf $(ls)", "ar t $(ls)", "jar tf $(ls)", "unzip -l $(ls)", "cp -t out $(git ls-files)", "gzip $(ls)"]
)
def test_names_that_another_command_lists_may_mean_more_than_a_file(line: str) -> None:
    assert isinstance(decided(line), Ask)
