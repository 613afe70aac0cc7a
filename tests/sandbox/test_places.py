"""What of a machine a command sees: the tools of a home, the repository, and no key."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions.protected_places import Surroundings
from harness.sandbox.git_index import tracked, with_tracked
from harness.sandbox.git_places import GitPlaces, made_from
from harness.sandbox.marked_files import MarkedFiles, Marks
from harness.sandbox.places import Machine, Places, links_to, profile_for
from harness.sandbox.profile import NOTHING_MORE, Access, Allowance, Profile, ProfileName
from tests.sandbox.machine import bubblewrap, run_in


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that is not below the folder for temporary files."""
    try:
        with tempfile.TemporaryDirectory(dir="/var/lib") as made:
            yield Path(made)
    except PermissionError:
        pytest.skip("only root makes a home there")


def places(home: Path, workspace: Path, memory: Path | None = None, **environ: str) -> Places:
    around = Surroundings(str(workspace), os.path.realpath(home))
    marks = Marks(around.key_inside, around.run_or_obeyed)
    return Places(str(home), {"PATH": "/usr/bin:/bin", **environ}, marks, memory)


def work(home: Path, *roots: Path, allowance: Allowance = NOTHING_MORE, **env: str) -> Profile:
    machine = places(home, roots[0], None, **env).look([str(root) for root in roots])
    return profile_for(ProfileName.WORK, machine, allowance)


def git(cwd: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    return subprocess.run(
        ["git", *identity, *words], cwd=cwd, check=True, capture_output=True, text=True, env=dict(os.environ, HOME="/")
    ).stdout


def repository(path: Path, *options: str) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", *options)
    (path / "f").write_text("1\n")
    git(path, "add", ".")
    git(path, "commit", "-qm", "x")
    return path


def written(path: Path, text: str = "hunter2\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def shell(profile: Profile, cwd: Path, line: str) -> str:
    bubblewrap()
    done = run_in(profile, "/bin/bash", "-c", line, cwd=str(cwd))
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "access"),
    [
        (".pyenv/versions/3/bin/python", Access.READ),
        (".cargo/bin/cargo", Access.READ),
        (".cargo/registry/cache/x", Access.WRITE),
        (".cargo/credentials.toml", Access.NONE),
        (".local/bin/tool", Access.READ),
        (".local/share/uv/tools/x", Access.READ),
        (".local/share/keyrings/login", Access.NONE),
        (".config/git/config", Access.READ),
        (".config/git/credentials", Access.NONE),
        (".config/gh/hosts.yml", Access.NONE),
        (".ssh/id_rsa", Access.NONE),
        (".bashrc", Access.NONE),
        (".cache/pip/x", Access.WRITE),
        (".cache/other/x", Access.NONE),
        ("opt/prog/bin/tool", Access.READ),
        ("opt/prog/lib/x", Access.READ),
        ("opt/other", Access.NONE),
        ("bins/tool", Access.READ),
        ("js/node_modules/pkg/index.js", Access.READ),
        ("other/file", Access.NONE),
        ("w/file", Access.WRITE),
        ("w/.env", Access.NONE),
        ("w/a/b/id_rsa", Access.NONE),
        ("w/secrets/token", Access.NONE),
        ("w/secrets.py", Access.WRITE),
        ("w/node_modules/x/test.pem", Access.WRITE),
        ("w/env/lib/python3.12/site-packages/certifi/cacert.pem", Access.WRITE),
        ("w/env/.env", Access.NONE),
        ("w/AGENTS.md", Access.READ),
        ("w/sub/.claude/settings.json", Access.READ),
        ("w/.vscode/tasks.json", Access.READ),
        ("w/.git/hooks/x", Access.READ),
        ("w/.git/config", Access.READ),
        ("w/.git/index", Access.WRITE),
    ],
)
def test_of_a_home_the_tools_and_of_a_workspace_all_but_keys(tmp_path: Path, path: str, access: Access) -> None:
    home = Path(os.path.realpath(tmp_path))
    repository(home / "w")
    written(home / "opt/prog/bin/tool"), written(home / "opt/prog/lib/x"), written(home / "bins/tool")
    written(home / "w/env/pyvenv.cfg"), written(home / ".cache/pip/y"), written(home / ".cargo/registry/cache/y")
    written(home / "w/.git/hooks/x"), written(home / "js/node_modules/.bin/tool")
    if not (home / path).exists():
        written(home / path)
    profile = work(home, home / "w", PATH=f"{home}/opt/prog/bin:{home}/bins:{home}/js/node_modules/.bin:/usr/bin")
    assert profile.access(str(home / path)) is access
    assert all(Path(one).exists() for one in profile.places)


