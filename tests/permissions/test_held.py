"""What runs unasked because a sandbox holds it."""

import re
from dataclasses import replace
from itertools import product
from posixpath import normpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.hooks import Verdict
from harness.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    Mode,
    PermissionAnswer,
    PermissionRequest,
    Permissions,
    RuleBook,
    RuleScope,
    Surroundings,
    with_verdict,
)
from harness.permissions.disk import TreeContents
from harness.sandbox import NOTHING_MORE, Allowance, Profile, ProfileName
from harness.tools.tool import Effect
from tests.cases import cases, lines
from tests.permissions.test_verdicts import AROUND, bash, empty_disk, permissions

WORK = Profile(
    ProfileName.WORK,
    ("/usr", "/etc", "/bin"),
    (AROUND.workspace, f"{AROUND.home}/.cache/tool"),
    hidden=(f"{AROUND.workspace}/.env",),
)
REFUSED = Allowance(("/srv/other/a",), ("example.org:443",))


def in_sandbox(
    gate: Permissions, command: str, work: Profile | None = WORK, refused: Allowance = NOTHING_MORE, **input: object
) -> PermissionRequest:
    """A call of bash, with what is needed to decide it."""
    request = replace(bash(command), sandbox=work, refused=refused, input={"command": command, **input})
    return replace(request, disk=empty_disk(gate.questions(request)))


def decided(command: str, mode: Mode = Mode.ASK, **rules: str | list[str]) -> Decision:
    gate = permissions(mode, **rules)
    return gate.decide(in_sandbox(gate, command))


@cases(__file__, "held", "command profile")
def test_a_line_that_the_sandbox_holds_runs_unasked(command: str, profile: str) -> None:
    for mode in (Mode.ASK, Mode.EDITS):
        decision = decided(command, mode)
        assert isinstance(decision, Allow), decision
        assert (decision.profile, decision.by) == (profile, "default")
        assert decision.looks == (profile != "work")
        assert decision.allowance == NOTHING_MORE


@cases(__file__, "asked", "command why")
def test_what_it_does_not_hold_is_asked_about_and_then_free(command: str, why: str) -> None:
    for mode in (Mode.ASK, Mode.EDITS):
        decision = decided(command, mode)
        assert isinstance(decision, Ask), decision
        assert re.search(why, decision.why)
        assert (decision.profile, decision.allowance) == (ProfileName.FREE, NOTHING_MORE)


@cases(__file__, "private", "command profile")
def test_a_workspace_in_the_temporary_folder_is_the_workspace(command: str, profile: str) -> None:
    gate = Permissions(Mode.ASK, book=RuleBook(Surroundings("/tmp/project", "/tmp/home")))
    decision = gate.decide(in_sandbox(gate, command, replace(WORK, writable=("/tmp/project",))))
    assert (decision.profile if isinstance(decision, Allow) else "asked") == profile


# ── what a searched folder holds ────────────────────────────────────────────────────────────────

