"""Settings, their origins, and problems."""

import io
import re
import socket
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.cli.doctor import doctor
from harness.engine.model.shared_endpoints import written
from harness.memory import MemoryStore
from harness.memory.memory import MemoryOwner
from harness.model.prices import price_list
from harness.policies.admission.shared_endpoint import SharedEndpoint
from harness.practice.server import PracticeServer
from harness.sandbox.sandbox import Sandbox
from harness.slots.store import SqliteSlotStore, slots_file
from tests.definitions.folders import agent
from tests.memory.shelves import Minutes, draft
from tests.skills.folders import Folders, skill
from tests.ui.program import Place, run

KEY = "sk-ant-0123456789-abcdefghijkl-WXYZ"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and an environment that sets nothing but where things are kept."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "MODEL_ID", "FALLBACK_MODEL_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "project"
    project.mkdir()
    return project


def examined(folder: Path) -> tuple[int, str]:
    out = io.StringIO()
    return doctor(out, workspace=str(folder)), out.getvalue()


def test_without_a_key_the_practice_model_will_answer(folder: Path) -> None:
    code, page = examined(folder)
    assert code == 0
    assert "practice-1, the built-in rule-based practice model" in page
    assert "set ANTHROPIC_API_KEY" in page


def test_what_holds_commands_is_named_and_missed_where_more_is_required(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = Sandbox().state
    assert f"{'✓' if state.level == 'full' else '!'} sandbox: {state.in_words}\n" in examined(folder)[1]
    monkeypatch.setenv("HARNESS_SANDBOX", "off")
    code, page = examined(folder)
    assert (code, '! sandbox: none: it is switched off; to make it full: sandbox = "auto"\n' in page) == (0, True)
    monkeypatch.setenv("HARNESS_SANDBOX", "required")
    code, page = examined(folder)
    assert ('✗ sandbox: sandbox = "required", but' in page, code) == (
        (False, 0) if state.level == "full" else (True, 1)
    )


def test_it_says_whether_memory_can_be_limited(folder: Path) -> None:
    assert re.search(r"memory limit +(possible \(bash_memory\)|not possible: .{20,})\n", examined(folder)[1])


def test_every_value_has_its_origin_and_the_key_is_masked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (folder / ".env").write_text("MODEL_ID=claude-from-env\n")
    (folder / ".harness").mkdir()
    (folder / ".harness" / "settings.toml").write_text("max_steps = 7\n")
    monkeypatch.setenv("HARNESS_TRUST_FOLDER", "1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        code, page = examined(folder)
    assert code == 0
    assert re.search(r"•••, \d+ characters \(environment ANTHROPIC_API_KEY\)", page)
    assert "claude-from-env (.env MODEL_ID)" in page
    assert f"7 ({folder / '.harness' / 'settings.toml'}: max_steps)" in page
    assert KEY not in page


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("HARNESS_MAX_STEPS", "few", "HARNESS_MAX_STEPS = 'few'"),
        ("ANTHROPIC_API_KEY", "two words", "api_key"),
        ("ANTHROPIC_BASE_URL", "ftp://example.org", "http://"),
        ("HARNESS_STATE_DIR", "/dev/null/state", "HARNESS_STATE_DIR"),
        ("HARNESS_PRACTICE_SCRIPT", "no-such.toml", "no-such.toml"),
        ("HARNESS_LOOP_LIMITS", "copis=5", "perhaps copies was meant."),
    ],
)
def test_what_would_fail_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)
    code, page = examined(folder)
    assert code == 1
    (line,) = (line for line in page.splitlines() if "✗" in line)
    assert words in line


def fact(page: str, name: str) -> str:
    """What the section about sessions says of this."""
    section = page.partition("\nIn every session here\n")[2].partition("\n\n")[0]
    (line,) = (line for line in section.splitlines() if line.startswith(f"  {name} "))
    return line.removeprefix(f"  {name} ").strip()


def test_a_limit_of_requests_that_all_sessions_share_is_on_the_page_with_its_reason(folder: Path) -> None:
    with closing(SqliteSlotStore(slots_file(folder.parent / "state"))) as store:
        limited = SharedEndpoint(most=3, refused_at=time.time(), lowered_at=time.time())
        store.change("endpoints https://here", lambda _: written({"claude-large": limited}))
    _, page = examined(folder)
    assert "0 running now; claude-large (endpoints https://here): at most 3 of 5 requests at a time, refused at" in page


