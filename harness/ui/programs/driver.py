"""`harness --input-format stream-json`: a session whose user is a program.

Each line of standard input is one message of the program, each line of standard output one message of the session; both
use the names that programs know from Claude Code (docs/programs.md).
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO
from uuid import uuid4

from harness.base.errors import HarnessError, SettingsError
from harness.events import Event, Json, PauseReport, TurnEnded
from harness.session import Opening, Session, open_session
from harness.settings import LoadedSettings, Settings
from harness.ui.driver import SessionDriver
from harness.ui.lines.line import Groups, Line, Tone, in_columns
from harness.ui.plain.headless import MOST_ARRIVALS, notes_of, print_note, result
from harness.ui.plain.streams import LineWriter
from harness.ui.plain.unattended import BackgroundWait, Unattended
from harness.ui.programs.asker import ProgramAsker
from harness.ui.programs.control import ControlChannel
from harness.ui.programs.initialization import APPLIED, BROUGHT, initialized, request_in
from harness.ui.programs.messages import MODES, MessageFold, commands_of, servers_of
from harness.ui.sent_images import mention_of_image
from harness.ui.signals import handle_signals
from harness.ui.turn_queue import Item, ItemEnd

SERVERS_S = 10.0
"""Seconds that the answer to `initialize` waits for MCP servers."""
PATIENCE_S = 8.0
"""Seconds without anything read, after which a program that has closed the input counts as gone."""


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What a program asked for on the command line."""

    asks: bool = False
    """It answers permission questions; else they are refused."""
    partial: bool = False
    """It reads pieces of an answer as they arrive."""
    replays: bool = False
    """It reads its own prompts as they are taken."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the session begins with, once the first message has come."""

    loaded: LoadedSettings
    opening: Opening
    reread: Callable[[], Settings]


async def serve_program(
    start: Start,
    options: ProgramOptions,
    lines: AsyncIterator[bytes],
    streams: tuple[TextIO, TextIO],
    log: logging.Logger,
) -> int:
    """Run the session until the input and all work have ended; returns the exit code.

    `streams`: standard output and standard error. Raises HarnessError if the session cannot be opened or a line cannot
    be understood, and BrokenPipeError, after closing the session, if the reader of the output has gone.
    """
    driver = ProgramDriver(start, options, streams, log)
    with handle_signals() as signalled:
        try:
            signalled.interrupts(driver.stop_now)
            async with driver.writer:
                try:
                    await driver.run(lines)
                finally:
                    await driver.aclose()
        except BrokenPipeError:
            driver.gone = True
        except asyncio.CancelledError:
            if not signalled.number:
                raise
    if driver.writer.gave_up:
        print_note("Nothing reads standard output, so the rest of it is lost.", streams[1])
    if driver.gone:
        raise BrokenPipeError
    return signalled.exit_code if signalled.number else driver.exit_code


