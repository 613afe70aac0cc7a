# ruff: noqa: E501 - a pattern reads best in one piece
"""A request cut into clauses, one for each thing that is asked."""

import re
from collections.abc import Iterator

from harness.practice.improviser.memory_rules import WHOLE
from harness.practice.improviser.mentions import Sentence

_VERBS = (
    r"read|show|open|list|find|search|grep|look|create|make|write|save|store|append|add|replace|change|rename|delete|remove|run|"
    r"execute|start|count|compare|diff|tell|give|summari[sz]e|explain|check|print|display|edit|insert|move|copy|what|which|how|"
    r"put|test|commit|calculate|describe|report|kill|use|delegate"
)
_TE = (
    r"(?:読んで|開いて|探して|検索して|調べて|実行して|走らせて|動かして|作って|作成して|書いて|書き込んで|保存して|一覧して|"
    r"表示して|見せて|見て|数えて|比べて|比較して|置き換えて|置換して|変更して|追加して|追記して|足して|削除して|消して|確認して|"
    r"リストして|読み込んで|要約して|まとめて)"
)
_POLITE = r"(?:ください|下さい|くれ|くだ|ほしい|欲しい|もらえ|もらい|いただ|頂|あり|ある|あっ|いる|いま|みて|おいて|お願い|ね|よ|$|[。！!？?\n])"
_BREAKS = re.compile(
    rf"""
      \s*;\s*
    | \s*\n\s*(?!\ue000)(?:[-*•]\s+|\d+[.)]\s+)?
    | [.!?]\s+(?=[A-Z])
    | ,?\s*\b(?:and\s+then|and\s+afterwards|then|after\s+that|afterwards|finally|next)\b,?\s+(?=(?:{_VERBS})\b)
    | ,?\s+\b(?:and|also|as\s+well\s+as)\s+(?:also\s+)?(?=(?:{_VERBS})\b)
    | ,\s+(?:please\s+)?(?=(?:{_VERBS})\b)
    | (?<=[。！？])\s*
    | 、?\s*(?:それから|そして|そのあと|その後|次に|最後に)、?\s*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TE_BREAK = re.compile(rf"({_TE})(?!\s*{_POLITE})(?![^。\n]*ように|、?\s*(?:内容|中身|本文)は)(?:から)?[、,\s]*")
_AGENTS = re.compile(r"\b(?:sub)?agents?\b(?![./])|\bdelegate\b|エージェント|(?<![\w.])a\d+\s*(?:to\b|に)", re.I)
_COURTESY = re.compile(r"(?:\b(?:please|now|first|then|and|also|(?:can|could|would|will) you|i want you to|i'd like you to)[,\s]*)+$", re.I)  # fmt: skip
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\s*\n\s*(?!\ue000)|\s*;\s*|(?<=[。！？])\s*")
_ORDER = re.compile(
    r"(?<![\w.])(?:(?:use|start|launch|spawn|run|send|ask|tell|get|have|let|dispatch|assign)\s+(?:up\s+)?(?:(?:[\w-]+\s+){0,3}?(?:sub[- ]?)?agents?\b(?![./])|a\d+\b)|delegate\b)",
    re.I,
)
"""The words with which work is given to an agent. What follows in the sentence is for the agent."""
_FOR_EACH = re.compile(r"\s*for (?:each|every)\b", re.I)
_MEANS = re.compile(
    r"\b(?:with|using|through|by)\s+(?:[\w-]+\s+){0,3}?(?:sub[- ]?)?agents?(?:\s+(?:in the background|in parallel))?\W*$|エージェント|^a\d+\s*に",
    re.I,
)
"""The same, of the whole sentence."""
_NOISE = re.compile(
    r"^(?:please|(?:can|could|would|will) you|i want you to|i'd like you to|first|now|okay|ok|so|and|then|use (?:the )?\w+(?: tool)? to)[,\s]+",
    re.I,
)


def clauses_of(whole: Sentence) -> tuple[Sentence, ...]:
    """The clauses of a request, in order, without the words of courtesy before them."""
    pieces = [_bare(piece) for piece in _pieces(whole.text)]
    return tuple(whole.part(piece) for piece in pieces if re.search(r"[\w\ue000]", piece)) or (whole,)


def _pieces(text: str) -> Iterator[str]:
    """What gives work to an agent stays whole: the agent takes it apart."""
    if not _AGENTS.search(text):
        for sentence in _SENTENCES.split(text) if WHOLE.search(text) else (text,):
            yield from (sentence,) if WHOLE.search(sentence) else _split(sentence)
        return
    for sentence in _SENTENCES.split(text):
        order = _ORDER.search(sentence)
        whole = _FOR_EACH.match(sentence) or (not order and _MEANS.search(sentence))
        end = 0 if whole else order.start() if order else len(sentence)
        yield from _split(_COURTESY.sub("", sentence[:end]))
        yield sentence[end:]


def _split(text: str) -> Iterator[str]:
    yield from _BREAKS.split(_TE_BREAK.sub(lambda match: f"{match[1]}\n", text))


def _bare(piece: str) -> str:
    while not _AGENTS.search(piece) and (match := _NOISE.match(piece.strip())):
        piece = piece.strip()[match.end() :]
    return piece.strip()
