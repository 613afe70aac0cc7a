"""The capability map from files: extension, and errors with file and line."""

import os
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.base.errors import SettingsError
from harness.events import Severity
from harness.policies.breakers.capabilities import UNSURE, CapabilityMap
from harness.settings import load
from harness.settings.capability_files import capability_files, load_capabilities
from harness.tools import standard_tools
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

TOOLS = [tool.name for tool in standard_tools()]
BASH = '[bash]\nprovides = "commands"\nfallback = "by hand"\n'


def loaded(
    *texts: str, folder: Path, known: list[str] | None = None, also: dict[str, str] | None = None
) -> CapabilityMap:
    """The map with these texts as the user's and the project's file."""
    paths: list[Path | None] = [None, None]
    for at, (name, text) in enumerate(zip(("user.toml", "project.toml"), texts, strict=False)):
        path = folder / name
        path.write_bytes(text.encode())
        paths[at] = path
    return load_capabilities(paths[0], paths[1], known or TOOLS, also=also)


# ── what is shipped ─────────────────────────────────────────────────────────────────────────────


def test_every_shipped_tool_has_its_entry_and_two_are_critical() -> None:
    found = load_capabilities(None, None, TOOLS)
    assert sorted(one.tool for one in found.capabilities) == sorted(TOOLS)
    assert found.problems(TOOLS) == ()
    assert found.critical == {"bash", "todo_write"}
    assert all(alternative.degradation != UNSURE for one in found.capabilities for alternative in one.alternatives)


def test_so_has_every_tool_that_an_agent_is_given_by_the_program(tmp_path: Path) -> None:
    skill = tmp_path / ".harness" / "skills" / "tidy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidy up.\n---\nTidy up.\n")
    agent = Agent(load({"workspace": tmp_path, "state_dir": tmp_path / "state"}, {}, tmp_path).settings)
    names = agent.toolbox.names
    assert {"agent", "read_background", "skill", "remember", "recall", "forget"} < set(names)
    assert load_capabilities(None, None, names).problems(names) == ()


def test_an_agent_with_other_tools_gets_entries_derived_from_what_they_say() -> None:
    found = load_capabilities(None, None, ["weather"], also={"weather": "The weather in a city. Slow at night."})
    (entry,) = found.capabilities
    assert (entry.provides, entry.alternatives) == ("The weather in a city", ())
    assert entry.fallback == "ask the user for what weather would have returned"


def test_a_tool_that_an_agent_has_not_is_never_offered() -> None:
    found = load_capabilities(None, None, ["grep", "read_file"])
    entry = found.get("grep")
    assert entry is not None
    assert [one.tool for one in entry.alternatives] == ["read_file"]


# ── what extends it ─────────────────────────────────────────────────────────────────────────────


def test_a_table_takes_the_place_of_the_whole_table_of_that_tool_and_the_project_goes_last(tmp_path: Path) -> None:
    user = '[grep]\nprovides = "mine"\nfallback = "me"\n[[grep.alternatives]]\ntool = "bash"\nmethod = "ack X"\n' + BASH
    project = '[grep]\nprovides = "ours"\nfallback = "us"\n'
    found = loaded(user, project, folder=tmp_path)
    grep, bash, glob = (found.get(name) for name in ("grep", "bash", "glob"))
    assert grep is not None
    assert bash is not None
    assert glob is not None
    assert (grep.provides, grep.alternatives) == ("ours", ())
    assert bash.provides == "commands"
    assert glob.alternatives  # the default


def test_what_is_left_out_of_an_alternative_is_taken_for_the_worst(tmp_path: Path) -> None:
    text = '[glob]\nprovides = "x"\nfallback = "y"\n[[glob.alternatives]]\ntool = "bash"\nmethod = "ls"\n'
    entry = loaded(text, folder=tmp_path).get("glob")
    assert entry is not None
    assert (entry.alternatives[0].degradation, entry.alternatives[0].severity) == (UNSURE, Severity.HIGH)


def test_a_users_file_for_the_shipped_tools_does_not_stop_an_agent_that_has_others(tmp_path: Path) -> None:
    found = loaded(BASH, folder=tmp_path, known=["weather"], also={"weather": "Rain."})
    assert [one.tool for one in found.capabilities] == ["weather"]


