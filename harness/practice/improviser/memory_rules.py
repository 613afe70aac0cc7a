# ruff: noqa: E501 - a pattern reads best in one piece
"""Intents about what is kept from session to session."""

import re

from harness.practice.improviser.goals import Forget, Goal, Recall, Remember
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.rules import Rule, rule

_FACT = (
    re.compile(r"^(?:(?:please|always)\s+)*(?:remember|keep in mind|memori[sz]e|do(?:n't| not) forget)\b(?:\s+(?:that|this|for (?:later|next time)))?\s*[:,]?\s+(?P<fact>\S.*)$", re.I | re.S),
    re.compile(r"^(?:次のことを|これを)?(?:覚えておいて|覚えて|記憶して)(?:ください|下さい|ね)?\s*[:：、]\s*(?P<fact>\S.*)$", re.S),
    re.compile(r"^(?P<fact>.+?)(?:という)?(?:こと)?[、,]?\s*(?:と|を|は|って)?[、,]?\s*(?:覚えておいて|覚えて|記憶して|忘れないで)(?:ください|下さい|くれ|ね|よ)?[。！!]*$", re.S),
)  # fmt: skip
_ABOUT = (
    re.compile(r"\b(?:about|regarding|concerning|on)\s+(?P<about>[^?]+?)\s*\??$", re.I),
    re.compile(r"\b(?:remember|recall)\s+(?P<about>(?!about\b|from\b)[^?]+?)\s*\??$", re.I),
    re.compile(r"^(?P<about>.+?)(?:について|に関して|のこと)"),
)
_GONE = (
    re.compile(r"^(?:(?:please|now)\s+)*forget\s+(?:about\s+|that\s+|what\s+(?:i|we)\s+(?:said|told you)\s+about\s+)?(?P<about>\S.*?)\W*$", re.I | re.S),
    re.compile(r"^(?P<about>.+?)(?:について|に関して|のこと|こと)?(?:は|を)?、?忘れて(?:ください|下さい|くれ|ね|よ|いい)?[。！!]*$", re.S),
)  # fmt: skip
_NOTHING = frozenset(
    ("it", "this", "that", "me", "you", "anything", "everything", "それ", "これ", "何", "なに", "すべて", "全部")
)


def _said(patterns: tuple[re.Pattern[str], ...], clause: Sentence) -> str:
    """What the first pattern that fits finds; "" for none, and for a word that names nothing."""
    plain = clause.plain.strip()
    found = next((match[1].strip(" \t\n。.") for pattern in patterns if (match := pattern.search(plain))), "")
    return "" if found.lower() in _NOTHING else found


def _remembered(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    fact = _said(_FACT, clause)
    return (Remember(fact),) if fact else ()


def _recalled(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return (Recall(_said(_ABOUT, clause) or None),)


def _forgotten(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    about = _said(_GONE, clause)
    return (Forget(about),) if about else ()


KEEPING: tuple[Rule, ...] = (
    rule(r"\b(?:what|which)\b.*\b(?:do you|did you|you) (?:still )?(?:remember|recall)|\b(?:do|can) you (?:still )?(?:remember|recall)\b|^recall\b|\bwhat (?:do|did) (?:you know about me|i tell you)|\byour memor(?:y|ies)\b", r"覚えて(?:い?る|い?ます|い?ない)|(?:何|なに)を覚え|記憶(?:は|に|の一覧)", _recalled),
    rule(r"^(?:(?:please|always) )*(?:remember|keep in mind|memori[sz]e|do(?:n't| not) forget)\b", r"覚えて(?:おいて|ください|下さい|くれ|ね|[:：、。！!]|$)|記憶して|忘れないで", _remembered),
    rule(r"^(?:(?:please|now) )*forget\b", r"忘れて(?!い)", _forgotten),
)  # fmt: skip
"""What is to be kept may hold the words of any other row, so that these are tried early."""

WHOLE = re.compile(
    r"^\W*(?:(?:please|can you|could you|now|and|always)[,\s]+)*(?:remember|keep in mind|memori[sz]e|do(?:n't| not) forget)\b(?!\s*\?)",
    re.I,
)
"""A sentence that begins so is one request, whatever verbs are in it."""