class ProgramDriver(SessionDriver):
    """One program, one session."""

    attended = False

    def __init__(
        self, start: Start, options: ProgramOptions, streams: tuple[TextIO, TextIO], log: logging.Logger
    ) -> None:
        super().__init__(log)
        self._start = start
        self._options = options
        self.writer, self._err = LineWriter(streams[0]), streams[1]
        self._channel = ControlChannel(self._write)
        self._fold: MessageFold | None = None
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()
        self._wait: BackgroundWait | None = None
        self._item: ItemEnd | None = None
        self._turn: TurnEnded | None = None
        self._texts: list[str] = []
        """What the running command has shown."""
        self._initialization: Json = {}
        self._refusal = ""
        """Why the session has not what its first message asked for."""
        self._taken: set[str] = set()
        """Ids of prompts."""
        self._stops_next = False
        """The next item was stopped before it could begin."""
        self.gone = False
        """The reader of the output has gone."""
        self.exit_code = 0
        """Of the last turn."""

    # ── the session ─────────────────────────────────────────────────────────────────────────────

    async def _open(self, first: Json) -> None:
        """Open the session with what the first message brings. Raises HarnessError."""
        start, options = self._start, dict[str, Any]()
        loaded, self._initialization = start.loaded, request_in(first)
        try:
            loaded, options = initialized(self._initialization, loaded, self._channel)
        except HarnessError as error:
            self._refusal = str(error)
        asker = ProgramAsker(self._channel, self.interrupt) if self._options.asks else Unattended()
        options |= {"reread": start.reread, "log": self._log}
        session = await open_session(loaded, asker, start.opening, observer=self._observe, **options)
        self.attach(session)
        session.inbox.notify(self._changed.set)
        self._fold = MessageFold(session, partial=self._options.partial)
        for note in (*notes_of(loaded), *session.retirements, *filter(None, [session.take_sandbox_notice()])):
            print_note(note, self._err)

    def _observe(self, event: Event, at: float) -> None:
        self.on_event(event)
        if isinstance(event, TurnEnded):
            self._turn = event
        if self._fold is not None:  # not while the journal is replayed
            for message in self._fold.messages(event):
                self._write(message)

    def _write(self, message: Json) -> None:
        if self.gone:
            return
        try:
            self.writer.write(json.dumps(message))
        except BrokenPipeError:
            self._leave_reader()

    def _leave_reader(self) -> None:
        self.gone = True
        self.stop()

    async def keep_pace(self) -> None:
        """Wait for the program to read; one that has gone ends the run."""
        try:
            await self.writer.keep_pace()
        except BrokenPipeError:
            self._leave_reader()

    # ── the run ─────────────────────────────────────────────────────────────────────────────────

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Run everything that the program sends, and what follows from it, to the end. Raises HarnessError."""
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._read(lines))
                reading.add_done_callback(lambda _: self._changed.set())
                await self._work(reading)
                reading.cancel()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed

    async def _read(self, lines: AsyncIterator[bytes]) -> None:
        number = 0
        try:
            async for line in lines:
                number += 1
                if line.strip():
                    message = _message(line, number)
                    if not self.is_open:
                        await self._open(message)
                    await self._receive(message)
                    self._changed.set()
            if not self.is_open:
                await self._open({})
        finally:
            self._channel.close()
            self.writer.limit(PATIENCE_S)

    async def _work(self, reading: "asyncio.Task[None]") -> None:
        """Run items until the input has ended and nothing more arrives."""
        arrivals = 0
        while not self._ended.is_set():
            self._changed.clear()
            if not self.is_open:
                if reading.done():
                    return  # it failed
                await self._changed.wait()
            elif await self.run_next():
                self._show_result()
            elif not reading.done():
                await self._changed.wait()
            elif arrivals == MOST_ARRIVALS or not await self._more_arrives():
                self._ended.set()
            else:
                arrivals += 1
                self.queue.release()

    async def _more_arrives(self) -> bool:
        """Wait for results of background work after the end of the input. False: there are none."""
        if self._wait is None:
            self._wait = BackgroundWait(self.session, self.session.settings.background_wait_s, self._note)
        return not self._wait.given_up and await self._wait.come()

    def stop(self) -> None:
        """End the turn, and the program after it."""
        self.end_turn()
        self._ended.set()
        self._changed.set()
        if self._wait is not None:
            self._wait.stop()

    def stop_now(self) -> None:
        """End the turn and the program, without waiting for a reader that reads nothing."""
        self.writer.end()
        self.stop()

    # ── messages of the program ─────────────────────────────────────────────────────────────────

    async def _receive(self, message: Json) -> None:
        match message:
            case {"type": "user", "message": {"content": content}}:
                uuid = str(message.get("uuid") or uuid4())
                self._send_back(message, uuid)
                if uuid not in self._taken:
                    self._taken.add(uuid)
                    await self._take(content, message.get("priority"))
            case {"type": "control_request", "request_id": request_id, "request": {"subtype": "initialize"} as request}:
                self.later(self._initialize(request_id, request))
            case {"type": "control_request", "request_id": request_id, "request": {"subtype": str(subtype)} as request}:
                self._answer_control(request_id, subtype, request)
            case {"type": "control_response"}:
                self._channel.receive(message.get("response"))
            case {"type": "control_cancel_request" | "keep_alive"}:
                pass
            case _:
                raise SettingsError(f"Standard input has a message that is not known: {json.dumps(message)[:200]}")

    def _send_back(self, message: Json, uuid: str) -> None:
        """Show the program a prompt of its own, where it wants that."""
        if self._options.replays and self._fold is not None:
            back = {"parent_tool_use_id": None, **message, "isReplay": True}
            self._write(self._fold.stamped(back) | {"uuid": uuid})

    async def _take(self, content: object, priority: object) -> None:
        """Take a prompt: it joins the running turn unless it is to be run later, or at once. One that cannot be run has
        a result that says why."""
        try:
            prompt = await _prompt(content, self.session)
        except HarnessError as error:
            self._write_result(_NO_TURN | {"reason": str(error), "subtype": "error_during_execution", "is_error": True})
            return
        if priority == "now":
            self.interrupt()
        if priority in ("now", "later"):
            self.put(prompt)
        else:
            self.submit(prompt)

    def _answer_control(self, request_id: object, subtype: str, request: Json) -> None:
        try:
            self._channel.answer(request_id, self._control(subtype, request))
        except HarnessError as error:
            self._channel.refuse(request_id, str(error))

    def _control(self, subtype: str, request: Json) -> Json:
        """Do what a request asks for, and return the answer. Raises HarnessError."""
        session = self.session
        match subtype:
            case "initialize":
                if request is not self._initialization and any(map(request.get, BROUGHT)):
                    raise HarnessError("Hooks and MCP servers of a program have to come with its first message.")
                if self._refusal:
                    raise HarnessError(self._refusal)
                return self._introduction()
            case "interrupt":
                if not self.interrupt() and not self.queue.stop():  # it may have begun, its first event still to come
                    self._stops_next = len(self.queue) > 0
            case "set_permission_mode":
                theirs = {name: own for own, name in MODES.items()}
                mode = str(request.get("mode"))
                session.permissions.set_mode(theirs.get(mode, mode))
            case "set_model":
                if not isinstance(model := request.get("model") or session.settings.model, str):
                    raise HarnessError("The model has to be a name.")
                session.models.select(model)
            case "mcp_status":
                return {"mcpServers": servers_of(session)}
            case "mcp_reconnect" | "mcp_toggle":
                name = str(request.get("serverName"))
                if session.mcp is None or (server := session.mcp.get(name)) is None:
                    raise HarnessError(f"There is no MCP server {name}.")
                change = session.mcp.switch_off if request.get("enabled") is False else session.mcp.restart
                change(server)
            case _:
                raise HarnessError(f"The request {subtype} is not supported.")
        return {}

    async def _initialize(self, request_id: object, request: Json) -> None:
        """Answer once the tools of servers are known, so that the first prompt has them."""
        if self.session.mcp is not None:
            await self.session.mcp.settle(SERVERS_S)
        self._answer_control(request_id, "initialize", request)

    def _introduction(self) -> Json:
        session = self.session
        models = [{"value": name, "displayName": name, "description": ""} for name, *_ in session.models.choices()]
        return {
            "commands": commands_of(session),
            "models": models,
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "account": {},
            **APPLIED,
        }

    # ── called by the base class ────────────────────────────────────────────────────────────────

    def show_text(self, text: str, heading: str = "") -> None:
        self._texts.append(text)
        if self._fold is not None:
            self._write(self._fold.stamped({"type": "system", "subtype": "local_command_output", "content": text}))

    def show_line(self, line: Line) -> None:
        if line.tone is Tone.TROUBLE:
            self._texts.append(line.text)
        self._note(str(line))

    def show_list(self, groups: Groups) -> None:
        self.show_text(in_columns(groups))

    def begun(self, item: Item) -> None:
        self._turn, self._texts = None, []
        if self._stops_next:
            self._stops_next = not self.queue.stop()
        if self._fold is not None:
            self._write(self._fold.init())

    def ended(self, end: ItemEnd, given_back: Sequence[str]) -> None:
        self._item = end
        for line in given_back:  # a stop ends the turn, not what the program has sent besides
            self.put(line)

    async def ask_how_to_continue(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        return None

    async def switch(self, opening: Opening, text: str) -> None:
        raise HarnessError("A program keeps to one session; start another one with --resume.")

    def leave(self, code: int = 0) -> None:
        self.exit_code = code or self.exit_code
        self.stop()

    # ── what is written ─────────────────────────────────────────────────────────────────────────

    def _show_result(self) -> None:
        """Write the result of the item that has ended."""
        item, self._item = self._item, None
        if item is None or self._fold is None:
            return
        if self._turn is not None:
            fields = result(self._turn, self.session.id)
        else:
            fields = _NO_TURN | {"result": "\n".join(self._texts)}
        if item.error is not None or (item.stopped and self._turn is None):
            fields |= {"subtype": "error_during_execution", "is_error": True, "reason": "\n".join(self._texts)}
        self._write_result(fields)

    def _write_result(self, fields: Json) -> None:
        if fields["is_error"]:
            fields["errors"] = [fields["reason"]]
        fields |= {"duration_api_ms": fields["duration_ms"], "exit_code": int(fields["is_error"])}
        self.exit_code = fields["exit_code"]
        if self._fold is not None:
            self._write(self._fold.stamped(fields))

    def _note(self, text: str) -> None:
        print_note(text, self._err)


_NO_TURN: Json = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "",
    "duration_ms": 0,
    "num_turns": 0,
    "total_cost_usd": 0.0,
    "permission_denials": [],
}
"""The result of what was no turn."""


def _message(line: bytes, number: int) -> Json:
    """The message in a line. Raises SettingsError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"Line {number} of standard input is not JSON: {error}.") from error
    if not isinstance(message, dict):
        raise SettingsError(f"Line {number} of standard input is not a JSON object.")
    return message


async def _prompt(content: object, session: Session) -> str:
    """The prompt in the content of a message; images are kept as files and named in it. Raises SettingsError."""
    parts = []
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        match block:
            case {"type": "text", "text": str(text)}:
                parts.append(text)
            case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
                parts.append(await mention_of_image(data, session))
            case _:
                raise SettingsError(f"A prompt has content that is not supported: {json.dumps(block)[:200]}")
    prompt = "\n\n".join(parts)
    if not prompt.strip():
        raise SettingsError("The prompt is empty.")
    return prompt