SEARCHED = {
    "nothing": (TreeContents(), "look"),
    "a hidden key": (TreeContents(("/srv/project/.env",)), "look"),
    "a key that git tracks": (TreeContents(("/srv/project/secrets.json",)), "asked"),
    "one of both": (TreeContents(("/srv/project/.env", "/srv/project/secrets.json")), "asked"),
    "too much to know": (TreeContents(complete=False), "look"),
    "a link": (TreeContents(("/srv/elsewhere/x",)), "look"),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_keys_in_a_searched_folder_are_asked_about_only_where_they_are_not_hidden(name: str) -> None:
    contents, expected = SEARCHED[name]
    gate = permissions()
    request = in_sandbox(gate, "grep -rn x .")
    request = replace(request, disk=replace(request.disk, trees=dict.fromkeys(request.disk.trees, contents)))
    decision = gate.decide(request)
    assert (decision.profile if isinstance(decision, Allow) else "asked") == expected
    asked = gate.decide(replace(request, sandbox=None))
    assert isinstance(asked, Allow if name == "nothing" else Ask)
    assert bool(isinstance(asked, Ask) and asked.dangers) == ("key" in name or "both" in name)


# ── a walk, with an oracle ──────────────────────────────────────────────────────────────────────

KINDS = {
    # What the tables say of a line without a sandbox, and whether a sandbox holds it.
    "cat a": ("looks", True),
    "touch a": ("acts", True),
    "docker run x": ("acts", False),
    "rm a": ("danger", False),
    "if true; then": ("unreadable", False),
    'bash -c "$x"': ("hides", False),
    "for f in *; do python $f; done": ("hides", True),
    "cat $f": ("unknown file", True),
}
RULES: dict[str, tuple[Verdict, str] | None] = {
    "none": None,
    "deny it": (Verdict.DENY, "bash"),
    "deny another": (Verdict.DENY, "bash(git push *)"),
    "ask it": (Verdict.ASK, "bash"),
    "allow it": (Verdict.ALLOW, "bash(*)"),
    "deny a file": (Verdict.DENY, "read(**/secret)"),
}


def oracle(line: str, mode: Mode, rule: str, *, full: bool, background: bool) -> str:
    """The profile of what runs unasked, or "asked", or "denied", by the sentences of the documentation."""
    kind, held = KINDS[line]
    perhaps_denied = (rule in ("deny another", "deny it") and kind in ("hides", "unreadable")) or (
        rule == "deny a file" and kind in ("unknown file", "unreadable")
    )
    if rule == "deny it" and kind != "unreadable":
        return "denied"
    if mode is Mode.DENY:
        return "denied"
    if mode is Mode.PLAN:
        if kind != "looks":
            return "denied"
        return "asked" if rule == "ask it" else "look"
    if perhaps_denied:
        return "asked"
    if mode is Mode.YOLO:
        return "free"
    if rule == "ask it":
        return "asked"
    if kind == "looks":
        return "look"
    if rule == "allow it" and kind in ("acts", "unknown file"):
        return "free" if kind == "acts" else "work" if full and not background else "asked"
    if full and held and not background:
        return "work"
    return "asked"


@pytest.mark.parametrize("rule", RULES)
def test_every_mode_level_rule_and_kind_of_line(rule: str) -> None:
    for mode, line, full, background in product(Mode, KINDS, (True, False), (True, False)):
        gate = permissions(mode)
        if (one := RULES[rule]) is not None and gate.book is not None:
            gate.book.add(gate.book.parse(*one, RuleScope.SETTINGS))
        request = in_sandbox(gate, line, WORK if full else None, background=background)
        decision = gate.decide(request)
        match decision:
            case Allow(profile=profile):
                found = str(profile)
            case Ask():
                found = "asked"
            case Deny():
                found = "denied"
        expected = oracle(line, mode, rule, full=full, background=background)
        assert found == expected, (mode, line, full, background, decision)


CHAINED = [
    line
    for line in (*lines(__file__, "held"), *lines(__file__, "asked"))
    if not re.search(r"\bcd |\n|localhost|127\.0|& |&$|then$|^ps|^docker ps|'<<'", line)
    and not re.match(r"git (config|remote (add|rename|set-url)|branch (-[mMu]|--))", line)
]
"""Lines whose parts mean the same in a chain; one that changes nothing but settings of git is asked about alone."""


@given(
    commands=st.lists(st.sampled_from(CHAINED), min_size=2, max_size=3),
    rules=st.lists(st.sampled_from(["bash(touch *)", "bash(make *)", "bash(git *)", "write(**)", "read"]), max_size=3),
)
def test_a_chain_is_held_exactly_if_each_part_is_and_a_rule_that_allows_asks_no_more(
    commands: list[str], rules: list[str]
) -> None:
    held = all(isinstance(decided(command), Allow) for command in commands)
    together = decided(" ; ".join(commands))
    assert isinstance(together, Allow) == held, together
    if held:
        assert isinstance(decided(" ; ".join(commands), allow=rules), Allow)


def test_without_a_full_sandbox_everything_is_decided_as_if_there_were_none() -> None:
    for command in (line.split(" => ")[0] for line in lines(__file__, "held")):
        gate = permissions()
        request = in_sandbox(gate, command, None)
        assert gate.decide(replace(request, refused=REFUSED)) == gate.decide(request)


def test_other_tools_are_asked_about_as_before() -> None:
    for tool, effect in (("write_file", Effect.WRITE), ("mcp_x", Effect.RUN)):
        gate = permissions()
        request = PermissionRequest("1", tool, effect, "a", "a", {"path": "a"}, sandbox=WORK)
        request = replace(request, disk=empty_disk(gate.questions(request)))
        assert gate.decide(request) == gate.decide(replace(request, sandbox=None))
        assert isinstance(gate.decide(request), Ask)


# ── what it was refused ─────────────────────────────────────────────────────────────────────────


def test_a_line_that_was_refused_something_is_asked_about_with_exactly_that() -> None:
    gate = permissions()
    asked = gate.decide(in_sandbox(gate, "make", refused=REFUSED))
    assert isinstance(asked, Ask)
    assert (asked.profile, asked.allowance, asked.dangers, asked.firm) == (ProfileName.WORK, REFUSED, (), False)
    assert asked.why == "the sandbox keeps it from `/srv/other/a`, `example.org:443`"
    request = replace(in_sandbox(gate, "make", refused=REFUSED), profile=asked.profile, allowance=asked.allowance)
    once = gate.remember(request, PermissionAnswer("once"))
    assert isinstance(once, Allow)
    assert (once.profile, once.allowance, once.by) == (ProfileName.WORK, REFUSED, "user")
    assert gate.decide(in_sandbox(gate, "make", refused=REFUSED)) == asked
    assert isinstance(gate.remember(request, PermissionAnswer("no")), Deny)
    assert gate.decide(in_sandbox(gate, "make", refused=REFUSED)) == asked
    always = gate.remember(request, PermissionAnswer("always"))
    assert isinstance(always, Allow)
    assert (always.profile, always.allowance) == (ProfileName.WORK, REFUSED)
    for line in ("make", "make test"):
        after = gate.decide(in_sandbox(gate, line, refused=REFUSED))
        assert isinstance(after, Allow)
        assert (after.profile, after.allowance, after.by) == (ProfileName.WORK, REFUSED, "default")
    looks = gate.decide(in_sandbox(gate, "cat a"))
    assert isinstance(looks, Allow)
    assert (looks.profile, looks.allowance) == (ProfileName.LOOK, NOTHING_MORE)
    more = gate.decide(in_sandbox(gate, "make", refused=Allowance(("/srv/other/a/b", "/srv/third"))))
    assert isinstance(more, Ask)
    assert more.why == "the sandbox keeps it from `/srv/third`"
    assert more.allowance == Allowance(("/srv/third", *REFUSED.paths), REFUSED.hosts)


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("git config user.name x", True),
        ("git status; git config user.name x && git config user.email y", True),
        ("git remote add -f origin https://example.org/a", True),
        ("git remote set-url origin https://example.org/a", True),
        ("git remote rename a b", True),
        ("git branch -m a b", True),
        ("git branch --set-upstream-to=origin/main", True),
        ("git branch a", False),
        ("git config user.name x && git commit -m y", False),
        ("git config user.name $(make)", False),
        ("git config --get user.name", False),
        ("git sparse-checkout set src", True),
        ("git sparse-checkout list", False),
    ],
)
def test_a_line_that_changes_nothing_but_settings_of_git_is_asked_about(line: str, asks: bool) -> None:
    gate = permissions()
    assert isinstance(gate.decide(in_sandbox(gate, line)), Ask) is asks


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("git switch main", True),
        ("cd src && git stash; git checkout main && git status | head", True),
        ("git worktree remove a", True),
        ("git switch main && git branch -d topic", True),
        ("git switch main && make", "of git"),
        ("git stash && pytest; git stash pop", "of git"),
        ("git bisect run make", "of git"),
        ("git stash; echo x > ci/hooks/new", "but ci"),
        ("cd src && echo x > ../ci/hooks/new && git stash", "but ci"),
        ("git worktree add a && make", "of git"),
        ("git stash list && make", False),
        ("git branch a && make", False),
        ("git add .", False),
        ("git commit -m x", False),
    ],
)
def test_a_line_in_which_git_exchanges_files_may_change_what_others_obey(line: str, opens: bool | str) -> None:
    gate = permissions()
    root, git = AROUND.workspace, f"{AROUND.workspace}/.git"
    opened = (f"{root}/.vscode", f"{root}/a/.git", f"{git}/worktrees/a/gitdir", f"{root}/ci/hooks")
    tracked = (f"{root}/.vscode", f"{root}/ci/hooks")
    work = replace(
        WORK,
        read_only=(*opened, f"{root}/bin", f"{git}/hooks", f"{root}/.git", f"{git}/config", f"{git}/info/attributes"),
        of_git=tracked,
    )
    decision = gate.decide(in_sandbox(gate, line, work))
    assert isinstance(decision, Allow), decision
    expected = {"of git": tracked, "but ci": opened[:-1], True: opened, False: ()}[opens]
    assert (decision.profile, decision.allowance.paths) == (ProfileName.WORK, expected)


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("git mv sub sub2", True),
        ("git mv a sub", True),
        ("git rm -q deep", True),
        ("git mv a b", False),
        ("git rm --cached sub", False),
        ("git -C sub mv a b", False),
        ("git log sub", False),
        ("mv sub sub2", False),
    ],
)
def test_git_is_not_stopped_half_way_by_what_stays_in_its_place(line: str, asks: bool) -> None:
    gate, root = permissions(), AROUND.workspace
    work = replace(WORK, read_only=(f"{root}/sub/.git", f"{root}/deep/er/.git"))
    assert isinstance(gate.decide(in_sandbox(gate, line, work)), Ask) is asks


