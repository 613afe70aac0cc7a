"""Which package may import which (docs/architecture.md), and imports that stay light.

The rules are read from the source, so that a lazy import inside a function counts like any other. A new
folder or file of `harness` has to be put into `MAY_IMPORT` before it may exist.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import chapters.course
import harness

PACKAGE = Path(harness.__file__).parent

SUBJECTS = {"model", "tools", "permissions", "hooks", "skills", "memory", "checkpoints", "processes", "settings"}
SUBJECTS |= {"worktrees", "journal", "slots", "definitions", "practice", "media", "tasks", "schedule", "sandbox", "mcp"}
SUBJECTS |= {"team", "fleet"}
"""Packages that each know one subject."""

MAY_IMPORT: dict[str, set[str]] = {
    "base": set(),
    "events": {"base"},
    "policies": {"events"},
    "hooks": {"events"},
    "definitions": {"base", "events"},
    "slots": {"base"},
    "sandbox": {"base"},
    "processes": {"base", "sandbox"},
    "media": {"base", "events"},
    "model": {"base", "events", "media"},
    "tools": {"base", "events", "media", "processes", "sandbox"},
    "checkpoints": {"base", "processes", "sandbox", "tools"},
    "journal": {"base", "events", "tools"},
    "memory": {"base", "events", "tools"},
    "permissions": {"base", "events", "hooks", "processes", "sandbox", "tools"},
    "practice": {"base", "events", "media", "model", "tools"},
    "mcp": {"base", "events", "media", "processes", "sandbox", "tools"},
    "skills": {"base", "events", "definitions", "tools"},
    "tasks": {"base", "events", "policies", "slots", "tools"},
    "schedule": {"base", "events", "policies", "slots", "tools"},
    "team": {"base", "events", "policies", "tools"},
    "fleet": {"base", "events", "hooks", "policies", "team"},
    "worktrees": {"base", "events", "policies", "checkpoints", "journal", "processes", "sandbox", "slots", "tasks"},
    "settings": {
        *("base", "events", "policies", "definitions", "hooks", "journal", "mcp", "model", "permissions", "sandbox"),
        "tools",
    },
    "engine": {"base", "events", "policies", *SUBJECTS},
    "agent": {"base", "events", "policies", *SUBJECTS, "engine"},
    "session": {"base", "events", "policies", *SUBJECTS, "engine", "agent"},
    "plan_script": {"base", "events", "policies", "journal", "tools", "engine", "session"},
    "ui": {"base", "events", "policies", "media", "journal", "settings", "session"},
    "worker": {
        *("base", "events", "policies", "fleet", "journal", "processes", "settings", "worktrees", "session", "ui"),
    },
    "cli": {"base", "events", "policies", *SUBJECTS, "engine", "session", "plan_script", "ui", "worker"},
    "__main__": {"cli"},
    "": {"agent", "base", "engine", "hooks", "session", "tools"},
}
"""For each package and each module of the root of `harness` the others it may import; arrows only point down. The empty
name is `harness/__init__.py`."""

ORDER = ["base", "events", "policies", "hooks", "definitions", "slots", "sandbox", "processes", "media", "model"]
ORDER += [
    "tools",
    "checkpoints",
    "journal",
    "memory",
    "mcp",
    "permissions",
    "practice",
    "skills",
    "tasks",
    "schedule",
    "worktrees",
    "team",
    "fleet",
    "settings",
]
ORDER += ["engine", "agent", "session", "plan_script", "ui", "worker", "cli", "__main__"]
"""From the bottom up: no package imports a later one."""

HEAVY = {"anthropic", "asyncpg", "httpx2", "httpx", "pgqueuer", "textual", "tiktoken"}
"""Packages that are imported lazily, never at the top of a module."""
SCREEN = (
    *("ui/app/", "ui/panel/", "ui/transcript/", "ui/inline/"),
    *("ui/web/driver.py", "ui/key_labels.py"),
)
"""What draws: loaded with the screen and not before, so that textual may be imported at its top."""
NEEDED_FOR_SETTINGS = {"pydantic", "pydantic_core", "platformdirs", "dotenv"}

PURE = {
    "bisect",
    "difflib",
    "graphlib",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "math",
    "operator",
    "re",
}
PURE |= {"errno", "hashlib", "inspect", "json", "posixpath", "textwrap", "types", "typing"}
"""The standard library modules allowed in policies: no I/O, clock or randomness."""

SOURCES = sorted(path for path in PACKAGE.rglob("*.py"))
COURSE = sorted(path for path in Path(chapters.course.__file__).parent.rglob("*.py"))
CHAPTER = re.compile(r"chapters\.s\d\d_")


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def tree_of(path: Path) -> ast.Module:
    """A module and its imports."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, *, only_at_the_top: bool = False) -> tuple[str, ...]:
    """Absolute names of a module's imports; TYPE_CHECKING imports are included only together with lazy ones."""
    every, at_the_top = _read(path)
    return at_the_top if only_at_the_top else every


