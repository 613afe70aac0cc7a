"""The learner's journal in a program that is killed, and in the next one, which asks a server with what it reads."""

import asyncio
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2

from chapters.course import DemoSession
from chapters.s25_journal.demo import killed_at_work, tear
from harness.events import Notice

HEADERS = {"x-api-key": DemoSession.KEY, "anthropic-version": "2023-06-01"}
MOST_S = 8.0
"""Seconds until the first program has rung the bell."""


def said(text: str, role: str = "user") -> dict[str, Any]:
    """The event of a message with text."""
    return {"type": "message", "role": role, "content": [{"type": "text", "text": text}]}


def reply() -> dict[str, Any]:
    """The event of a reply with two calls."""
    commands = {"toolu_plum": "echo plum >> jars.txt", "toolu_quince": "echo quince >> jars.txt"}
    calls = [
        {"type": "tool_use", "id": call, "name": "bash", "input": {"command": command}}
        for call, command in commands.items()
    ]
    return {"type": "message", "role": "assistant", "content": calls}


async def answered(session: DemoSession, messages: object) -> str:
    """The text of the server's answer to a history; empty: it refused it."""
    tool = {"name": "bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}
    body = {"model": session.MODEL, "max_tokens": 500, "messages": messages, "tools": [tool]}
    async with httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=10) as client:
        response = await client.post(f"{session.address}/v1/messages", json=body)
    found = response.json()
    if response.status_code != httpx2.codes.OK:
        session.show(Notice("error", f"{response.status_code}: {found['error']['message']}"))
        return ""
    return str(found["content"][0]["text"])


async def demo(session: DemoSession, work: ModuleType) -> None:
    """The first prompt is the killed program's, each later one a request with the whole history."""
    prompts = session.prompts()
    path = session.workspace / "journal.jsonl"
    order = {"file": str(work.__file__), "journal": str(path), "events": [said(await anext(prompts)), reply()]}
    program = Path(__file__).parent / "play" / "killed.py"
    async with asyncio.timeout(MOST_S):
        code = await killed_at_work([program], order, session.workspace)
    left = path.read_bytes().count(b"\n") if path.exists() else 0
    session.show(Notice("warning", f"killed by signal {-code}, with {left} lines in the journal"))
    tear(path)
    journal: Any = work.Journal(path)
    async for prompt in prompts:
        journal.append(said(prompt))
        events = work.read(path)
        numbers = ", ".join(str(event.get("seq")) for event in events)
        session.show(Notice("info", f"the events that are read have the numbers {numbers or 'none'}"))
        if text := await answered(session, work.history(events)):
            journal.append(said(text, "assistant"))
    journal.close()