def test_relative_folders_of_programs_open_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path(os.path.realpath(tmp_path)) / "here"
    written(here / "bin/tool")
    (tmp_path / "w").mkdir()
    monkeypatch.chdir(here)
    profile = work(tmp_path / "home", tmp_path / "w", PATH=f".:bin:../here/bin::{here}/missing:/usr/bin")
    assert {profile.access(str(path)) for path in (here, here / "bin", here / "bin/tool")} == {Access.NONE}


def test_a_variable_says_where_a_tool_is(tmp_path: Path) -> None:
    written(tmp_path / "big/cargo/bin/x"), written(tmp_path / "big/cargo/registry/x")
    (tmp_path / "w").mkdir()
    profile = work(tmp_path / "home", tmp_path / "w", CARGO_HOME=str(tmp_path / "big/cargo"))
    base = os.path.realpath(tmp_path / "big/cargo")
    assert (profile.access(f"{base}/bin/x"), profile.access(f"{base}/registry/x")) == (Access.READ, Access.WRITE)


def test_the_certificates_that_a_variable_names_are_seen(home: Path) -> None:
    authority = written(home / "company" / "ca.pem", "public\n")
    other = written(home / "company" / "key.pem")
    profile = work(home, home / "w", PIP_CERT=str(authority), SSL_CERT_DIR=str(home))
    assert [profile.access(str(one)) for one in (authority, other)] == [Access.READ, Access.NONE]


def test_git_has_the_author_that_its_included_settings_name(home: Path) -> None:
    workspace = repository(home / "w")
    written(home / ".gitconfig", '[include]\n\tpath = ~/own/git.inc\n[core]\n\tattributesFile = "~/.ssh/id_rsa"\n')
    written(home / "own/git.inc", "[user]\n\temail = b@c\n")
    written(home / "own/other"), written(home / ".ssh/id_rsa")
    profile = work(home, workspace)
    line = f"HOME={home} git config user.email; cat {home}/own/other {home}/.ssh/id_rsa"
    said = shell(profile, workspace, line)
    assert said.startswith("b@c\n")
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("path", "text", "access"),
    [
        (".m2/settings.xml", "<mirror/>", Access.READ),
        (".m2/settings.xml", "<password>x</password>", Access.NONE),
        (".gitconfig", "[user]\nname = a\n", Access.READ),
        (".gitconfig", '[url "https://a:b@example.org/"]\ninsteadOf = x\n', Access.NONE),
        (".gitconfig", "[http]\nextraHeader = Authorization: x\n", Access.NONE),
        (".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx1g", Access.READ),
        (".gradle/gradle.properties", "signing.PASSWORD=x", Access.NONE),
        (".dotnet/corefx/cryptography/x", "", Access.NONE),
    ],
)
def test_settings_of_tools_are_hidden_where_they_hold_a_key(
    tmp_path: Path, path: str, text: str, access: Access
) -> None:
    home = Path(os.path.realpath(tmp_path))
    written(home / path, text)
    (home / "w").mkdir()
    assert work(home, home / "w").access(str(home / path)) is access


@pytest.mark.parametrize(
    ("programs", "made"), [("pip npm", {".cache/pip", ".npm"}), ("cargo", {".cargo/registry"}), ("", set())]
)
def test_a_cache_is_made_where_its_program_is(tmp_path: Path, programs: str, made: set[str]) -> None:
    for program in programs.split():
        written(tmp_path / "bin" / program)
    (tmp_path / "w").mkdir()
    work(tmp_path / "home", tmp_path / "w", PATH=str(tmp_path / "bin"))
    found = {str(path.relative_to(tmp_path / "home")) for path in (tmp_path / "home").rglob("*")}
    assert {one for one in found if not any(other.startswith(f"{one}/") for other in found)} == made