@cache
def _read(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The imports of a module, anywhere and at its top. Syntax trees are not kept: they are large."""
    tree = tree_of(path)
    return tuple(_names(path, _statements(tree.body))), tuple(_names(path, _at_the_top(tree.body)))


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements, however deep; expressions import nothing, and they are most of a tree."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(statement, name, ()))


def _names(path: Path, nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.ImportFrom():
                folder = path.parents[node.level - 1].relative_to(PACKAGE.parent)
                inside = ".".join([*folder.parts, *([node.module] if node.module else [])])
                yield from (f"{inside}.{alias.name}" for alias in node.names)


def _at_the_top(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                yield from _at_the_top(otherwise)
            case ast.If() | ast.Try() | ast.With() | ast.ClassDef():
                blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
                handlers = [handler.body for handler in getattr(statement, "handlers", [])]
                for block in (*blocks, *handlers):
                    yield from _at_the_top(block)
            case _:
                yield statement


def rooms_imported(path: Path) -> set[str]:
    """The folders and files of `harness` that a module imports, its own left out."""
    found = set()
    for name in imports(path):
        first, *inner = name.split(".")
        if first == "harness":
            known = bool(inner) and ((PACKAGE / inner[0]).is_dir() or (PACKAGE / f"{inner[0]}.py").is_file())
            found.add(inner[0] if known else "")
    return found - {room_of(path)}


def packages_imported(path: Path, *, only_at_the_top: bool = False) -> set[str]:
    return {name.partition(".")[0] for name in imports(path, only_at_the_top=only_at_the_top)}


def offenders(paths: Iterable[Path], found: Callable[[Path], set[str]]) -> dict[str, set[str]]:
    """The modules with what they should not have, by name."""
    return {name_of(path): wrong for path in paths if (wrong := found(path))}


def modules_loaded_by(statement: str) -> set[str]:
    """Names of the modules in memory after a fresh interpreter has run `statement`."""
    program = f"{statement}\nimport sys\nprint('\\nloaded:', *sys.modules)"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(finished.stdout.rpartition("loaded:")[2].split())


# ── rooms ───────────────────────────────────────────────────────────────────────────────────────


def test_every_room_has_its_rule() -> None:
    assert {room_of(path) for path in SOURCES} <= set(MAY_IMPORT)


def test_a_module_imports_only_what_its_room_may() -> None:
    def more_than_allowed(path: Path) -> set[str]:
        return rooms_imported(path) - MAY_IMPORT.get(room_of(path), set()) - {""}

    assert offenders(SOURCES, more_than_allowed) == {}


@pytest.mark.parametrize("room", ORDER)
def test_arrows_only_point_down(room: str) -> None:
    assert MAY_IMPORT[room] <= set(ORDER[: ORDER.index(room)])


def test_the_order_names_every_room() -> None:
    assert {*ORDER, ""} == set(MAY_IMPORT)


def test_the_root_holds_three_modules() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py", "agent.py"}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """`harness/__init__.py` is left out: it imports the names of the library when they are first used."""
    names = {module_of(path): path for path in SOURCES if path != PACKAGE / "__init__.py"}
    arrows = {
        name: {found for one in imports(path) if (found := _module_in(one, names))} - {name}
        for name, path in names.items()
    }
    while ends := [name for name, targets in arrows.items() if not targets]:
        for name in ends:
            del arrows[name]
        arrows = {name: targets - set(ends) for name, targets in arrows.items()}
    assert sorted(arrows) == []


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def _module_in(name: str, modules: Container[str]) -> str | None:
    """The module that an imported name means: itself, or the one that it comes from."""
    return next((one for one in (name, name.rpartition(".")[0]) if one in modules), None)


def test_only_the_commands_import_the_course_and_nothing_imports_a_test() -> None:
    def not_the_program(path: Path) -> set[str]:
        return packages_imported(path) & {"tests", "benchmarks", *(() if room_of(path) == "cli" else ("chapters",))}

    assert offenders(SOURCES, not_the_program) == {}
    assert not [path for path in COURSE if packages_imported(path) & {"tests", "benchmarks"}]


def test_the_engine_of_the_course_imports_no_chapter() -> None:
    """Chapters are loaded by name, when they are played."""
    chapters = {str(path): [name for name in imports(path) if CHAPTER.match(name)] for path in COURSE}
    assert not {path: found for path, found in chapters.items() if found}


# ── the policies are pure ───────────────────────────────────────────────────────────────────────

PURE_ROOMS = {"policies", "hooks"}
POLICIES = [path for path in SOURCES if room_of(path) in PURE_ROOMS]


def test_a_policy_imports_only_events_policies_and_what_does_no_io() -> None:
    assert POLICIES
    assert offenders(POLICIES, lambda path: packages_imported(path) - {"harness", *PURE}) == {}
    assert offenders(POLICIES, lambda path: rooms_imported(path) - {"events", "policies"}) == {}


@pytest.mark.parametrize("path", POLICIES, ids=name_of)
def test_a_policy_opens_prints_and_awaits_nothing(path: Path) -> None:
    tree = tree_of(path)
    body = [statement for statement in tree.body if "__main__" not in ast.unparse(statement)]
    called = {
        node.func.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"open", "print", "input", "exec", "eval", "__import__"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.Global)]


def test_the_recovery_policy_loads_neither_asyncio_nor_a_socket() -> None:
    loaded = modules_loaded_by("import harness.policies.recovery.tables")
    assert not loaded & {"asyncio", "socket", "random", "threading", "logging", "subprocess", *HEAVY}


# ── what stays light ────────────────────────────────────────────────────────────────────────────


def test_no_module_imports_a_heavy_package_at_its_top() -> None:
    def heavy(path: Path) -> set[str]:
        draws = name_of(path).startswith(SCREEN)
        return packages_imported(path, only_at_the_top=True) & (HEAVY - {"textual"} if draws else HEAVY)

    assert offenders(SOURCES, heavy) == {}
    at_the_top = {path: packages_imported(path, only_at_the_top=True) & HEAVY for path in COURSE}
    assert {path.parent.name for path, found in at_the_top.items() if found} <= {"screen", "site"}


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py", "cli/main.py", "cli/parser.py"])
def test_the_way_in_imports_nothing_but_light_modules(name: str) -> None:
    packages = packages_imported(PACKAGE / name, only_at_the_top=True)
    assert packages <= {"harness", "io", "sys", "collections", "typing"}


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_load_neither_the_sdk_nor_the_screen(flag: str) -> None:
    command = f"from harness.cli.main import main\ntry:\n    main([{flag!r}])\nexcept SystemExit:\n    pass"
    loaded = modules_loaded_by(command)
    assert "harness.cli.main" in loaded
    assert not loaded & {*HEAVY, *NEEDED_FOR_SETTINGS, "asyncio"}


def test_the_package_itself_loads_no_part_of_the_agent() -> None:
    assert not modules_loaded_by("import harness") & {"harness.agent", "asyncio", *HEAVY, *NEEDED_FOR_SETTINGS}


def test_the_agent_loads_no_heavy_package_before_it_is_used() -> None:
    assert not modules_loaded_by("from harness import Agent, tool") & HEAVY


def test_the_list_of_sessions_loads_nothing_that_runs_one() -> None:
    loaded = modules_loaded_by("import harness.cli.commands, harness.journal, harness.ui.lines.sessions")
    assert not loaded & {"harness.session", "harness.agent", *HEAVY}


def test_the_frame_is_painted_before_anything_heavy_is_loaded() -> None:
    loaded = modules_loaded_by("import harness.ui.app.run")
    assert "textual.app" in loaded
    assert not loaded & {
        *(HEAVY - {"textual"}),
        "pydantic",
        "pydantic_core",
        "dotenv",
        "markdown_it",
        "psutil",
    }
    late = {"harness.events", "harness.settings", "harness.session", "harness.agent", "harness.settings.logs"}
    late |= {"harness.ui.app.controller", "harness.ui.app.views", "harness.ui.transcript", "harness.ui.panel"}
    assert not loaded & late


def test_an_open_session_has_loaded_nothing_that_only_a_tool_or_an_answer_needs() -> None:
    loaded = modules_loaded_by("import harness.ui.app.run, harness.ui.app.controller, harness.settings.logs")
    assert "harness.session" in loaded
    assert not loaded & {"markdown_it", "psutil", "filelock", "tiktoken", "anthropic"}
