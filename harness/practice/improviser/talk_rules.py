# ruff: noqa: E501 - a row of the table reads best as one row
"""Intents that need no tool: small talk, help, sums. Tried last, so that a greeting does not hide a request."""

from harness.practice.improviser.arithmetic import expression_in
from harness.practice.improviser.goals import Calculate, Goal, Talk, Topic
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.rules import Meaning, Rule, rule


def _talk(topic: Topic) -> Meaning:
    return lambda clause, memory: (Talk(topic),)


def _calculate(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    expression = expression_in(clause.plain.lower())
    return (Calculate(expression),) if expression else ()


def _again(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return memory.goals


FIRST: tuple[Rule, ...] = (
    rule(r"\b(?:who|what) are you\b|\bwho (?:made|built|wrote|created) you\b|\bare you (?:an? )?(?:ai|bot|human|robot|real|person|claude|llm|model)\b|\bwhich model\b|\bwhat model\b|\byour name\b", r"あなたは(?:誰|だれ|何|なに|どなた|ai|人間)|(?:君|きみ)は(?:誰|だれ|何)|誰ですか|お?名前|自己紹介|どのモデル|何のモデル", _talk(Topic.IDENTITY)),
    rule(r"\b(?:which|what|list|explain|show|describe)\b.*\btools?\b|\btools\b.*\b(?:have|available|are)\b|^tools?\W*$", r"(?:どんな|どの|何の|使える|利用できる)?ツール(?:は|を|に|の|一覧|$)", _talk(Topic.TOOLS)),
    rule(r"^help\W*$|\bwhat can (?:you|i)\b.*\b(?:do|ask|say)\b|\bhow (?:do|can) (?:i|you) (?:use|help)\b|\bhelp me\W*$", r"^(?:ヘルプ|助けて|使い方)|何が(?:できる|出来る|でき)|なにができ|できること|使い方", _talk(Topic.HELP)),
    rule(r"\d\s*(?:[-+*/^%×÷＋]|plus|minus|times|multiplied|divided)\s*[-(]?\d", r"\d\s*(?:[-+*/^%×÷＋－]|足す|引く|掛ける|かける|割る)\s*[-(]?\d", _calculate),
)  # fmt: skip
"""Tried before all others: these sentences are about the model itself, or plain sums."""

LAST: tuple[Rule, ...] = (
    rule(r"^(?:do (?:it|that) |(?:and )?once more|(?:try |and )?again)|\bdo (?:it|that) again\b|^repeat\b", r"^もう(?:一度|1度|一回|1回)|^再度|^やり直して", _again),
    rule(r"^(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings|howdy|yo)\b", r"^(?:こんにち[はわ]|こんばん[はわ]|おはよう|はじめまして|やあ|どうも|もしもし|ハロー)", _talk(Topic.GREETING)),
    rule(r"\b(?:thanks|thank you|thx|cheers|great job|well done)\b|^(?:great|nice|perfect|cool|ok|okay|good)\W*$", r"ありがとう|感謝|助かり|助かった|お疲れ|素晴らしい|いいね|^了解", _talk(Topic.THANKS)),
    rule(r"^(?:bye|goodbye|see you|good night|ciao)\b", r"さようなら|さよなら|またね|バイバイ|おやすみ|失礼します", _talk(Topic.GOODBYE)),
    rule(r"\b(?:fix|implement|refactor|improve|debug|optimi[sz]e|review|design|translate|rewrite|solve|build|code|add|write|create)\b", r"直し|修正|実装|リファクタ|改善|デバッグ|最適化|レビュー|設計|翻訳|解決", _talk(Topic.BEYOND)),
)  # fmt: skip
"""Tried after all others."""