def test_what_a_session_brings_along_is_on_the_page_also_where_it_is_nothing(folder: Path) -> None:
    code, page = examined(folder)
    assert code == 0
    assert fact(page, "instructions") == "none; AGENTS.md in the workspace would be one"
    assert fact(page, "skills") == fact(page, "memories") == "none"
    kept = folder.parent / "config" / "harness" / "permissions.toml"
    assert fact(page, "permissions") == f"none; permanent ones are stored in {kept}"
    assert fact(page, "hooks") == "none"
    assert fact(page, "folder") == "its files set nothing that needs your trust"
    assert fact(page, "admission").startswith("5 agents and 10 background commands at a time, 20 of each queued; ")
    assert fact(page, "admission").endswith("shared by all your sessions, 0 running now")
    assert not slots_file(folder.parent / "state").exists()


def test_what_is_there_is_counted_and_said_to_be_whose(folder: Path) -> None:
    mine = folder.parent / "config" / "harness"
    Folders.write(mine / "skills", "review", skill("review", "Reads code.", "Look twice."))
    Folders.write(folder / ".harness" / "skills", "deploy", skill("deploy", "Brings it out."))
    MemoryStore({MemoryOwner.PERSON: mine / "memory"}, now=Minutes()).keep(draft("tabs"), MemoryOwner.PERSON)
    (mine / "AGENTS.md").write_text("Be brief.")
    (folder / "AGENTS.md").write_text("Tabs.")
    (mine / "permissions.toml").write_text('allow = ["bash(npm run *)"]\n')
    guard = '[[hooks]]\nevent = "before_tool"\ncommand = "true"\nname = "guard"\n'
    (mine / "settings.toml").write_text(
        f'permissions_deny = ["read(/etc/**)"]\ntrusted_folders = ["{folder}"]\n{guard}'
    )
    code, page = examined(folder)
    assert code == 0
    assert fact(page, "instructions") == f"{mine / 'AGENTS.md'} (yours), {folder / 'AGENTS.md'}"
    assert fact(page, "skills") == "1 yours, 1 of the project"
    assert fact(page, "memories") == "1 yours"
    origin = f"{mine / 'settings.toml'}: permissions_deny"
    kept = f"1 permanent in {mine / 'permissions.toml'}"
    assert fact(page, "permissions") == f"1 from the settings ({origin}), {kept}"
    assert fact(page, "hooks") == f"1 (1 before_tool), from {mine / 'settings.toml'}: hooks"
    assert f"guard ({mine / 'settings.toml'}: hooks)" in page


def test_what_is_wrong_with_a_file_is_said_and_stops_nothing(folder: Path) -> None:
    Folders.write(folder / ".harness" / "skills", "empty\x1b[2J", skill("empty", "Nothing.", ""))
    mine = folder.parent / "config" / "harness" / "memory"
    mine.mkdir(parents=True)
    (mine / "broken.md").write_bytes(b"\0")
    (folder / "AGENTS.md").write_bytes(b"\0")
    slots_file(folder.parent / "state").mkdir(parents=True)
    code, page = examined(folder)
    odd = [line for line in page.splitlines() if line.startswith("  ! ")]
    assert code == 0
    words = (*("AGENTS.md is left out", "SKILL.md is left out", "broken.md is left out", "cannot share agent slots"),)
    assert [sum(word in line for line in odd) for word in words] == [1, 1, 1, 1]
    assert fact(page, "admission").endswith("not shared between sessions, see below")
    assert "\x1b" not in page


def test_rules_that_cannot_be_used_would_stop_a_session(folder: Path) -> None:
    mine = folder.parent / "config" / "harness"
    mine.mkdir(parents=True)
    (mine / "permissions.toml").write_text("allow = 3\n")
    code, page = examined(folder)
    assert code == 1
    assert fact(page, "permissions") == "error, see below"
    (line,) = (line for line in page.splitlines() if "✗" in line)
    assert str(mine / "permissions.toml") in line


def test_hooks_of_a_folder_that_is_not_trusted_are_left_out_by_name(folder: Path) -> None:
    file = folder / ".harness" / "settings.toml"
    file.parent.mkdir()
    file.write_text('[[hooks]]\nevent = "before_tool"\ncommand = "true"\n')
    page = examined(folder)[1]
    assert fact(page, "folder") == f"you will be asked at the next start; ignored until then: {file}: hooks"
    assert fact(page, "hooks") == "none"


@pytest.mark.stories
@pytest.mark.anyio
async def test_without_online_nothing_is_sent_to_the_server(tmp_path: Path) -> None:
    async with PracticeServer() as server:
        place = Place(tmp_path, server.base_url)
        assert (await run(place, "doctor")).code == 0
        assert server.requests == []
        ended = await run(place, "doctor", "--online")
    assert ended.code == 0
    assert [request.path.partition("?")[0] for request in server.requests] == ["/v1/models"]


