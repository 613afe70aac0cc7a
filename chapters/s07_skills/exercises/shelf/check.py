"""Checks of the tool: a shelf of skills on the disk, with files beside it that must not be readable through it."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from harness.tools.workspace import PathError, resolve_within

PATHS = 600
TEXTS = {
    "release": ("How a release is made. Read it before you change a version.", "First run all tests.\nThen set a tag."),
    "review": ("How a review is written.", "Begin with the good parts."),
    "holidays": ("Dates of everyone's holidays.", "No one in the first week."),
}


def check_without_a_name_there_is_a_line_for_each(work: ModuleType) -> None:
    skills = _shelf(work, "first")
    got = work.read(skills)
    wanted = [work.line(skill) for skill in skills]
    assert got.strip().splitlines() == wanted, f"read(skills) -> {got!r}"
    assert work.read(skills[:1]).strip() == wanted[0], f"read of a shelf with one skill -> {work.read(skills[:1])!r}"


def check_a_name_gives_the_text_the_folder_and_the_files(work: ModuleType) -> None:
    skills = _shelf(work, "second")
    for skill in skills:
        got = work.read(skills, skill.name)
        for part in (skill.text, str(skill.folder), *work.files(skill)):
            assert part in got, f"read(skills, {skill.name!r}) -> {got!r}, without {part!r}"
        others = [other.name for other in skills if other.name != skill.name and other.text in got]
        assert others == [], f"read(skills, {skill.name!r}) -> also the text of {others}"


def check_an_unknown_name_gets_the_closest_one(work: ModuleType) -> None:
    skills = _shelf(work, "third")
    for name, near in (("relase", "release"), ("revew", "review")):
        said = _refusal(work, skills, name)
        assert near in said, f"read(skills, {name!r}) -> ToolError({said!r}), without {near!r}"
        assert "holidays" not in said, f"read(skills, {name!r}) -> ToolError({said!r}), with 'holidays'"
    said = _refusal(work, skills, "zzz")
    missing = [skill.name for skill in skills if skill.name not in said]
    assert missing == [], f"read(skills, 'zzz') -> ToolError({said!r}), without {missing}"


def check_a_name_is_no_path(work: ModuleType) -> None:
    skills = _shelf(work, "fourth")
    for name in ("draft", "../keys", "..", "release/../review", "./review", str(skills[0].folder)):
        _refusal(work, skills, name)
        _refusal(work, skills, name, "SKILL.md")


def check_no_file_leads_out_of_the_folder(work: ModuleType) -> None:
    skills = _shelf(work, "fifth")
    outside = skills[0].folder.parent.parent / "keys" / "key.txt"
    for file in ("../review/SKILL.md", "../../keys/key.txt", str(outside), "../release-old/notes.md", "link.txt"):
        _refusal(work, skills, "release", file)
    _refusal(work, skills, "release", "parts/up/review/SKILL.md")


def check_it_reads_what_harness_reads(work: ModuleType) -> None:
    skills = _shelf(work, "sixth")
    chance = Random(7)
    parts = ("..", ".", "parts", "..notes.md", "template.md", "one.md", "same.md", "link.txt", "up", "release", "gone")
    paths = ["template.md", "..notes.md", "parts/../template.md", "same.md", "parts", "gone.md"]
    paths += ["/".join(chance.choices(parts, k=chance.randint(1, 4))) for _ in range(PATHS)]
    for file in paths:
        got, wanted = _result(work, skills, file), _wanted(skills[0].folder, file)
        assert got == wanted, f"read(skills, 'release', {file!r}) -> {_shown(got)}, wanted {_shown(wanted)}"


def _shelf(work: ModuleType, name: str) -> list[Any]:
    """Three skills, and beside them a draft, an old folder and a key, which are not skills."""
    root = Path(name).resolve()
    folder = root / "skills"
    for skill, (_, text) in TEXTS.items():
        _write(folder / skill / "SKILL.md", f"---\nname: {skill}\n---\n{text}\n")
    _write(folder / "draft" / "SKILL.md", "This is only a draft.\n")
    _write(folder / "release-old" / "notes.md", "As it was done last year.\n")
    _write(root / "keys" / "key.txt", "a key\n")
    _write(root / "keys" / "SKILL.md", "no skill\n")
    release = folder / "release"
    for file in ("template.md", "..notes.md", "parts/one.md"):
        _write(release / file, f"This is {file}.\n")
    (release / "same.md").symlink_to(release / "template.md")
    (release / "link.txt").symlink_to(root / "keys" / "key.txt")
    (release / "parts" / "up").symlink_to(folder)
    return [work.Skill(skill, about, text, folder / skill) for skill, (about, text) in TEXTS.items()]


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _refusal(work: ModuleType, skills: Sequence[Any], name: str, file: str | None = None) -> str:
    """The text of the refusal of a call."""
    try:
        got = work.read(skills, name, file)
    except work.ToolError as refused:
        return str(refused)
    asked = f"{name!r}, {file!r}" if file else repr(name)
    raise AssertionError(f"read(skills, {asked}) -> {got!r}, wanted ToolError")


def _result(work: ModuleType, skills: Sequence[Any], file: str) -> str | None:
    """The content of a file of the skill release; None: refused."""
    try:
        return str(work.read(skills, "release", file))
    except work.ToolError:
        return None


def _wanted(folder: Path, file: str) -> str | None:
    try:
        path = resolve_within(file, folder)
    except PathError:
        return None
    return path.read_text("utf-8") if path.is_file() else None


def _shown(result: str | None) -> str:
    return "ToolError" if result is None else repr(result)
