"""A request loads a third of the SDK; other users of the SDK in the same process see no difference."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import anyio
import pytest
from anyio import to_thread

import harness
from harness.practice.script import Script
from harness.practice.server import PracticeServer

ROOT = Path(harness.__file__).parents[1]
SDK_MODULES = 1_100
"""Limit of the modules that a request loads of the SDK; a plain import loads three times as many."""
TURN = """\
import json, sys
from harness.cli.main import main

code = main(["-p", "hi"])
modules = sorted(sys.modules)
print(json.dumps([code, [name for name in modules if name.startswith(("anthropic", "harness.practice"))]]))
"""


def ran(program: str, *path: Path, argument: str = "", **environ: str) -> str:
    """The output of a program in a new process; `path` comes before the installed packages."""
    environ |= {"PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}
    command = [sys.executable, "-W", "error", "-c", dedent(program), argument]
    done = subprocess.run(command, env=os.environ | environ, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.anyio
@pytest.mark.parametrize("lazy", ["on", pytest.param("off", marks=pytest.mark.stories)])
async def test_a_turn_with_a_real_model_loads_a_third_of_the_sdk_and_nothing_of_the_practice_model(
    lazy: str, tmp_path: Path
) -> None:
    code, modules = await turn(tmp_path, HARNESS_LAZY_SDK=lazy)
    assert code == 0
    assert not [name for name in modules if name.startswith("harness")]
    assert (len(modules) <= SDK_MODULES) is (lazy == "on")


async def turn(folder: Path, *path: Path, **environ: str) -> tuple[int, list[str]]:
    """Exit code of a prompt, and the modules loaded of the SDK and the practice server."""
    async with PracticeServer(script=Script.parse('[[reply]]\ntext = "Hello."', "answers")) as server:
        environ |= {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-test", "HOME": str(folder)}
        environ |= {"HARNESS_STATE_DIR": str(folder), "HARNESS_WORKSPACE": str(folder)}
        output = await to_thread.run_sync(lambda: ran(TURN, *path, **environ))
    answer, *_, found = output.splitlines()
    assert answer == "Hello."
    code, modules = json.loads(found)
    return code, modules


def test_agents_that_load_the_sdk_at_the_same_time_wait_for_one_import() -> None:
    program = """
        import sys, time
        from concurrent.futures import ThreadPoolExecutor
        from importlib.abc import MetaPathFinder
        from threading import Barrier
        from harness.model.lazy_sdk import import_lazily

        class SlowDisk(MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "anthropic":
                    time.sleep(0.1)

        sys.meta_path.insert(0, SlowDisk())
        together = Barrier(8)

        def load(_: int) -> str:
            together.wait()
            import_lazily()
            import anthropic
            return anthropic.AsyncAnthropic.__name__

        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(load, range(8))) == {"AsyncAnthropic"}
        print(len([name for name in sys.modules if name.startswith("anthropic")]))
    """
    assert int(ran(program)) <= SDK_MODULES


# ── packages of this form and of others ─────────────────────────────────────────────────────────────

FILES = {
    "__init__": """
        from ._client import Omit, AsyncStream, AsyncAnthropic, DefaultAsyncHttpxClient
        from ._client import logging as _setup_logging
        from .lib import *
        from . import types

        __all__ = ["Omit", "Late", "types"]

        if not _t.TYPE_CHECKING:
            from .lib._late import Other as resources

        _setup_logging()
        __locals = locals()
        for __name in __all__:
            if not __name.startswith("__"):
                try:
                    __locals[__name].__module__ = "anthropic"
                except (TypeError, AttributeError):
                    pass
        """.replace("from ._client import Omit", "import typing as _t\n        from ._client import Omit", 1),
    "_client": """
        from .lib._late import Other
        from .types.model import MODEL
        class Omit: ...
        class AsyncAnthropic: ...
        class AsyncStream: ...
        class DefaultAsyncHttpxClient: ...
        def logging(): print("logging is set up")
        """,
    "lib/__init__": """
        from __future__ import annotations
        from ._late import Late as Late, _hidden
        from ._late import Other as Renamed
        """,
    "lib/_late": """
        class Late: ...
        class Other: ...
        _hidden = 1
        """,
    "types/__init__": """
        from .message import Message
        from .model import MODEL
        """,
    "types/message": "class Message: ...",
    "types/model": "MODEL = 'model'",
}
"""A small package of the form of the SDK."""
PROBE = """
    import anthropic, anthropic.lib, anthropic.types, pickle, pkgutil
    from anthropic import *

    def found(value):
        return isinstance(value, type) and value.__module__, getattr(value, "__qualname__", repr(value)[:20])

    print(Omit, Late, types.Message, anthropic.types.model.MODEL, pickle.loads(pickle.dumps(Late)))
    for package in (anthropic, anthropic.lib, anthropic.types):
        submodules = [one.name for one in pkgutil.iter_modules(package.__path__)]
        names = sorted(name for name in {*dir(package), *submodules} if not name.startswith("__"))
        print(*[(name, found(getattr(package, name))) for name in names], sep="\\n")
        print(hasattr(package, "nothing"), hasattr(package, "__wrapped__"), package.__doc__, package.__file__)
    """
LOADED = """
    import sys
    from harness.model.lazy_sdk import import_lazily

    import_lazily()
    print(*sorted(name for name in sys.modules if name.startswith("anthropic")))
    """


def sdk(folder: Path, changed: str = "", old: str = "", new: str = "") -> Path:
    """The small package, with a text of one of its modules replaced."""
    for name, indented in FILES.items():
        file = folder / "anthropic" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = dedent(indented).strip() + "\n"
        assert name != changed or old in text
        file.write_text(text.replace(old, new, 1) if name == changed else text)
    return folder


def test_a_package_of_this_form_is_lazy_and_looks_as_a_plain_one(tmp_path: Path) -> None:
    folder = sdk(tmp_path)
    logged, loaded = ran(LOADED, folder).splitlines()
    assert logged == "logging is set up"
    used = ["_client", "lib", "lib._late", "types", "types.model"]
    assert loaded.split() == ["anthropic", *(f"anthropic.{name}" for name in used)]
    assert ran(LOADED + PROBE, folder).splitlines()[2:] == ran(PROBE, folder).splitlines()[1:]


OTHER_FORMS = {
    "a name is assigned": ("__init__", "_setup_logging()", "_setup_logging()\nREGISTRY = {Late: 1}"),
    "the last loop does more": ("__init__", "pass", "print('cannot be renamed')"),
    "another condition": ("__init__", "not _t.TYPE_CHECKING", "_t.TYPE_CHECKING or Late"),
    "no logging": ("__init__", "_setup_logging()", ""),
    "no function for logging": ("_client", "def logging(): print", "logging = lambda: print"),
    "a name is calculated": ("lib/__init__", "from ._late import Other as Renamed", "Renamed: type = Late"),
    "a function": ("lib/__init__", "from ._late import Other as Renamed", "def Renamed(): ..."),
    "a name hides its module": ("types/message", "class Message: ...", "class Message: ...\ndef message(): ..."),
    "a submodule hides nothing": ("types/__init__", "from .message import Message", "from .message import *"),
    "a name comes later": ("types/__init__", "from .model import MODEL", "from .model import MODEL\nMODEL = 'other'"),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_package_of_another_form_works_as_with_a_plain_import(form: str, tmp_path: Path) -> None:
    folder = sdk(tmp_path, *OTHER_FORMS[form])
    if form == "a name hides its module":
        init = folder / "anthropic/types/__init__.py"
        init.write_text(init.read_text() + "from .message import message\n")

    def seen(program: str) -> list[str]:
        return [
            line for line in ran(program, folder).splitlines() if line and not line.startswith(("anthropic", "logging"))
        ]

    assert seen(LOADED + PROBE) == seen(PROBE)


def test_what_fails_with_a_plain_import_fails_in_the_same_way(tmp_path: Path) -> None:
    folder = sdk(tmp_path, "_client", "class AsyncAnthropic", "class Anthropic")
    program = """
        import sys
        from harness.model.sdk import load
        try:
            load(lazy=sys.argv[1] == "lazy")
        except ImportError as error:
            print(error, [name for name in sys.modules if name.startswith("anthropic")], len(sys.meta_path))
        """
    lazy, plain = (ran(program, folder, argument=how).splitlines()[-1] for how in ("lazy", "plain"))
    assert lazy == plain
    assert plain.startswith("cannot import name 'AsyncAnthropic' from 'anthropic._client'")


def test_an_sdk_that_is_imported_already_is_left_alone(tmp_path: Path) -> None:
    program = """
        import anthropic
        del anthropic.AsyncStream
        before = dict(vars(anthropic))
        from harness.model.sdk import load
        load()
        import anthropic as again
        assert again is anthropic
        assert vars(anthropic) == before
        """
    ran(program, sdk(tmp_path))


# ── the versions that pyproject.toml allows ─────────────────────────────────────────────────────────

ALLOWED = next(
    one for one in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"] if "anthropic" in one
)
EVERY_NAME = """
    import sys
    from harness.model.sdk import load

    load(lazy=sys.argv[1] == "lazy")
    import anthropic, anthropic.types.beta, anthropic.resources, anthropic.lib.bedrock, anthropic.lib.vertex
    for package in (anthropic, anthropic.types, anthropic.types.beta, anthropic.resources, anthropic.lib.bedrock):
        for name in sorted(name for name in dir(package) if not name.startswith("__") and name.isidentifier()):
            value = getattr(package, name)
            if not isinstance(value, type(sys)):  # submodules are listed once they are imported
                module = isinstance(value, type) and value.__module__
                print(package.__name__, name, module, getattr(value, "__qualname__", repr(value)[:30]))
    """


@pytest.mark.wheel
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "wanted",
    [ALLOWED.partition(",")[0].replace(">=", "=="), ALLOWED, ALLOWED.replace("anthropic", "anthropic[bedrock,vertex]")],
)
def test_every_sdk_that_is_allowed_is_loaded_in_part_and_answers(wanted: str, tmp_path: Path) -> None:
    sdk = tmp_path / "sdk"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(sdk), wanted]
    subprocess.run([*install, *(() if "[" in wanted else ("--no-deps",))], check=True)
    code, modules = anyio.run(turn, tmp_path, sdk)
    assert (code, 100 < len(modules) <= SDK_MODULES) == (0, True)
    assert ran(EVERY_NAME, sdk, argument="lazy") == ran(EVERY_NAME, sdk, argument="plain")
    tests = [ROOT / "tests/model" / f"test_{name}.py" for name in ("client", "client_practice", "platforms")]
    command = [sys.executable, "-m", "pytest", "-n", "2", *map(str, tests)]
    environ = os.environ | {"PYTHONPATH": str(sdk)}
    played = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert played.returncode == 0, played.stdout
    assert ("skipped" in played.stdout) is ("[" not in wanted)
