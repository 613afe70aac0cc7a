"""What an unknown slash command was probably meant to be."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

_WORDS = {
    "add-dir": "adddir add-directory workspace folder directory",
    "agents": "subagents",
    "team": "members teammates mailbox",
    "background": "bg bashes jobs processes ps shells",
    "checklist": "todo todo-list",
    "clear": "begin cls clean empty forget new new-chat newchat restart start-over wipe",
    "compact": "compress condense shorten smol summarise summarize summary",
    "config": "configuration options preferences prefs settings",
    "context": "ctx memory-usage size tokens window",
    "copy": "clip clipboard yank",
    "cost": "bill money price spend stats",
    "cron": "at every loop remind reminder schedule timer",
    "diff": "changes changed git-diff modified",
    "doctor": "auth check debug health key login logout setup troubleshoot version",
    "effort": "reasoning think thinking",
    "exit": "bye close end leave logoff q stop",
    "export": "dump html markdown md save share transcript",
    "fork": "branch duplicate",
    "help": "? commands h info man manual usage-help",
    "hooks": "hook",
    "init": "agents-md agents.md claude-md onboard",
    "keys": "bindings hotkeys keybindings keymap shortcuts",
    "kill": "abort cancel terminate",
    "memory": "mem memories remember",
    "mode": "accept-edits approval approval-mode approvals auto auto-edit permission-mode read-only yolo",
    "model": "llm models provider switch",
    "permissions": "allow allowed-tools allowlist deny perms rules trust",
    "plan": "plan-mode",
    "prompt": "instructions system system-prompt",
    "queue": "pending queued",
    "rename": "name title",
    "resume": "chats continue history load open restore switch-session threads",
    "retry": "again go-on redo regenerate repeat try-again",
    "review": "code-review critique pr pr-review",
    "rewind": "back checkpoint checkpoints goto revert rollback time-travel",
    "sandbox": "bubblewrap bwrap container isolation jail landlock seatbelt",
    "sessions": "conversations list ls session",
    "skills": "plugins skill-list",
    "status": "about session-info whoami",
    "tasks": "board issues task",
    "theme": "color colors colour colours dark light style themes",
    "tools": "tool toolbox",
    "undo": "unedit",
}
MEANINGS: Mapping[str, str] = MappingProxyType(
    {word: command for command, words in _WORDS.items() for word in words.split()}
)
"""What people type who know other programs, and the command here that does it."""
SHORTEST = 4
"""Letters of the shorter of two words that differ by a letter too many."""


def suggestion(name: str, commands: Collection[str]) -> str:
    """The command that `name` means; empty: none is known.

    That is the meaning of the word, or of a word of which it is a slip of the keyboard: two letters swapped, or one
    too many or too few. Mere similarity is not enough: /node is no /mode.
    """
    known = {word: command for word, command in MEANINGS.items() if command in commands}
    of_words = {known[word] for word in known if _is_slip(name, word)}
    of_commands = {command for command in commands if _is_slip(name, command)}
    meant = {known[name]} if name in known else of_commands or of_words
    return meant.pop() if len(meant) == 1 else ""


def _is_slip(typed: str, word: str) -> bool:
    if len(typed) == len(word) > 2:
        swapped = (word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in range(len(word) - 1))
        return typed in swapped
    longer, shorter = sorted((typed, word), key=len, reverse=True)
    cut = (longer[:place] + longer[place + 1 :] for place in range(len(longer)))
    return len(shorter) >= SHORTEST and len(longer) == len(shorter) + 1 and shorter in cut
