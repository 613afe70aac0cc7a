"""What can be given away: work to an agent, a command to the background."""

from collections.abc import Mapping
from enum import StrEnum


class Errand(StrEnum):
    """A wish that only a tool made for it can grant; the shell is no way round."""

    DELEGATE = "give work to an agent"
    START = "run a command in the background"
    LIST = "say what runs in the background"
    SHOW = "show what a command in the background wrote"
    STOP = "end a command in the background"
    SKILL = "read a skill"
    REMEMBER = "remember something"
    RECALL = "look up what is remembered"
    FORGET = "forget something"
    SEARCH_WEB = "search the web"
    FETCH_PAGE = "read a web page"
    ASK = "ask you a question"


NAMES: Mapping[Errand, str] = {
    Errand.DELEGATE: r"task|agent|delegate|(spawn|start|run|ask|dispatch)_?(sub_?)?agent|sub_?agent",
    Errand.LIST: r"background_?list|list_?background",
    Errand.SHOW: r"background_?(read|output)|read_?background|(bash|shell)_?output",
    Errand.STOP: r"background_?(kill|stop)|kill_?(background|bash|shell)",
    Errand.SKILL: r"((load|use|read|get)_?)?skill",
    Errand.REMEMBER: r"remember|(save|write|add|store|create)_?memor(y|ies)",
    Errand.RECALL: r"recall|(read|search|find|get|load|list)_?memor(y|ies)",
    Errand.FORGET: r"forget|(delete|remove)_?memor(y|ies)",
    Errand.SEARCH_WEB: r"web_?search|search_?(the_?)?web|search_?internet",
    Errand.FETCH_PAGE: r"web_?fetch|(fetch|read|open|get)_?(url|(web_?)?page)|fetch",
    Errand.ASK: r"ask_?(the_?)?(user|human)(_?question)?",
}
"""How tools for it are called. A command is started by the tool that runs commands, where it has a field for that."""

NEEDS: Mapping[Errand, tuple[str, ...]] = {
    Errand.DELEGATE: ("prompt",),
    Errand.LIST: (),
    Errand.SHOW: ("id",),
    Errand.STOP: ("id",),
    Errand.SKILL: ("skill",),
    Errand.REMEMBER: ("name", "fact"),
    Errand.RECALL: ("query",),
    Errand.FORGET: ("name",),
    Errand.SEARCH_WEB: ("query",),
    Errand.FETCH_PAGE: ("url",),
    Errand.ASK: ("question",),
}

FIELDS: Mapping[str, str] = {
    "prompt": r"prompt|instructions?|task|message",
    "title": r"description|title|name",
    "agent": r"agent|agent_id|resume",
    "background": r"background|run_in_background",
    "skill": r"(skill_?)?name|skill",
    "name": r"name|memory|key|title",
    "summary": r"description|summary",
    "kind": r"type|kind",
    "fact": r"text|content|fact|body|memory",
    "question": r"question|prompt|message|text",
    "options": r"options|choices|answers",
    "query": r"query|search|words|question",
    "url": r"url|uri|address|link",
    "id": r"((bash|shell|task|command|job)_)?id",
}
"""How such tools call the things that a plan speaks of."""