def test_what_a_line_writes_through_a_link_is_not_opened_for_git() -> None:
    gate, held = permissions(), f"{AROUND.workspace}/ci/hooks"
    request = in_sandbox(gate, "echo x > link; git stash", replace(WORK, read_only=(held,), of_git=(held,)))
    link = {f"{AROUND.workspace}/link": (f"{AROUND.workspace}/link", f"{held}/new")}
    decision = gate.decide(replace(request, disk=replace(request.disk, places=link)))
    assert isinstance(decision, Allow)
    assert decision.allowance == NOTHING_MORE


def test_a_worktree_is_not_removed_beside_another_program() -> None:
    assert isinstance(decided("git worktree remove a; git worktree prune"), Allow)
    assert isinstance(decided("git worktree remove a && make"), Ask)


def test_a_line_that_only_looks_gets_more_as_work() -> None:
    gate = permissions()
    asked = gate.decide(in_sandbox(gate, "cat a", refused=REFUSED))
    assert isinstance(asked, Ask)
    assert asked.profile is ProfileName.WORK


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".env", "AGENTS.md"])
def test_a_refused_place_for_keys_or_for_what_others_run_is_dangerous(path: str) -> None:
    gate = permissions()
    asked = gate.decide(in_sandbox(gate, "make", refused=Allowance((f"{AROUND.workspace}/{path}",))))
    assert isinstance(asked, Ask)
    assert asked.firm
    assert asked.dangers == (asked.why,)
    assert f"`{path}`, a place for keys or for what other programs run or obey" in asked.why


