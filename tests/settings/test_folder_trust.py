"""A folder's settings files: few keys work untrusted, more once trusted, some never."""

import subprocess

import pytest

from harness.base.errors import SettingsError
from harness.base.secrets import Secret
from harness.settings import Settings
from harness.settings.folder_trust import FILE, FREE
from tests.settings.conftest import Place

KEY = {"ANTHROPIC_API_KEY": "sk-ant-mine"}
GATEWAY = "ANTHROPIC_BASE_URL=http://gateway\nANTHROPIC_API_KEY=sk-of-the-folder\nMODEL_ID=theirs\nPATH_OF_APP=x\n"


def test_what_a_new_setting_may_do_is_nothing_until_it_is_declared() -> None:
    assert set(Settings.model_fields) >= FREE
    assert {"plain", "theme", "notification", "terminal_title", "permissions_ask", "permissions_deny"} == FREE


def test_looks_and_stricter_rules_need_no_trust(place: Place) -> None:
    place.write(
        project='theme = "nord"\npermission_mode = "deny"\npermissions_deny = ["bash"]\npermissions_ask = ["read"]'
    )
    loaded = place.load(environ=KEY, trust=None)
    assert (loaded.claims, loaded.trust) == ((), None)
    assert (loaded.settings.theme, loaded.settings.permission_mode) == ("nord", "deny")
    assert loaded.require_answer() is loaded


@pytest.mark.parametrize(
    "given", ['sandbox = "off"', 'sandbox = "auto"', 'sandbox_hosts = ["x"]', 'sandbox_env = ["*"]']
)
def test_a_folder_makes_the_sandbox_stricter_and_never_looser(place: Place, given: str) -> None:
    place.write(user='sandbox = "off"', project='sandbox = "required"')
    assert place.load(trust=None).settings.sandbox == "required"
    assert place.load({"sandbox": "off"}, trust=None).settings.sandbox == "off"
    place.write(project=given)
    with pytest.raises(SettingsError, match="a folder that you cloned must not loosen the sandbox"):
        place.load(trust=True)


def test_hosts_and_variables_are_read_as_lists(place: Place) -> None:
    place.write(user='sandbox_hosts = ["PyPI.org", "*.a.example:8080", "[::1]:80", "pypi.org"]\nsandbox_env = ["A_*"]')
    settings = place.load().settings
    assert settings.sandbox_hosts == ("pypi.org", "*.a.example:8080", "[::1]:80")
    assert settings.sandbox_env == ("A_*",)


def test_an_unanswered_claim_has_no_effect_and_a_program_that_cannot_ask_says_so(place: Place) -> None:
    place.write(dotenv=GATEWAY, project="max_steps = 900")
    loaded = place.load(environ=KEY, trust=None)
    settings = loaded.settings
    assert (settings.base_url, settings.api_key, settings.max_steps) == (None, Secret("sk-ant-mine"), None)
    assert settings.model != "theirs"
    assert sorted(claim.name for claim in loaded.claims) == ["api_key", "base_url", "max_steps", "model"]
    with pytest.raises(SettingsError, match="--trust-folder to use it, --no-trust-folder to leave it out"):
        loaded.require_answer()


def test_a_key_is_never_shown_in_the_question(place: Place) -> None:
    place.write(dotenv=GATEWAY)
    shown = {claim.name: claim.shown for claim in place.load(trust=None).claims}
    assert shown == {"base_url": "http://gateway", "api_key": "•••", "model": "theirs"}


def test_a_yes_holds_for_the_same_claims_and_not_for_others(place: Place) -> None:
    place.write(dotenv=GATEWAY)
    place.load(trust=None).remember()
    loaded = place.load(trust=None)
    assert (loaded.trust, loaded.settings.base_url) == (True, "http://gateway")
    assert "sk-of-the-folder" not in (place.user_file.parent / FILE).read_text()
    place.write(dotenv=GATEWAY + "UNRELATED=1\n")
    assert place.load(trust=None).trust is True
    place.write(dotenv=GATEWAY.replace("gateway", "elsewhere"))
    assert place.load(trust=None).trust is None
    place.write(dotenv=GATEWAY, project="max_steps = 5")
    assert place.load(trust=None).trust is None