def test_where_the_files_are() -> None:
    user, project = capability_files(Path("/somewhere"))
    assert user.name == "capabilities.toml"
    assert project == Path("/somewhere/.harness/capabilities.toml")


# ── what is refused ─────────────────────────────────────────────────────────────────────────────

GLOB = '# a comment with [brackets]\n\n[glob]\nprovides = "x [y] = z"\nfallback = "y"\n'


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("# c\n[bash\n", 2, "this is not valid TOML"),
        ("[bash", 1, "this is not valid TOML"),
        ("[bash]\nprovides = 'x'\nprovides = 'y'\n", 3, "cannot overwrite a value"),
        ("x = " + "[" * 2_000, None, "nested too deeply"),
        ('bash = "x"\n', 1, "bash has to be a table; write [bash]"),
        ('# c\n[bash]\nprovides = "x"\n', 2, "bash has no fallback"),
        ('[bash]\nfallback = "x"\n', 1, "bash has no provides"),
        ('[bash]\nprovides = ""\nfallback = "x"\n', 2, "provides is ''"),
        ('[bash]\nprovides = 3\nfallback = "x"\n', 2, "provides is 3"),
        (BASH + 'provdes = "x"\n', 4, "'provdes' is not known; perhaps provides was meant"),
        ('[bahs]\nprovides = "x"\nfallback = "y"\n', 1, "bahs is not a tool of this agent; perhaps bash was meant"),
        (GLOB + "alternatives = 3\n", 6, "write [[glob.alternatives]]"),
        (GLOB + 'depends_on = "bash"\n', 6, "depends_on has to be a list of tools"),
        (GLOB + 'depends_on = ["bahs"]\n', 6, "depends_on names 'bahs', which is not a tool of this agent"),
        (GLOB + 'depends_on = ["glob"]\n', 6, "depends_on names the tool itself"),
        (GLOB + '[[glob.alternatives]]\ntool = "bash"\n', 6, "has no method"),
        (GLOB + '[[glob.alternatives]]\ntool = "bash"\nmethod = " "\n', 8, "method is ' '"),
        (GLOB + '[[glob.alternatives]]\nmethod = "x"\ntool = "glob"\n', 8, "names the tool itself"),
        (
            GLOB + '[[glob.alternatives]]\nmethod = "x"\ntool = "bahs"\n',
            8,
            "names 'bahs', which is not a tool of this agent",
        ),
        (GLOB + '[[glob.alternatives]]\ntool = "bash"\nmethod = "x"\nseverity = "huge"\n', 9, 'write "low" or "high"'),
        (GLOB + '[[glob.alternatives]]\ntool = "bash"\nmethd = "x"\n', 8, "perhaps method was meant"),
        (
            GLOB + "".join(f'[[glob.alternatives]]\nmethod = "x"\ntool = "{tool}"\n' for tool in ("bash", "sed")),
            11,
            "names 'sed'",
        ),
        ("\ufeff" + "[bash]\nx = 1\n" + BASH[7:], 2, "'x' is not known"),
        (
            '[xyz]\nprovides = "x"\nfallback = "y"\n',
            1,
            "xyz is not a tool of this agent; there are agent, ask_user, bash",
        ),
        ('glob.provides = "x"\n\n\nglob.fallback = 3\n', 4, "fallback is 3"),
        ('# """\n[bash]\nprovides = "x"\nfallback = "y"\nx = 1\n', 5, "'x' is not known"),
        ('[bash]\nprovides = \'"""\'\nfallback = 1\n', 3, "fallback is 1"),
        ('["a.b"]\n\nprovides = 3\nfallback = "y"\n', 3, "provides is 3"),
        (
            '[glob]\nprovides = "x"\nfallback = "y"\ndepends_on = [\n"bash",\n[\n"x"],\n]\nx = 1\n',
            9,
            "'x' is not known",
        ),
        ('[glob]\nprovides = "a\u2028b"\nfallback = 3\n', 3, "fallback is 3"),
        ('[bash]\nprovides = """\n[grep]\n"""\nfallback = "y"\nx = 1\n', 6, "'x' is not known"),
        ('# c\nglob = {provides = "x", fallback = ""}\n', 2, "fallback is ''"),
        ('# c\nglob.provides = "x"\nglob.fallback = "y"\nglob.depends_on = ["z"]\n', 4, "names 'z'"),
        ('# c\nglob.provides = "x"\nglob.alternatives = [{tool = "z", method = "x"}]\n', 2, "glob has no fallback"),
        (GLOB + 'alternatives = [\n  {tool = "z", method = "x"},\n]\n', 6, "names 'z'"),
        (GLOB + 'depends_on = [\n  "bash",  # [x]\n  "z",\n]\n', 6, "names 'z'"),
        ('# c\n[ "glob" ] # [x]\nprovides = "a # ]"\n\'fallback\' = "it\'s = y"\nzz = 1\n', 5, "'zz' is not known"),
        ('# c\n["a.b"]\nprovides = "x"\nfallback = ""\n', 4, "fallback is ''"),
        (
            '# c\n["a\\nb\\u001b"]\nprovides = "x"\nfallback = "y"\n',
            None,
            "line 1: a b\\x1b is not a tool of this agent",
        ),
        ('[glob]\r\nprovides = "a\u2028b"\r\nfallback = ""\r\n', 3, "fallback is ''"),
        ("\ufeff[glob]\nprovides = 'x'\nfallback = ''\n", 3, "fallback is ''"),
        (GLOB + '[glob.alternatives]\ntool = "bash"\n', 6, "write [[glob.alternatives]]"),
        ('[[glob]]\nprovides = "x"\n', 1, "glob has to be a table; write [glob]"),
        (GLOB + '[[glob.alternatives]]\ntool = "bash"\nmethod = "x"\nseverity = ["low"]\n', 9, 'write "low" or "high"'),
        (
            BASH + '[[bash.alternatives]]\ntool = "grep"\nmethod = "x"\n',
            5,
            "forms a cycle",
        ),
        (GLOB + 'depends_on = ["bash"]\n' + BASH + 'depends_on = ["glob"]\n', None, "forms a cycle"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_with_its_line(
    text: str, line: int | None, part: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as raised:
        loaded(text, folder=tmp_path)
    told = str(raised.value)
    assert told.startswith(str(tmp_path / "user.toml"))
    assert part in told
    assert line is None or f", line {line}: " in told
    assert "\n" not in told


def test_a_cycle_that_only_two_files_together_make_is_reported_in_the_one_that_closes_it(tmp_path: Path) -> None:
    user = GLOB + '[[glob.alternatives]]\ntool = "grep"\nmethod = "x"\n'
    project = '[grep]\nprovides = "x"\nfallback = "y"\n[[grep.alternatives]]\nmethod = "x"\ntool = "glob"\n'
    with pytest.raises(SettingsError, match=r"project\.toml, line 6: .*cycle"):
        loaded(user, project, folder=tmp_path)
    with pytest.raises(SettingsError, match=r"project\.toml, line 7: .*cycle"):
        loaded(project, user, folder=tmp_path)


@pytest.mark.parametrize("kind", ["folder", "fifo", "large", "bytes", "unreadable"])
def test_what_is_no_small_text_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "capabilities.toml"
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "large":
            path.write_bytes(b"#" * 1_000_001)
        case "bytes":
            path.write_bytes(b"\xff\xfe")
        case _:
            path.symlink_to(path)
    with pytest.raises(SettingsError) as raised:
        load_capabilities(path, None, TOOLS)
    assert str(raised.value).startswith(str(path))


def test_a_file_that_is_not_there_is_nothing(tmp_path: Path) -> None:
    assert load_capabilities(tmp_path / "a", tmp_path / "b" / "c", TOOLS).get("bash") is not None


async def test_the_command_ends_with_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / ".harness").mkdir(parents=True)
    (folder / ".harness" / "capabilities.toml").write_text('[grep]\nprovides = "x"\n')
    ended = await run(Place(folder), "-p", "hi")
    assert ended.code == 2
    assert "capabilities.toml, line 1: grep has no fallback; say it in one line." in ended.err
    assert "Traceback" not in ended.err