def test_a_server_that_does_not_answer_is_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    out = io.StringIO()
    assert doctor(out, workspace=str(folder), online=True) == 1
    assert "check address, key and network" in out.getvalue()


def model_line(page: str) -> str:
    """The check of the model's address."""
    (line,) = (line for line in page.splitlines() if line.startswith(("  ✓ model", "  ✗ model")))
    return line.strip()


def test_an_address_where_nothing_listens_is_a_failure_and_one_where_something_does_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        code, page = examined(folder)
        assert (code, model_line(page)) == (
            0,
            f"✓ model: {address} accepts connections; the key was not tested (--online does)",
        )
    code, page = examined(folder)
    assert code == 1
    assert model_line(page).startswith(f"✗ model: {address} refused the connection; check")


def test_where_a_proxy_is_before_the_server_the_proxy_is_connected_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://no-such-host.invalid")
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        port = proxy.getsockname()[1]
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://user:secret@127.0.0.1:{port}")
        code, page = examined(folder)
        assert code == 0
        assert model_line(page).startswith(f"✓ model: the proxy 127.0.0.1:{port} accepts connections")
    code, page = examined(folder)
    assert code == 1
    assert f"the proxy 127.0.0.1:{port} refused the connection" in model_line(page)
    assert "secret" not in page


def test_the_age_of_the_prices_is_reported_and_which_model_has_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = price_list().checked
    days = (datetime.now(UTC).date() - checked).days
    assert re.search(rf"✓ prices: checked {days} days? ago \({checked}, https://\S+\)\n", examined(folder)[1])
    monkeypatch.setenv("MODEL_ID", "mine")
    assert "; unknown for mine\n" in examined(folder)[1]
    monkeypatch.setenv("HARNESS_MAX_BUDGET_USD", "5")
    code, page = examined(folder)
    assert code == 1
    assert (
        '✗ prices: max_budget_usd cannot be kept, because the price of mine is not known; give it as [prices."mine"]'
        in page
    )
    monkeypatch.setenv("HARNESS_PRICES", '{"mine": {"input": 1, "output": 1}}')
    code, page = examined(folder)
    assert code == 0
    assert "; 1 price from your settings\n" in page


def test_files_of_other_programs_are_listed_and_what_is_left_out_is_said_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder.parent / "home"
    monkeypatch.setenv("HARNESS_HOME_DIR", str(home))
    for path, text in {
        folder / "CLAUDE.md": "See @.env",
        folder / ".mcp.json": '{"mcpServers": {"notes": {"command": "notes"}}}',
        folder / ".claude" / "settings.json": "{}",
        folder / ".env": "",
        folder / ".claude" / "skills" / "release" / "SKILL.md": skill("release"),
        folder / ".claude" / "commands" / "fix.md": "Fix it. !`git status`",
        folder / ".claude" / "commands" / "cost.md": "Mine.",
        folder / ".claude" / "agents" / "searcher.md": agent("searcher", "model: haiku\n"),
        folder / ".claude" / "agents" / "odd.md": agent("odd", "tools: Telepathy\n"),
        home / ".claude" / "CLAUDE.md": "Be brief.",
        home / ".claude" / "commands" / "tidy.md": "Tidy up.",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    code, page = examined(folder)
    assert code == 0
    assert f"{home / '.claude' / 'CLAUDE.md'} (yours), {folder / 'CLAUDE.md'}" in page
    assert re.search(r"skills +1 of the project", page)
    assert re.search(r"other files +.claude/settings.json: not read; ", page)
    assert re.search(r"! \.mcp\.json of this folder is not used until you trust it .*: notes\.", page)
    assert re.search(r"commands +/fix, /tidy \(yours\)", page)
    assert re.search(r"agents +odd, searcher\n", page)
    for words in (
        f"! {folder / 'CLAUDE.md'}, line 1: @.env is left out: it may hold keys.",
        f"! {folder / '.claude' / 'commands' / 'cost.md'} is ignored: /cost is a built-in command; rename the file.",
        f"! {folder / '.claude' / 'commands' / 'fix.md'}: !`…` is not expanded;",
        f"! {folder / '.claude' / 'agents' / 'odd.md'} names Telepathy, which is not here.",
        f"! {folder / '.claude' / 'agents' / 'searcher.md'} names the model haiku, which waits for your trust",
    ):
        assert words in page, words