def test_a_yes_for_one_folder_is_none_for_another(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    place.write(dotenv=GATEWAY)
    place.load(trust=None).remember()
    other = Place(tmp_path_factory.mktemp("other"), place.user_file)
    other.write(dotenv=GATEWAY)
    assert other.load(trust=None).trust is None
    other.load(trust=None).remember()
    assert (place.load(trust=None).trust, other.load(trust=None).trust) == (True, True)


def test_a_yes_holds_in_every_worktree_of_the_repository_and_in_no_folder_that_only_says_so(
    place: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place.write(dotenv=GATEWAY)
    place.load(trust=None).remember()
    git = ("git", "-C", str(place.workspace), "-c", "user.name=a", "-c", "user.email=a@b")
    tree, liar = tmp_path_factory.mktemp("trees") / "tree", tmp_path_factory.mktemp("liar")
    for line in (("init", "-q"), ("commit", "-qm", "x", "--allow-empty"), ("worktree", "add", "-q", str(tree))):
        subprocess.run([*git, *line], check=True)
    (liar / ".git").write_text((tree / ".git").read_text())
    for folder, trusted in ((tree, True), (liar, None)):
        there = Place(folder, place.user_file)
        there.write(dotenv=GATEWAY)
        assert there.load(trust=None).trust is trusted
    there = Place(tree, place.user_file)
    there.write(dotenv=GATEWAY.replace("gateway", "elsewhere"))
    assert there.load(trust=None).trust is None
    there.load(trust=None).remember()
    place.write(dotenv=GATEWAY.replace("gateway", "elsewhere"))
    assert place.load(trust=None).trust is True


def test_a_no_leaves_the_claims_out_and_says_so(place: Place) -> None:
    place.write(project='model = "theirs"')
    loaded = place.load(environ=KEY, trust=False)
    assert loaded.settings.model != "theirs"
    (note,) = loaded.notes
    assert note.endswith("settings.toml: model is left out, because this folder is not trusted.")
    assert loaded.require_answer() is loaded


def test_the_users_own_list_trusts_a_folder_with_all_it_ever_claims(place: Place) -> None:
    place.write(project="max_steps = 5", user=f'trusted_folders = ["{place.workspace}"]')
    assert place.load(trust=None).settings.max_steps == 5


@pytest.mark.parametrize("content", ["[1]", '"x"', "null", "{}", '{"folders": [1]}'])
def test_a_list_of_folders_in_another_form_is_refused_and_left_alone(place: Place, content: str) -> None:
    place.write(project="max_steps = 5", user="plain = false")
    file = place.user_file.parent / FILE
    file.write_text(content)
    with pytest.raises(SettingsError, match="holds no list of folders; move it away"):
        place.load(trust=None)
    assert file.read_text() == content


def test_a_damaged_list_of_folders_is_one_sentence(place: Place) -> None:
    place.write(project="max_steps = 5", user="plain = false")
    (place.user_file.parent / FILE).write_text("{")
    with pytest.raises(SettingsError, match=r"is not valid JSON: .*; move it away, and you are asked again"):
        place.load(trust=None)


def test_a_model_that_a_file_of_the_folder_names_waits_for_trust_and_stops_nothing(place: Place) -> None:
    file = place.workspace / ".claude" / "agents" / "a.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: a\ndescription: d\nmodel: opus\n---\nText.")
    loaded = place.load(environ=KEY, trust=None)
    assert [(claim.origin, claim.shown, claim.optional) for claim in loaded.claims] == [
        (f"{file}: model", "opus", True)
    ]
    assert loaded.require_answer().settings.trust_folder is None
    loaded.remember()
    assert place.load(environ=KEY, trust=None).settings.trust_folder is True
    file.write_text("---\nname: a\ndescription: d\nmodel: fable\n---\nText.")
    assert place.load(environ=KEY, trust=None).settings.trust_folder is None
    assert place.load(environ=KEY, trust=False).notes == (
        f"{file}: model is left out, because this folder is not trusted.",
    )
