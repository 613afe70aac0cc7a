# ruff: noqa: E501 - a page is wider than code
"""The table of intents as a page: `python -m harness.practice.rule_model.reference_page > docs/practice-model.md`."""

from collections.abc import Iterator

from harness.practice.rule_model.intents import INTENTS

_HEAD = """\
# What the practice model can be asked for

The practice model is a set of rules, not an AI. It answers when there is no key, and behind `harness practice serve`.
This page is made from the table of intents in `harness/practice/rule_model/intents.py`; “help” shows the same list.

- **A sentence must fit as a whole.** Case, a full stop at the end and “please” or ください do not matter. If anything else
  is left over (“don't”, “only if …”), nothing is done, and the answer says so.
- **Several sentences** can be joined by “and”, “then”, `;`, 〜して、〜して or new lines. If one is not on the list, none is
  done.
- **A question is not an order**: “delete it?” changes nothing.
- **New text is in quotes** (`"…"`, `'…'`, `` `…` ``, “…”, 「…」) or in a code block, and so is a file name with spaces.

In the forms, round brackets hold alternatives, square brackets optional words, and braces a name, a text or a number.
"""
_TAIL = """
## 日本語での要点

練習用モデルは AI ではなく規則の集まりで、このページの文だけを文字どおりに実行します。文全体が一覧の形に当てはまらないときは何も実行せず、
そのことを伝えます。新しい文章は引用符かコードブロックに入れてください。いくつかの文は「〜して、〜して」や改行でつなげられますが、一つでも
一覧にないものがあれば、どれも実行しません。

## What it does besides

It continues a cut answer, takes an alternative where a tool is skipped, reports what arrives from the background,
measures images and documents, and summarises the conversation when the client asks for that. For `/review` it looks for a
fixed list of mistakes in the added lines; for `/init` it puts together what the README, the build files and the folders say.
"""


def as_markdown() -> str:
    """The page docs/practice-model.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD.rstrip("\n")
    for intent in INTENTS:
        examples = " · ".join(f"`` {text} ``" if "`" in text else f"`{text}`" for text in intent.example)
        yield f"\n## {' · '.join(intent.name)}\n\nFor example: {examples}\n\n```text"
        yield from intent.forms
        yield "```"
    yield _TAIL.rstrip("\n")


if __name__ == "__main__":
    print(as_markdown())