@pytest.mark.parametrize("path", ["/", "{home}", "{home}/..", "{home}/.ssh", ".", "bin"])
def test_a_folder_of_the_search_path_opens_neither_the_home_nor_keys(tmp_path: Path, path: str) -> None:
    home = Path(os.path.realpath(tmp_path)) / "u"
    written(home / ".ssh/id_rsa"), written(home / "x")
    (tmp_path / "w").mkdir()
    profile = work(home, tmp_path / "w", PATH=f"{path.format(home=home)}:/usr/bin")
    assert {profile.access(str(home / one)) for one in (".ssh/id_rsa", "x")} == {Access.NONE}


def test_the_home_as_a_workspace_shows_no_key(home: Path) -> None:
    for path in (".ssh/id_rsa", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".git-credentials", "p/.env"):
        written(home / path)
    written(home / ".bashrc", "x")
    said = shell(
        work(home, home), home, "cat .ssh/* .aws/* .config/gh/* .netrc .git-credentials p/.env; echo y >> .bashrc"
    )
    assert "hunter2" not in said
    assert "Read-only" in said
    assert (home / ".bashrc").read_text() == "x"


def test_the_home_as_a_workspace_keeps_the_programs_of_the_user(home: Path) -> None:
    tool = written(home / ".local/bin/git", "x")
    path = f"{home}/.local/bin:{home}:bin:/usr/bin"
    assert "Read-only" in shell(work(home, home, PATH=path), home, "echo y > .local/bin/git; echo y > other")
    assert (tool.read_text(), (home / "other").exists()) == ("x", True)
    below = work(home, home / "p", PATH=f"{home}/p/.venv/bin")
    assert below.access(f"{home}/p/.venv/bin/pip") is Access.WRITE, "a virtual environment is the work of the project"


def test_a_link_in_the_workspace_leads_only_to_what_is_in_the_profile(home: Path) -> None:
    written(home / ".ssh/id_rsa")
    written(home / ".pyenv/bin/python", "#!/bin/sh\necho runs").chmod(0o755)
    workspace = home / "w"
    workspace.mkdir()
    (workspace / "keys").symlink_to("../.ssh")
    (workspace / "python").symlink_to(home / ".pyenv/bin/python")
    (workspace / "real").mkdir()
    written(workspace / "real/id_rsa")
    (workspace / "id_rsa").symlink_to("real/id_rsa")
    said = shell(work(home, workspace), workspace, "./python; cat keys/id_rsa id_rsa real/id_rsa")
    assert said.startswith("runs\n")
    assert "hunter2" not in said
    assert said.count("No such file") == 1


def test_a_workspace_reached_by_a_link_has_both_names(home: Path) -> None:
    written(home / "real/f", "yes\n")
    (home / "named").symlink_to("real")
    assert shell(work(home, home / "named"), home / "real", f"cat {home}/named/f; touch {home}/named/g") == "yes\n"
    assert (home / "real/g").exists()


def test_git_works_in_a_worktree_a_submodule_and_a_folder_of_a_repository(home: Path) -> None:
    main = repository(home / "main")
    git(main, "worktree", "add", "-q", str(home / "tree"))
    outer = repository(home / "outer")
    git(outer, "submodule", "add", "-q", str(main), "sub")
    borrowing = home / "borrowing"
    git(home, "clone", "-q", "--shared", str(main), str(borrowing))
    (main / "inner").mkdir()
    written(main / "inner/g")
    repository(main / "beside")
    line = """g() { git -c safe.directory='*' -c user.name=a -c user.email=a@b "$@"; }
        g status -s && g log --oneline | wc -l && date > n && g add . && g commit -qm y && g log --oneline | wc -l"""
    for folder in (home / "tree", outer / "sub", borrowing, main / "inner"):
        borrowed = Allowance((f"{main}/.git/objects",)) if folder == borrowing else NOTHING_MORE
        said = shell(work(home, folder, allowance=borrowed), folder, line)
        assert [one for one in said.split() if one.isdigit()] == ["1", "2"], said
        assert " D " not in said, said
    assert git(main, "status", "-s") == "?? beside/\n"
    git(main, "worktree", "add", "-q", str(home / "other"))
    for name in ("hooks/post-commit", "HEAD", "index", "worktrees/other/HEAD", "worktrees/new"):
        assert "Read-only" in shell(work(home, home / "tree"), home / "tree", f"echo x >> {main}/.git/{name}")
    assert "Read-only" in shell(work(home, main / "inner"), main / "inner", "echo x > ../f")
    assert "Read-only" in shell(work(home, main / "inner"), main / "inner", "echo x > ../beside/.git/x")


