"""One session in an editor: its prompts, its settings, and what it shows."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.base.errors import HarnessError, SettingsError
from harness.base.external_text import visible
from harness.events import (
    OWN_EFFORT,
    Effort,
    Event,
    Json,
    McpServerChanged,
    PauseReport,
    SettingChanged,
    TransitionCode,
    TurnEnded,
)
from harness.session import Opening, exit_code, open_session
from harness.settings import LoadedSettings, Settings
from harness.ui.acp.asker import AcpAsker
from harness.ui.acp.client import Client
from harness.ui.acp.updates import UpdateFold
from harness.ui.commands.commands import all_commands
from harness.ui.commands.session_commands import MODES
from harness.ui.driver import STOPPED, SessionDriver
from harness.ui.lines.line import Groups, Line, Tone, in_columns
from harness.ui.turn_queue import Item, ItemEnd, TypedLine

T = TypeVar("T")

NO_KEY = (
    "No key is set, so the practice model answers. Put ANTHROPIC_API_KEY into the environment of the agent in the "
    "settings of your editor; `harness doctor` shows what is used."
)


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """How a prompt ended."""

    stop_reason: str = "end_turn"
    problem: str = ""
    """Why there is no whole answer; empty: there is one, or the user stopped."""


class AcpDriver(SessionDriver):
    """One session of an editor."""

    def __init__(self, client: Client, log: logging.Logger) -> None:
        super().__init__(log)
        self._client = client
        self._asker = AcpAsker(client)
        self._fold: UpdateFold | None = None
        self._replays = False
        self._is_live = False
        self._turn: TurnEnded | None = None
        self._problem = ""
        self._prompts: list[asyncio.Future[PromptEnd]] = []
        """The prompts that wait for their end; those that joined a turn end with it."""

    async def open(
        self, loaded: LoadedSettings, opening: Opening, reread: Callable[[], Settings], *, replays: bool = False
    ) -> None:
        """Open the session. `replays`: the editor is shown what happened so far. Raises HarnessError."""
        self._fold = UpdateFold(loaded.settings.workspace, notices=self._client.shows_notices)
        self._asker.fold, self._asker.session_id, self._replays = self._fold, opening.resume or "", replays
        session = await open_session(loaded, self._asker, opening, reread=reread, observer=self._observe, log=self._log)
        self._asker.session_id, self._is_live = session.id, True
        self.attach(session)
        self.start_turns()
        notes = [*session.retirements, *filter(None, [session.take_sandbox_notice()])]
        notes += [NO_KEY] if loaded.origins["practice"].startswith("default:") else []
        await self._client.flush()
        asyncio.get_running_loop().call_soon(self._greet, notes)  # behind the answer that names the session

    def _observe(self, event: Event, at: float) -> None:
        self.on_event(event)
        fold = self._fold
        if fold is None or not (self._is_live or self._replays):
            return
        for update in fold.updates(event) if self._is_live else fold.replayed(event):
            self._update(update)
        match event:
            case TurnEnded():
                self._turn = event
            case McpServerChanged() if self._is_live:
                self._show_commands()
            case SettingChanged("permission_mode" | "model" | "effort") if self._is_live:
                asyncio.get_running_loop().call_soon(self._show_options)  # once the change has been made

    def _show_options(self) -> None:
        self._update({"sessionUpdate": "config_option_update", "configOptions": self.config_options()})

    def _update(self, update: Json) -> None:
        self._client.update(self._asker.session_id, update)

    def _greet(self, notes: Sequence[str]) -> None:
        for note in notes:
            self.show_line(Line("!", note, Tone.TROUBLE))
        self._show_commands()

    def _show_commands(self) -> None:
        commands = [
            {"name": one.name, "description": one.help} | ({"input": {"hint": one.arguments}} if one.arguments else {})
            for one in all_commands(self.session)
            if one.name != "exit"
        ]
        self._update({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    # ── prompts ─────────────────────────────────────────────────────────────────────────────────

    async def prompt(self, text: str) -> PromptEnd:
        """Run a prompt, or give it to the running turn; returns when the turn has ended."""
        ended: asyncio.Future[PromptEnd] = asyncio.get_running_loop().create_future()
        self._prompts.append(ended)
        try:
            if self.queue.running is None:
                self.put(text)
            elif not self.submit(text):  # a command that works at any time, or a text that was refused
                await self.settle()
                self._prompts.remove(ended)
                ended.set_result(PromptEnd())
            return await ended
        finally:
            if ended in self._prompts:
                self._prompts.remove(ended)
            await self._client.flush()

    async def keep_pace(self) -> None:
        """Wait for the editor to read."""
        await self._client.keep_pace()

    def cancel(self) -> None:
        """End the turn, or what is about to be one."""
        if not self.interrupt() and not self.queue.stop():
            self.clear_queue()
            self._answer_prompts(PromptEnd("cancelled"))

    def _answer_prompts(self, end: PromptEnd) -> None:
        waiting, self._prompts = self._prompts, []
        _answer(waiting, end)

    async def aclose(self) -> None:
        await super().aclose()
        self._answer_prompts(PromptEnd("cancelled"))

    def begun(self, item: Item) -> None:
        self._turn, self._problem = None, ""
        if isinstance(item, TypedLine) and not self.session.name and not self.session.conversation.turn:
            self._update({"sessionUpdate": "session_info_update", "title": visible(" ".join(item.text.split())[:80])})

    def ended(self, end: ItemEnd, given_back: Sequence[str]) -> None:
        for line in given_back:
            self.show_line(Line("", f"not run, as you stopped: {line}"))
        if len(self.queue):
            return
        self.later(self._end_prompts(self._end_of(end), tuple(self._beside)))

    async def _end_prompts(self, end: PromptEnd, beside: Collection[asyncio.Task[None]]) -> None:
        """Answer the prompts of this turn once what ran beside it is shown."""
        prompts, self._prompts = self._prompts, []
        try:
            if beside:
                await asyncio.wait(beside)
        finally:
            _answer(prompts, end)

    def _end_of(self, end: ItemEnd) -> PromptEnd:
        turn = self._turn
        if end.stopped or end.at_once or (turn is not None and turn.code in STOPPED):
            return PromptEnd("cancelled")
        if end.error is not None or turn is None:
            return PromptEnd(problem=self._problem)
        if turn.code is TransitionCode.MAX_TURNS:
            return PromptEnd("max_turn_requests")
        return PromptEnd(problem="" if exit_code(turn.code) == 0 else f"{turn.reason} ({turn.code})")

    # ── settings ────────────────────────────────────────────────────────────────────────────────

    def config_options(self) -> list[Json]:
        """Mode, model and effort, with the values that can be chosen."""
        session = self.session
        models = list(dict.fromkeys([session.models.current, *(name for name, *_ in session.models.choices())]))
        options = [
            _select("mode", "Permissions", "mode", session.permissions.mode, MODES),
            _select("model", "Model", "model", session.models.current, dict.fromkeys(models, "")),
        ]
        if efforts := session.models.efforts:
            levels = {OWN_EFFORT: "the model's own", **{level.value: "" for level in efforts}}
            effort = session.models.effort or OWN_EFFORT
            options.append(_select("effort", "Effort", "thought_level", effort, levels))
        return options

    def set_option(self, name: str, value: str) -> None:
        """Set one of them. Raises HarnessError."""
        match name:
            case "mode":
                self.session.permissions.set_mode(value)
            case "model":
                self.session.models.select(value)
            case "effort" if value == OWN_EFFORT or value in tuple(Effort):
                self.session.models.set_effort(None if value == OWN_EFFORT else Effort(value))
            case _:
                raise SettingsError(f"There is no option {name} with the value {value!r}.")

    # ── called by the base class ────────────────────────────────────────────────────────────────

    def show_text(self, text: str, heading: str = "") -> None:
        if self._fold is not None:
            self._update(self._fold.message(text))

    def show_line(self, line: Line) -> None:
        if self._fold is not None:
            self._update(self._fold.notice(line))

    def show_error(self, error: BaseException) -> None:
        self._problem = str(error)
        super().show_error(error)

    def show_list(self, groups: Groups) -> None:
        self.show_text(f"```\n{in_columns(groups)}\n```")

    async def away(self, work: Coroutine[None, None, T]) -> T:
        work.close()
        raise HarnessError("A program that needs the terminal cannot run here; leave the second ! out.")

    async def ask_how_to_continue(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        return await self._asker.pause(report, open_tools)

    async def switch(self, opening: Opening, text: str) -> None:
        raise HarnessError("The editor opens, lists and closes sessions; use its own commands.")

    def leave(self, code: int = 0) -> None:
        self.show_text("The editor closes the session.")


def _answer(prompts: Sequence[asyncio.Future[PromptEnd]], end: PromptEnd) -> None:
    for prompt in prompts:
        if not prompt.done():
            prompt.set_result(end)


def _select(name: str, title: str, category: str, current: str, values: Mapping[str, str]) -> Json:
    options = [
        {"value": value, "name": value} | ({"description": text} if text else {}) for value, text in values.items()
    ]
    return {
        "id": name,
        "name": title,
        "category": category,
        "type": "select",
        "currentValue": str(current),
        "options": options,
    }
