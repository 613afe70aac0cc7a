# ruff: noqa: E501 - a pattern reads best in one piece
"""A request cut into clauses, one for each thing that is asked."""

import re

from harness.practice.improviser.mentions import Sentence

_VERBS = (
    r"read|show|open|list|find|search|grep|look|create|make|write|save|store|append|add|replace|change|rename|delete|remove|run|"
    r"execute|start|count|compare|diff|tell|give|summari[sz]e|explain|check|print|display|edit|insert|move|copy|what|which|how|"
    r"put|test|commit|calculate|describe|report"
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
_NOISE = re.compile(
    r"^(?:please|(?:can|could|would|will) you|i want you to|i'd like you to|first|now|okay|ok|so|and|then|use (?:the )?\w+(?: tool)? to)[,\s]+",
    re.I,
)


def clauses_of(whole: Sentence) -> tuple[Sentence, ...]:
    """The clauses of a request, in order, without the words of courtesy before them."""
    separated = _TE_BREAK.sub(lambda match: f"{match[1]}\n", whole.text)
    pieces = [_bare(piece) for piece in _BREAKS.split(separated)]
    return tuple(whole.part(piece) for piece in pieces if re.search(r"[\w\ue000]", piece)) or (whole,)


def _bare(piece: str) -> str:
    while match := _NOISE.match(piece.strip()):
        piece = piece.strip()[match.end() :]
    return piece.strip()