@pytest.mark.parametrize("kind", ["worktree", "submodule", "key", "link"])
def test_a_file_that_names_a_folder_of_git_is_not_believed_alone(home: Path, kind: str) -> None:
    other = repository(home / "other")
    git(other, "worktree", "add", "-q", str(home / "tree"))
    written(home / ".ssh/id_rsa"), written(home / "w/x")
    named = {"worktree": ".git/worktrees/tree", "submodule": ".git", "key": "../.ssh", "link": ".git"}[kind]
    if kind == "link":
        (home / "w/.git").symlink_to(other / ".git")
    else:
        written(home / "w/.git", f"gitdir: {other / named}\n")
    profile = work(home, home / "w")
    assert {profile.access(str(home / one)) for one in ("other/.git/HEAD", ".ssh/id_rsa")} == {Access.NONE}


def test_tracked_keys_stay_and_others_seem_empty(home: Path) -> None:
    workspace = repository(home / "w")
    written(workspace / "test.pem", "public\n"), written(workspace / "a/.env.test", "public\n")
    git(workspace, "add", "-f", ".")
    git(workspace, "commit", "-qm", "y")
    written(workspace / ".env"), written(workspace / "a/.env")
    written(workspace / "test.pem", "changed\n")
    look = places(home, workspace)
    line = "git -c safe.directory='*'"

    def run(command: str) -> str:
        return shell(profile_for(ProfileName.WORK, look.look([str(workspace)])), workspace, command)

    assert "+changed" in run(f"{line} diff")
    assert run("cat a/.env.test .env a/.env; wc -c < .env") == "public\n0\n"
    run(f"{line} add -f .env")  # the empty file, which is all that it sees
    assert run("cat .env") == ""
    blob = git(workspace, "hash-object", "-w", "f").strip()
    run(f"{line} update-index --add --cacheinfo 100644,{blob},a/.env")
    assert run("cat .env a/.env") == ""


def test_a_file_that_git_was_told_of_in_the_session_stays_hidden(home: Path) -> None:
    workspace = repository(home / "w")
    look = places(home, workspace)
    before = look.look([str(workspace)]).keys
    written(workspace / ".env")
    git(workspace, "update-index", "--add", "--cacheinfo", f"100644,{git(workspace, 'hash-object', 'f').strip()},.env")
    assert look.look([str(workspace)]).keys == (*before, str(workspace / ".env"))


