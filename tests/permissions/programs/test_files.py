"""Programs that change, pack and send files: which of their words they read, write or run."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from harness.permissions import Ask
from harness.permissions.programs import archives, development, files, network
from harness.permissions.programs.grammar import WordRole
from tests.cases import cases, lines, members
from tests.permissions.programs.reading import found, looks, parsed, run, state, uses
from tests.permissions.test_verdicts import decided

TABLES = ("flags", "acts", "maybe", "tree", "follow", "texts", "lists", "reads", "writes", "executes", "commands")


@cases(__file__, "roles", "line expected", str, members)
def test_every_word_has_its_role(line: str, expected: set[str]) -> None:
    assert uses(line) == expected


LOOKS = lines(__file__, "looks")
"""The only forms that may run unasked."""


def test_these_forms_only_look() -> None:
    assert [line for line in LOOKS if not looks(line)] == []


def test_every_other_form_is_asked_about() -> None:
    assert [line for line in lines(__file__, "does more") if looks(line)] == []


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


CHANGES = lines(__file__, "changes")


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
