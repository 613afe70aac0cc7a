"""Imports the SDK with lazy packages, so that a request loads a third of its 3,154 modules.

`import anthropic` runs them all, because the `__init__` of each package imports the names of every module in it. Here
an `__init__` is parsed instead: its import statements say where each name is, and a name is imported when it is first
used. A package whose `__init__` does anything else is run as usual. Packages stay lazy for every user of the SDK in
the process: names, submodules, `dir` and `import *` work as they did.
"""

import ast
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, resolve_name
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

SDK = "anthropic"
NEEDED = ("AsyncAnthropic", "AsyncStream", "DefaultAsyncHttpxClient", "Omit")  # by every request
_RENAMING = """\
for __name in __all__:
    if not __name.startswith('__'):
        try:
            __locals[__name].__module__ = 'anthropic'
        except (TypeError, AttributeError):
            pass"""
_IMPORT = Lock()
"""Held by the thread that imports: each agent of a process loads the SDK in a thread of its own."""
_CARRIED_OUT = ("_setup_logging()", "__locals = locals()", _RENAMING)  # by _LazyLoader


def import_lazily() -> None:
    """Import the SDK with lazy packages, unless it was imported before. Where that fails, nothing has changed."""
    with _IMPORT:
        if SDK not in sys.modules:
            _import_lazily()


def _import_lazily() -> None:
    finder = _LazyFinder()
    sys.meta_path.insert(0, finder)
    try:
        _ = [getattr(import_module(SDK), name) for name in NEEDED]
    except Exception:  # noqa: BLE001 (boundary: another version may be built in any way)
        for name in [name for name in sys.modules if name.partition(".")[0] == SDK]:
            del sys.modules[name]
    finally:
        sys.meta_path.remove(finder)


class _LazyFinder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != SDK:
            return None
        finders = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)
        if spec is not None and spec.submodule_search_locations and type(spec.loader) is SourceFileLoader:
            spec.loader = _LazyLoader(name, spec.loader.path)
        return spec


class _LazyLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        names, public = _names(package := module.__name__, Path(self.path))
        if "" in names.values():
            super().exec_module(module)
            return

        def value_of(name: str) -> Any:
            if name in names:
                source, _, there = names[name].partition(":")
                value = getattr(import_module(source), there) if there else import_module(source)
                if package == SDK and name in public and not name.startswith("__"):
                    with suppress(TypeError, AttributeError):
                        value.__module__ = package
                setattr(module, name, value)
                return value
            # After a plain import all submodules are attributes, because something imports each of them.
            if name.startswith("__") or find_spec(f"{package}.{name}") is None:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            return import_module(f"{package}.{name}")

        vars(module).update(__getattr__=value_of, __dir__=lambda: sorted({*vars(module), *names}), __all__=public)
        if package == SDK:
            value_of("_setup_logging")()


def _names(package: str, file: Path) -> tuple[dict[str, str], list[str]]:
    """Where each name of a package is, as "module" or "module:name"; "" if only running it tells. Its `__all__`."""
    names, public = dict[str, str](), list[str]()
    for node in ast.parse(file.read_bytes()).body:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.ImportFrom():
                names |= _imported(package, file, node)
            case ast.If(body=[ast.ImportFrom() as inner], orelse=[]) if (
                ast.unparse(node.test) == "not _t.TYPE_CHECKING"
            ):
                names |= _imported(package, file, inner)
            case ast.Import(names=[ast.alias(name=source, asname=str(name))]):
                names[name] = source
            case _ if package == SDK and ast.unparse(node) in _CARRIED_OUT:
                pass
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                public = ast.literal_eval(node.value)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = ""
            case _:
                names["?"] = ""
    return names, public or [name for name in names if not name.startswith("_")]


def _imported(package: str, file: Path, node: ast.ImportFrom) -> dict[str, str]:
    """Where the names are that an import statement binds."""
    source, module = resolve_name("." * node.level + (node.module or ""), package), node.module or ""
    named = {alias.asname or alias.name: alias.name for alias in node.names}
    if "*" in named:
        inner, public = _names(source, file.parents[node.level - 1].joinpath(*module.split("."), "__init__.py"))
        return {"?": ""} if "?" in inner else {name: f"{source}:{name}" for name in public}
    if module in named:  # a name that hides its own module: which of them is seen depends on the order of imports
        return {module: ""}
    return {name: f"{source}:{there}" if module else f"{source}.{there}" for name, there in named.items()}
