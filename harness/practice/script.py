"""A script: what the practice model answers, entry by entry. The TOML form is described in SCRIPTS.md.

A script is a value. Tests may build one from `ScriptEntry`s; people write TOML, which is read here.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.practice.entry_toml import step_of, when_of
from harness.practice.rules import MODELS, Profile, ServedModel, ServerRules
from harness.practice.script_entries import MIX, USUAL, Chance, ScriptEntry
from harness.practice.toml_table import ScriptError, ShippedFiles, Table, table_of

KIND = ShippedFiles("scripts", "script file")


class After(StrEnum):
    """What happens when the list is used up."""

    IMPROVISE = "improvise"
    """The rule-based model answers, or the upstream server of a proxy."""
    REPEAT = "repeat"
    """The list starts again."""
    ERROR = "error"
    """Status 400, and the client stops."""


@dataclass(frozen=True, slots=True)
class Script:
    """Replies and faults, one for each POST to /v1/messages."""

    steps: Sequence[ScriptEntry] = ()
    after: After = After.IMPROVISE
    rules: ServerRules = field(default_factory=ServerRules)
    chance: Chance | None = None
    """Faults thrown in at random, on top of the list."""
    name: str = "script"

    @staticmethod
    def load(source: Path | str) -> "Script":
        """Read a script file, or one that is shipped, by its name (`Script.shipped()`).

        Raises ScriptError, which names the file, the entry and the remedy.
        """
        return _script(*KIND.read(source))

    @staticmethod
    def parse(text: str, name: str = "script") -> "Script":
        """Read a script from TOML text. Raises ScriptError, which calls it by `name`."""
        return _script(text, name)

    @staticmethod
    def shipped() -> tuple[str, ...]:
        """Names of the scripts that come with the program."""
        return KIND.shipped()


def _script(text: str, name: str) -> Script:
    """Read a script from TOML text. Raises ScriptError, one sentence with the entry."""
    top = table_of(text, name)
    entries = top.any("reply") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ScriptError(f"{name}: reply must be a list of tables; write [[reply]], with two brackets.")
    after = top.choice("after", list(After))
    server = top.table("server", f"{name}, [server]")
    chance = top.table("chance", f"{name}, [chance]")
    given = top.mapping("profile")
    top.done()
    rules = _rules(server) if server else ServerRules()
    return Script(
        steps=tuple(step_of(Table(entry, f"{name}, entry {number}")) for number, entry in enumerate(entries, 1)),
        after=After(after or After.IMPROVISE),
        rules=dataclasses.replace(rules, profile=_profile(given, text, name)) if given else rules,
        chance=_chance(chance) if chance else None,
        name=name,
    )


def _rules(table: Table) -> ServerRules:
    checks = table.choice("checks", ("strict", "off"))
    overflow = table.choice("overflow", ("error", "accept"))
    required = table.flag("key_required")
    models = table.texts("models")
    betas = table.texts("betas")
    rules = ServerRules(
        models=MODELS if models is None else tuple(_model(id) for id in models),
        window=table.whole("window", 1),
        max_output=table.whole("max_output", 1),
        strict_overflow=None if overflow is None else overflow == "error",
        key=table.text("key"),
        key_required=True if required is None else required,
        strict=checks != "off",
        bind_thinking=table.flag("bind_thinking") or False,
        betas=frozenset(betas or ()),
    )
    table.done()
    return rules


def _profile(given: Mapping[str, Any], text: str, name: str) -> Profile:
    """The profile of a script; a mistake in it is named with its line."""
    tables = {key: Table({key: value}, f"{name}, line {_line(text, key)}") for key, value in given.items()}
    for table in tables.values():
        table.expect("thinking", "display", "tokens", "summary_tokens")
    thinking = tables["thinking"].choice("thinking", ("adaptive", "none")) if "thinking" in tables else None
    display = tables["display"].choice("display", ("omitted", "summarized")) if "display" in tables else None
    return Profile(
        thinks=None if thinking is None else thinking == "adaptive",
        shows_thinking=None if display is None else display == "summarized",
        tokens=tables["tokens"].whole("tokens", 1) if "tokens" in tables else None,
        summary_tokens=tables["summary_tokens"].whole("summary_tokens", 1) if "summary_tokens" in tables else None,
    )


def _line(text: str, key: str) -> int:
    """The line of a key of [profile], or of its header."""
    header, inside = 1, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            inside = re.match(r"\s*\[\s*profile\s*\]", line) is not None
            header = number if inside else header
        elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
        elif not inside and re.match(r"\s*profile\b", line):
            header = number
    return header


def _model(id: str) -> ServedModel:
    known = ServerRules().model(id)
    return ServedModel(id, 200_000, 64_000) if known is None else dataclasses.replace(known, id=id)


def _chance(table: Table) -> Chance:
    probability = table.number("probability", most=1)
    mix = table.texts("faults")
    seed = table.whole("seed")
    when = when_of(table)
    table.done()
    if probability is None:
        raise table.error("probability is missing; give a number between 0 and 1")
    return Chance(probability, seed or 0, checked_mix(table, mix) if mix is not None else USUAL, when)


def checked_mix(table: Table, mix: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a mix of random faults, all of them known."""
    for name in mix:
        Table({"faults": name}, table.place).choice("faults", MIX)
    if not mix:
        raise table.error(f"faults must name at least one of {', '.join(MIX)}")
    return mix