@pytest.mark.parametrize(
    ("path", "wide"),
    [
        *(
            (path, True)
            for path in ("/", "/home", "/home/ada", "/home/ada/.config", "/home/ada/.cargo", "/srv", "/etc")
        ),
        *((path, False) for path in ("/srv/other", "/srv/projects", "/home/ada/notes", "/home/ada/.config/tool")),
    ],
)
def test_a_folder_with_more_than_the_line_needs_is_not_opened(path: str, wide: bool) -> None:
    gate = permissions()
    asked = gate.decide(in_sandbox(gate, "make", refused=Allowance((normpath(path),))))
    assert isinstance(asked, Ask)
    assert (asked.profile is ProfileName.FREE) is wide
    assert ("too much to open" in asked.why) is wide
    assert asked.allowance == (NOTHING_MORE if wide else Allowance((path,)))
    assert not asked.dangers


@pytest.mark.parametrize(
    ("line", "rules", "why"),
    [
        ("make", {"allow": "bash(make)"}, "allow"),
        ("make", {"ask": "bash(make)"}, "ask"),
        ("rm a", {}, "for good"),
        ("git push", {}, "git push"),
    ],
)
def test_what_was_refused_changes_nothing_for_a_line_that_is_not_held(
    line: str, rules: dict[str, str | list[str]], why: str
) -> None:
    gate = permissions(Mode.ASK, **rules)
    before, after = (gate.decide(in_sandbox(gate, line, refused=refused)) for refused in (NOTHING_MORE, REFUSED))
    assert after == before
    assert why in after.why


def test_an_earlier_answer_frees_exactly_this_line() -> None:
    gate = permissions()
    gate.remember(in_sandbox(gate, "docker run x"), PermissionAnswer("always"))
    decision = gate.decide(in_sandbox(gate, "docker run x", refused=REFUSED))
    assert isinstance(decision, Allow)
    assert (decision.profile, decision.by) == (ProfileName.FREE, "user")


