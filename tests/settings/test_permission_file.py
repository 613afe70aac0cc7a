"""The rules that a person keeps."""

from pathlib import Path

import pytest

from harness.base.errors import SettingsError
from harness.permissions import Verdict
from harness.settings.permission_file import HOSTS, PermissionFile


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    file = PermissionFile(tmp_path / "config" / "permissions.toml", "")
    assert file.read() == dict.fromkeys((*Verdict, HOSTS), ())
    file.add(Verdict.ALLOW, "bash(npm run *)")
    file.add(Verdict.ALLOW, "bash(npm run *)")
    file.add(Verdict.DENY, "bash(echo '\"\\ é 😀')")
    assert PermissionFile(file.path, "").read() == {
        Verdict.ALLOW: ("bash(npm run *)",),
        Verdict.ASK: (),
        Verdict.DENY: ("bash(echo '\"\\ é 😀')",),
        HOSTS: (),
    }
    file.remove(Verdict.ALLOW, "bash(npm run *)")
    assert file.read()[Verdict.ALLOW] == ()


def test_sessions_side_by_side_lose_nothing_of_each_other(tmp_path: Path) -> None:
    first, second = PermissionFile(tmp_path / "p.toml", ""), PermissionFile(tmp_path / "p.toml", "")
    first.add(Verdict.ALLOW, "bash(a)")
    second.add(Verdict.ALLOW, "bash(b)")
    first.add(HOSTS, "pypi.org")
    first.add(Verdict.DENY, "bash(c)")
    assert {name: rules for name, rules in second.read().items() if rules} == {
        Verdict.ALLOW: ("bash(a)", "bash(b)"),
        Verdict.DENY: ("bash(c)",),
        HOSTS: ("pypi.org",),
    }


def test_a_rule_for_one_folder_holds_there_only(tmp_path: Path) -> None:
    here, there = (PermissionFile(tmp_path / "p.toml", folder) for folder in ("/a 'b'", "/c"))
    here.add(Verdict.ALLOW, "bash(a)", here=True)
    there.add(Verdict.ALLOW, "bash(b)")
    assert (here.read()[Verdict.ALLOW], there.read()[Verdict.ALLOW]) == (("bash(b)", "bash(a)"), ("bash(b)",))
    there.remove(Verdict.ALLOW, "bash(a)")
    here.remove(Verdict.ALLOW, "bash(b)")
    assert (here.read()[Verdict.ALLOW], there.read()[Verdict.ALLOW]) == (("bash(a)",), ())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("allow = [", "not valid TOML"),
        ("allow = 'bash'", "has to be a list of rules"),
        ("allow = [1]", "has to be a list of rules"),
        ("sandbox_hosts = ['https://pypi.org/']", "sandbox_hosts has to be a list of hosts without https://"),
        ("permit = ['bash']", "not 'permit'"),
        ("[folders]\n'/a' = 1", "a table for each folder"),
        ("[folders.'/a']\nallow = 1", "has to be a list of rules"),
        ("\ud800", "not UTF-8"),
        ("#" * 300_000, "larger than 200,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_understood_is_reported_and_never_written_over(
    tmp_path: Path, content: str, why: str
) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    before = path.read_bytes()
    with pytest.raises(SettingsError, match=why):
        PermissionFile(path, "").read()
    with pytest.raises(SettingsError, match=why):
        PermissionFile(path, "").add(Verdict.ALLOW, "bash(a)")
    assert path.read_bytes() == before


def test_a_folder_in_the_place_of_the_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Is a directory"):
        PermissionFile(tmp_path, "").read()