def told(workspace: Path, path: str) -> None:
    """Let git track a path with the content of another file, as a command in the sandbox can."""
    blob = git(workspace, "hash-object", "-w", "f").strip()
    git(workspace, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")


def test_what_a_command_tells_git_to_track_stays_hidden_in_later_sessions(home: Path) -> None:
    workspace, memory = repository(home / "w"), home / "state" / "visible"
    written(workspace / ".env"), written(workspace / "own.pem")

    def hidden(look: Places | None = None) -> set[str]:
        keys = (look or places(home, workspace, memory)).look([str(workspace)]).keys
        return {os.path.relpath(key, workspace) for key in keys if key.startswith(f"{workspace}/")}

    assert hidden() == {".env", "own.pem"}
    told(workspace, ".env")
    told(workspace, "later.pem")
    git(workspace, "commit", "-qm", "y")
    written(workspace / "later.pem")
    assert hidden() == {".env", "own.pem", "later.pem"}
    session = places(home, workspace, memory)
    hidden(session)
    git(workspace, "add", "-f", "own.pem")  # by the user, who can read it
    assert hidden(session) == hidden() == {".env", "later.pem"}
    written(workspace / "own.pem", "changed\n")
    assert hidden(session) == hidden() == {".env", "later.pem"}
    (workspace / "own.pem").rename(workspace / "aside")
    assert hidden() == {".env", "later.pem"}  # as where another commit is checked out
    (workspace / "aside").rename(workspace / "own.pem")
    assert hidden() == {".env", "later.pem"}
    git(workspace, "rm", "-qf", "--cached", "own.pem")
    assert hidden(session) == hidden() == {".env", "own.pem", "later.pem"}
    told(workspace, "own.pem")
    assert hidden(session) == hidden() == {".env", "own.pem", "later.pem"}
    for file in memory.iterdir():
        file.write_text("[1, {")
    assert hidden() == {".env", "own.pem", "later.pem"}


def test_tracked_keys_stay_in_a_worktree_and_in_a_folder_of_a_repository(home: Path) -> None:
    main = repository(home / "main")
    written(main / "in/test.pem", "public\n")
    git(main, "add", "-f", ".")
    git(main, "commit", "-qm", "y")
    told(main, ".env")
    git(main, "commit", "-qm", "z")
    git(main, "worktree", "add", "-q", str(home / "tree"))
    for folder in (home / "tree", main / "in"):
        written(folder / ".env")
        (file,) = folder.rglob("test.pem")
        look = places(home, folder, home / "state")
        for text in ("public\n", "changed\n"):
            file.write_text(text)
            profile = profile_for(ProfileName.WORK, look.look([str(folder)]))
            assert [profile.access(str(one)) for one in (file, folder / ".env")] == [Access.WRITE, Access.NONE]


def test_what_was_hidden_stays_so_where_the_workspace_is_another_or_has_moved(home: Path) -> None:
    workspace, memory = repository(home / "w"), home / "state"
    for path in ("a/.env", "b/.env", "c/.env"):
        written(workspace / path)

    def hidden(top: Path) -> set[str]:
        keys = places(home, top, memory).look([str(top)]).keys
        return {os.path.relpath(key, home) for key in keys if key.startswith(f"{home}/w")}

    hidden(workspace / "a")
    assert hidden(workspace) == {"w/a/.env", "w/b/.env", "w/c/.env"}
    told(workspace, "a/.env")
    told(workspace, "b/.env")
    for top in (workspace / "b", workspace / "a", home, workspace):
        assert hidden(top) >= {"w/a/.env", "w/b/.env"}
    workspace.rename(home / "w2")
    assert hidden(home / "w2") == {"w2/a/.env", "w2/b/.env", "w2/c/.env"}


def test_sessions_side_by_side_agree_which_keys_are_visible(home: Path) -> None:
    workspace, memory = repository(home / "w"), home / "state"
    key = str(written(workspace / ".env"))
    git(workspace, "add", "-f", ".env")
    one, two = (places(home, workspace, memory) for _ in range(2))
    assert [key in each.look([str(workspace)]).keys for each in (one, two)] == [False, False]
    git(workspace, "rm", "-qf", "--cached", ".env")
    assert key in one.look([str(workspace)]).keys
    told(workspace, ".env")
    assert [key in each.look([str(workspace)]).keys for each in (one, two)] == [True, True]
    for file in memory.iterdir():
        assert len(file.stem) == 32  # by which later versions find it
        file.unlink()
    assert [key in each.look([str(workspace)]).keys for each in (one, two)] == [True, True]


@pytest.mark.parametrize("split", ["no-split", "split"])
@pytest.mark.parametrize("ids", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_tracked_keys_are_found_in_each_form_of_an_index(home: Path, version: str, ids: str, split: str) -> None:
    workspace = repository(home / "w", f"--object-format={ids}")
    names = ["a/b.pem", "a/c.pem", "b/.env", "b/later.pem", f"{'d' * 200}/.env", "z.key"]
    for name in names:
        written(workspace / name)
    git(workspace, "add", "-f", ".")
    git(workspace, "rm", "-q", "--cached", "a/c.pem")
    git(workspace, "add", "-N", "-f", "a/c.pem")  # has further flags
    git(workspace, "update-index", "--index-version", version, f"--{split}-index")
    written(workspace / "later/z.key")
    git(workspace, "add", "-f", "later/z.key")
    names.append("later/z.key")
    keys = [str(workspace / name) for name in names]
    found = tracked([str(workspace / ".git")], keys)
    assert found == {key: True for key in keys if not key.endswith("c.pem")}
    assert tracked([str(workspace / ".git")], [str(workspace / "b.pem"), str(workspace / "a/b")]) == {}


@pytest.mark.parametrize(("name", "what"), [(".env", "keys"), ("AGENTS.md", "obeyed")])
def test_what_a_link_leads_to_is_marked_also_where_only_other_folders_change(home: Path, name: str, what: str) -> None:
    workspace, marks = home / "w", Marks(lambda path: path.endswith(".env"), lambda path: path.endswith("AGENTS.md"))
    for folder in ("one", "two", "ways"):
        (workspace / folder).mkdir(parents=True)
    (workspace / name).symlink_to("ways/there/x")
    (workspace / "ways/there").symlink_to("../one")
    time.sleep(0.05)  # the coarse clock of the file system, within which a folder is read again in any case
    look, found = Places(str(home), {}, marks), []
    for folder in ("none", "one", "two"):
        (workspace / "ways/there").unlink()
        (workspace / "ways/there").symlink_to(f"../{folder}")
        written(workspace / folder / "x") if folder != "none" else None
        found.append(str(workspace / folder / "x") in getattr(look.look([str(workspace)]), what))
    assert found == [False, True, True]


def test_where_it_cannot_be_kept_which_keys_are_visible_nothing_is_held(home: Path) -> None:
    workspace, memory = repository(home / "w"), written(home / "file") / "visible"
    look = places(home, workspace, memory)
    assert f"{memory}/" in look.look([str(workspace)]).cannot_hold
    (home / "file").unlink()
    assert look.look([str(workspace)]).cannot_hold == ""


def test_a_key_that_appears_is_hidden_from_the_next_command(home: Path) -> None:
    workspace = home / "w"
    (workspace / "a/b").mkdir(parents=True)
    look = places(home, workspace)
    for path in ("a/b/.env", "c/.env", "a/id_rsa"):
        look.look([str(workspace)])
        file = written(workspace / path)
        assert look.look([str(workspace)]).keys[-1:] == (str(file),) or str(file) in look.look([str(workspace)]).keys
        os.utime(file.parent, (0, 0))
        file.rename(workspace / "plain")
        (workspace / "plain").rename(file.with_name("server.key"))
        found = look.look([str(workspace)]).keys
        assert str(file.with_name("server.key")) in found
        assert str(file) not in found


def test_a_key_stays_hidden_where_a_folder_around_it_is_moved(home: Path) -> None:
    workspace = home / "w"
    before = ("secrets/token", ".kube/config", "sub/.env", "deep/er/.env", "env/.env", "plain/.env")
    after = ("plain2/token", "config/config", "venv/.env", "node_modules/x/er/.env", "env/.env", "gone/plain/.env")
    for path in before:
        written(workspace / path)
    look = places(home, workspace)
    look.look([str(workspace)])
    written(workspace / "env/pyvenv.cfg")
    (workspace / "node_modules").mkdir()
    (workspace / "gone").mkdir()
    for old, new in (("secrets", "plain2"), (".kube", "config"), ("sub", "venv"), ("deep", "node_modules/x")):
        (workspace / old).rename(workspace / new)
    (workspace / "plain").rename(workspace / "gone/plain")
    for _ in range(2):
        assert {*look.look([str(workspace)]).keys} >= {str(workspace / path) for path in after}
    (workspace / "plain2/token").rename(workspace / "plain2/example")  # by the user: in the sandbox it is mounted over
    (workspace / "venv/.env").unlink()
    keys = look.look([str(workspace)]).keys
    assert not {str(workspace / path) for path in ("plain2/token", "plain2/example", "venv/.env")} & {*keys}


def test_what_git_obeys_is_changed_only_where_that_was_allowed(home: Path) -> None:
    workspace = repository(home / "w")
    written(workspace / "AGENTS.md"), written(workspace / ".git/hooks/post-commit", "#!/bin/sh\n")
    todo = written(workspace / ".git/rebase-merge/git-rebase-todo", "pick x\n")
    line = "git -c safe.directory='*' config a.b c; echo y > AGENTS.md; echo z > .git/hooks/post-commit"
    said = shell(work(home, workspace), workspace, f"{line}; echo exec x > {todo}")
    assert said.count("Read-only file system") == 3
    assert "could not write config" in said
    allowed = Allowance((str(workspace / ".git/config"),))
    said = shell(work(home, workspace, allowance=allowed), workspace, line)
    assert said.count("Read-only file system") == 2
    assert "b = c" in (workspace / ".git/config").read_text()


def test_borrowed_objects_are_not_believed(home: Path) -> None:
    workspace, other = repository(home / "w"), repository(home / "other")
    (
        written(other / ".git/objects/pack/x"),
        written(workspace / ".git/objects/info/alternates", f"{other}/.git/objects\n"),
    )
    assert work(home, workspace).access(f"{other}/.git/objects/pack/x") is Access.NONE


@pytest.mark.parametrize("name", ["index", "packed-refs", "logs/refs/heads/new", "../a.pem", "../b/.git"])
def test_what_git_or_a_key_should_be_and_is_none_is_not_waited_for(home: Path, name: str) -> None:
    workspace = repository(home / "w")
    told(workspace, "a.pem")
    written(
        workspace / ".git/logs/refs/heads/new",
        f"{'0' * 40} {'1' * 40} Ada <a> 1 +0000\tbranch: Created from origin/x\n",
    )
    file = workspace / ".git" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    assert places(home, workspace).look([str(workspace)]).cannot_hold == ""
    assert made_from(str(workspace / ".git"), "new") == ""
    file.unlink()
    os.truncate(written(file), 2**40)
    if name == "index":
        assert tracked([str(workspace / ".git")], [str(workspace / "a.pem")]) == {}


@pytest.mark.parametrize(
    ("history", "known", "found"),
    [
        ("branch: Created from origin/a", "refs/remotes/origin/a", "origin/a"),
        ("branch: Created from refs/remotes/origin/a", "refs/remotes/origin/a", "origin/a"),
        ("branch: Created from origin/a", "packed-refs", "origin/a"),
        ("branch: Created from origin/b", "packed-refs", ""),
        ("branch: Created from HEAD", "refs/remotes/origin/a", ""),
        ("commit: Created from origin/a", "refs/remotes/origin/a", ""),
    ],
)
def test_which_branch_of_a_remote_a_branch_was_made_from(tmp_path: Path, history: str, known: str, found: str) -> None:
    written(tmp_path / "logs/refs/heads/new", f"{'0' * 40} {'1' * 40} Ada <a> 1 +0000\t{history}\nmore\n")
    written(tmp_path / known, f"{'1' * 40} refs/remotes/origin/a\n")
    assert made_from(str(tmp_path), "new") == found


def test_links_that_cannot_be_read_are_no_trouble(home: Path) -> None:
    workspace = repository(home / "w")
    for link, target in (
        (".env", "/proc/1/ns/mnt/x"),
        ("a", "/proc/1/cwd/x"),
        ("loop", "loop"),
        ("x" * 255, "y" * 300),
    ):
        (workspace / link).symlink_to(target)
    git(workspace, "config", "core.hooksPath", "/proc/1/ns/mnt/x")
    written(workspace / ".git/objects/info/alternates", "/proc/1/ns/mnt/x\n")
    assert shell(work(home, workspace), workspace, "cat f") == "1\n"


def test_what_settings_of_git_name_in_the_workspace_is_read_only(home: Path) -> None:
    workspace = repository(home / "w")
    files = [written(workspace / path) for path in ("ci/hooks/pre-commit", "ci/git settings", "ci/more", "ci/clean.py")]
    git(workspace, "config", "core.hooksPath", "ci/hooks")
    git(workspace, "config", "include.path", "../ci/more")
    git(workspace, "config", "filter.x.clean", "python 'ci/clean.py' %f")
    git(workspace, "config", "user.name", "ci")
    written(workspace / "f")
    line = "for f in ci/hooks/pre-commit ci/hooks/new 'ci/git settings' ci/more ci/clean.py; do echo x > \"$f\"; done"
    said = shell(work(home, workspace), workspace, line)
    assert said.count("Read-only file system") == 4
    assert [file.read_text() == "x\n" for file in files] == [False, True, False, False]


def test_what_the_user_allowed_is_open(home: Path) -> None:
    workspace = home / "w"
    written(workspace / ".env"), written(workspace / "AGENTS.md"), written(home / "x/y", "1\n")
    allowance = Allowance(paths=(str(workspace / ".env"), str(workspace / "AGENTS.md"), str(home / "x")))
    said = shell(
        work(home, workspace, allowance=allowance), workspace, f"cat .env; echo 2 > AGENTS.md; echo 2 > {home}/x/y"
    )
    assert said == "hunter2\n"
    assert (workspace / "AGENTS.md").read_text() == (home / "x/y").read_text() == "2\n"
    assert (
        shell(work(home, workspace, allowance=allowance), workspace, "sed -i s/2/3/ AGENTS.md; cat AGENTS.md") == "3\n"
    )


def test_a_server_that_works_in_the_workspace_sees_no_key_there_and_changes_nothing_obeyed(home: Path) -> None:
    workspace = repository(home / "w")
    key, obeyed = written(workspace / ".env"), written(workspace / "AGENTS.md")
    profile = work(home, workspace, allowance=Allowance((str(workspace), str(home / "notes")), server=True))
    found = [profile.access(str(path)) for path in (key, obeyed, workspace / "f", home / "notes/n")]
    assert found == [Access.NONE, Access.READ, Access.WRITE, Access.WRITE]


def test_of_etc_all_but_what_only_its_owner_reads(home: Path) -> None:
    if os.geteuid():
        pytest.skip("others cannot read it in any case")
    (home / "w").mkdir()
    said = shell(
        work(home, home / "w"),
        home / "w",
        "cat /etc/shadow /etc/gshadow | wc -c; id -un; ls /etc/ssl/certs | head -1; ls /etc/ssl/private",
    )
    assert said.startswith("0\nroot\n")


def test_a_key_that_is_made_right_after_a_look_is_found(tmp_path: Path) -> None:
    files = MarkedFiles(Marks(lambda path: path.endswith(".key"), lambda path: False))
    for number in range(200):
        assert len(files.find(str(tmp_path)).keys) == number
        (tmp_path / f"{number}.key").touch()


def test_a_workspace_with_too_many_folders_is_not_complete(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / str(number)).mkdir()
    marks = Marks(lambda path: False, lambda path: False)
    assert [bool(MarkedFiles(marks, None, most).find(str(tmp_path)).cannot_hold) for most in (12, 13)] == [True, False]
    assert Places(str(tmp_path), {}, marks).look(["/"]).cannot_hold == "the workspace is the whole disk"
    assert not Places(str(tmp_path), {}, marks).look([str(tmp_path)]).cannot_hold


def test_more_keys_than_the_sandbox_can_hide_are_said(tmp_path: Path) -> None:
    places = Places(str(tmp_path / "home"), {}, Marks(lambda path: path.endswith(".key"), lambda path: False))
    for number in range(501):
        if number == 500:
            assert not places.look([str(tmp_path)]).cannot_hold
        (tmp_path / f"{number}.key").touch()
    machine = places.look([str(tmp_path)])
    assert machine.cannot_hold.startswith("the workspace has too many files with keys")
    hidden = profile_for(ProfileName.LOOK, machine).hidden
    assert not any(path.startswith(str(tmp_path)) for path in hidden), "bubblewrap can hold a line that looks"


ROOT, TOOL, CACHE, KEY, OBEYED = "/h/w", "/h/t", "/h/t/c", "/h/w/k", "/h/w/o"


@given(
    name=st.sampled_from((ProfileName.LOOK, ProfileName.WORK)),
    allowed=st.lists(st.sampled_from((KEY, OBEYED, ROOT, "/h/x", "/h", "/"))),
)
def test_a_profile_is_what_the_machine_has_and_what_was_allowed(name: ProfileName, allowed: list[str]) -> None:
    machine = Machine((ROOT,), ("/usr", TOOL), (CACHE,), GitPlaces(), (KEY,), (OBEYED,), other_caches="/h/caches")
    profile = profile_for(name, machine, Allowance(tuple(allowed)))
    assert profile.private == (("/h/caches",) if name is ProfileName.WORK and "/h" not in allowed else ())
    if name is not ProfileName.FREE:
        assert profile_for(name, replace(machine, other_caches=f"{ROOT}/caches")).private == ()
    most = Access.READ if name is ProfileName.LOOK else Access.WRITE
    there = {ROOT: most, CACHE: most, OBEYED: Access.READ, "/usr": Access.READ, KEY: Access.NONE, "/etc": Access.NONE}
    for path, access in there.items():
        opened = any(path == one or path.startswith(f"{one}/") for one in set(allowed) - {"/"})
        assert profile.access(path) is (Access.WRITE if opened else access), path


def test_links_are_followed_one_by_one(tmp_path: Path) -> None:
    base = Path(os.path.realpath(tmp_path))
    (base / "a").symlink_to("b/../c")
    (base / "b").mkdir()
    (base / "c").symlink_to(base / "d")
    (base / "x").symlink_to("x")
    assert links_to(str(base / "a/f")) == {str(base / "a"): "b/../c", str(base / "c"): str(base / "d")}
    assert links_to(str(base / "x/f")) == {str(base / "x"): "x"}


def test_which_files_and_folders_git_tracks_something_of(home: Path) -> None:
    workspace = repository(home / "w")
    written(workspace / "a/b")
    git(workspace, "add", "a/b")
    names = {name: str(workspace / name) for name in ("f", "a", "a/b", "b", "ff")}
    assert with_tracked([str(workspace / ".git")], names.values()) == {names["f"], names["a"], names["a/b"]}