def test_a_hook_frees_what_is_held_to_work_and_leaves_what_only_looks() -> None:
    work, look = decided("make"), decided("cat a")
    assert with_verdict(work, Verdict.ALLOW, "fine") == Allow("fine", by="hook")
    assert with_verdict(look, Verdict.ALLOW, "fine") == look
    assert with_verdict(work, Verdict.ASK, "look") == Ask("look")
    assert with_verdict(work, None, "") == work


paths = st.lists(st.sampled_from(["/a", "/a/b", "/a/b/c", "/ab", "/d"]), max_size=3).map(tuple)
hosts = st.lists(st.sampled_from(["x:1", "y:1", "x:2"]), max_size=3).map(tuple)
allowances = st.builds(Allowance, paths, hosts)


@given(one=allowances, other=allowances)
def test_what_is_beyond_an_allowance_is_what_it_does_not_cover(one: Allowance, other: Allowance) -> None:
    beyond, both = one.beyond(other), one.with_more(other)
    covered = [path for path in one.paths if any(path == top or path.startswith(f"{top}/") for top in other.paths)]
    assert sorted([*beyond.paths, *covered]) == sorted(one.paths)
    assert set(beyond.hosts) == set(one.hosts) - set(other.hosts)
    assert (set(both.paths), set(both.hosts)) == ({*one.paths, *other.paths}, {*one.hosts, *other.hosts})
    assert len(both.paths) == len(set(both.paths))
    assert one.beyond(both) == NOTHING_MORE


# ── reasons ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("python -m x y", "it runs `python -m x`"),
        ("make all x", "it runs `make all`"),
        ("make -j x", "it runs `make`"),
        (f"mytool-{'x' * 60} all", f"it runs `mytool-{'x' * 33}`"),
        ("a; b; c", "it runs `a`, `b`, `c`"),
        ("a; b; c; d", "it runs `a`, `b`, `c`, …"),
        ("ls > a; ls > b; ls > c; ls > d", "it writes `a`; it writes `b`; it writes `c`"),
    ],
)
def test_a_reason_names_the_programs_and_files_in_a_few_words(line: str, why: str) -> None:
    gate = permissions()
    asked = gate.decide(in_sandbox(gate, line, None))
    assert isinstance(asked, Ask)
    assert asked.why == why


@pytest.mark.parametrize("length", [79, 80, 81])
def test_a_part_that_is_quoted_has_80_characters_at_most(length: int) -> None:
    line = f"rm {'x' * (length - 3)}"
    asked = decided(line)
    assert isinstance(asked, Ask)
    quoted = asked.why.split("`")[1]
    assert quoted == (line if length <= 80 else f"{line[:79]}…")


@pytest.mark.parametrize(("line", "expected"), [("cat *", Allow), ("for f in *; do cat $f; done", Ask)])
def test_a_name_with_a_space_is_odd_only_where_it_may_become_two_words(line: str, expected: type[Decision]) -> None:
    gate = permissions()
    request = in_sandbox(gate, line, None)
    matches: dict[str, tuple[str, ...]] = dict.fromkeys(request.disk.matches, ("/srv/project/a b",))
    places = {**request.disk.places, **matches}
    decision = gate.decide(replace(request, disk=replace(request.disk, matches=matches, places=places)))
    assert isinstance(decision, expected), decision


def test_plan_mode_says_what_a_line_would_do() -> None:
    for line, why in (("make", "bash runs a program (it runs `make`)"), ("echo x > a", "(it writes `a`)")):
        denied = decided(line, Mode.PLAN)
        assert isinstance(denied, Deny)
        assert why in denied.why
    denied = permissions(Mode.PLAN).decide(PermissionRequest("1", "mcp_x", Effect.RUN, "a", "a", {}))
    assert isinstance(denied, Deny)
    assert denied.why.endswith("mcp_x runs a program")


@pytest.mark.parametrize(
    ("command", "profile"),
    [
        ("docker ps", "free"),
        ("gh pr list | head", "free"),
        ("ps aux | grep x", "free"),
        ("ls src", "look"),
        ("docker ps; cat a", "look"),
    ],
)
def test_without_a_full_sandbox_what_asks_a_server_is_not_held_either(command: str, profile: str) -> None:
    gate = permissions()
    decision = gate.decide(in_sandbox(gate, command, None))
    assert isinstance(decision, Allow), decision
    assert (decision.profile, decision.looks) == (profile, True)
