"""Rules go by what a program does with each word, whatever the program."""

from dataclasses import replace

import pytest

from harness.permissions import Allow, Ask, Deny, Mode
from harness.permissions.disk import Disk, TreeContents
from tests.cases import cases
from tests.permissions.test_verdicts import bash, decided, empty_disk, permissions

KEY = "~/.ssh/id_rsa"


@cases(__file__, "read", "line")
def test_a_denied_file_is_not_read_by_any_program(line: str) -> None:
    for mode in (Mode.ASK, Mode.EDITS, Mode.YOLO):
        decision = decided(line, mode, allow=["bash", "read", "write"], deny="read(~/.ssh/**)")
        assert not isinstance(decision, Allow), decision


@cases(__file__, "written", "line")
def test_a_denied_folder_is_not_written_by_any_program(line: str) -> None:
    for mode in (Mode.EDITS, Mode.YOLO):
        decision = decided(line, mode, allow=["bash", "read", "write"], deny="write(src/**)")
        assert isinstance(decision, Deny | Ask), decision


@pytest.mark.parametrize(
    "line", ["cp a src/b", "ln -s a src/b", "rm src/a", "touch src/a", "ls > src/a", "mkdir src/d"]
)
def test_a_denial_is_certain_where_it_is_certain_what_is_written(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="write(src/**)"), Deny)


@pytest.mark.parametrize("line", ["cat src/a", "grep -r x src", "ls src", "python src/a.py", "touch a src2"])
def test_reading_is_not_writing(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="write(src/**)"), Allow)


@pytest.mark.parametrize("line", ["touch secrets/a", "echo x > secrets/a", "mkdir secrets/b"])
def test_writing_is_not_reading(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="read(secrets/**)"), Allow)


@pytest.mark.parametrize(
    "line", ["grep -r x .", "cp -r . /tmp/x", "tar cf x.tar .", "ln -s . zz", "diff -r . a", "rsync -a . host:"]
)
def test_what_takes_a_whole_folder_is_judged_by_what_is_in_it(line: str) -> None:
    gate = permissions(Mode.YOLO, deny="read(**/.env)")
    request = bash(line)
    asked = gate.questions(request)
    assert asked.trees
    plain = empty_disk(asked)
    assert isinstance(gate.decide(replace(request, disk=plain)), Allow)
    held = TreeContents(("/srv/project/sub/.env",))
    holding = replace(plain, trees=dict.fromkeys(asked.trees, held))
    assert isinstance(gate.decide(replace(request, disk=holding)), Deny)
    too_large = replace(plain, trees=dict.fromkeys(asked.trees, TreeContents(complete=False)))
    assert isinstance(gate.decide(replace(request, disk=too_large)), Ask)


def test_nothing_is_taken_for_known_that_was_not_looked_up() -> None:
    for line in ("grep -r x src", "cat *.py", "diff -r src tests"):
        gate = permissions(Mode.ASK)
        assert isinstance(gate.decide(replace(bash(line), disk=Disk())), Ask)
        assert isinstance(decided(line), Allow)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("wc *", "-x"),
        ("cat [a-z]*", "-x"),
        ("sort ?o", "-o"),
        ("for f in *; do cat $f; done", "a b"),
        ("grep x *", "-f"),
    ],
)
def test_a_pattern_is_judged_by_the_names_that_fit(line: str, name: str) -> None:
    gate = permissions(Mode.ASK)
    request = bash(line)
    asked = gate.questions(request)
    plain = empty_disk(asked)
    [pattern] = asked.patterns
    fitting = replace(plain, matches={pattern: (f"/srv/project/{name}",)})
    decision = gate.decide(replace(request, disk=fitting))
    assert isinstance(decision, Ask)
    assert name in decision.why
    harmless = replace(plain, matches={pattern: ("/srv/project/a.txt",)})
    assert isinstance(gate.decide(replace(request, disk=harmless)), Allow)


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("for f in a ~/*; do true; done", {"/home/ada/*"}),
        ('for f in a; do for g in ../x/*; do basename "$g"; done; done', {"/srv/project/../x/*"}),
        ("for f in ~/x ../x; do true; done", set()),
        ("for f in '~/*' a; do true; done", set()),
    ],
)
def test_a_pattern_among_the_words_of_a_loop_is_looked_up(line: str, paths: set[str]) -> None:
    gate = permissions(Mode.ASK)
    request = bash(line)
    asked = gate.questions(request)
    assert paths <= asked.patterns
    assert isinstance(gate.decide(replace(request, disk=empty_disk(asked))), Ask if paths else Allow)
