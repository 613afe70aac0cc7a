# ruff: noqa: E501 - a page is wider than code
"""The table of sentences as a page: `python -m harness.practice.improviser.reference_page > docs/practice-model.md`."""

from collections.abc import Iterator

from harness.practice.improviser.forms import KINDS
from harness.practice.improviser.table import INTENTS

_HEAD = """\
# What the practice model can be asked for

The practice model is a set of rules, not an AI. It answers when there is no key, and behind `harness practice serve`. This page is the
whole of what it can do, made from the table that it works by (`harness/practice/improviser/table.py`); “help” gives the same list.

- **A sentence has to fit as a whole.** Upper and lower case, a stop at the end and words of courtesy (“please”, ください) do not count.
  Whatever else is left over (“don't”, “only if …”, “the last line of”) means that nothing is done, and the answer says so.
- **Several sentences** can be joined: by “and”, “then”, `;`, a comma, 〜して、〜して, or on lines of their own. If one is not on the
  list, none is done.
- **What is changed, deleted or run is named** in the same prompt. “It” and “the second one” do for looking only. A question (“should I
  delete a.txt?”, “can you delete a.txt?”) is no order.
- **New text stands in quotes** (`"…"`, `'…'`, `` `…` ``, “…”, 「…」) or in a code block, and so does a file name with a space in it.
- What is replaced is replaced everywhere in the file; a file that is there already is not created again.

In the forms, round brackets hold alternatives, square brackets what may be left out, and braces a name, a text or a number:
`{file}` and `{one}` a file (`{one}` also “it” or “the second one”), `{files}` one or more, `{text}` something in quotes, `{word}`,
`{old}` and `{new}` a word or something in quotes, `{command}` a command line. `{kind}` is one of: """

_TAIL = """
## 日本語での要点

練習用モデルは AI ではなく規則の集まりで、このページの文だけを文字どおりに実行します。文全体が一覧の形に当てはまらなければ(「〜しないで」
「〜の場合だけ」「最後の行」など)、何も実行せず、そのことを伝えます。変更、削除、実行するものは同じ依頼の中で名前を挙げ、新しい文章は引用符か
コードブロックに入れてください。いくつかの文は「〜して、〜して」や改行でつなげられますが、一つでも一覧にないものがあれば、どれも実行しません。

## Besides
It goes on where an answer was cut, takes another way where a tool is skipped, tells what arrives from the background,
summarises the conversation when it is asked to, and gives a conversation a title. A result that it cannot read is shown as it came.
"""


def as_markdown() -> str:
    """The page docs/practice-model.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield f"{_HEAD}{', '.join(KINDS)}."
    for intent in INTENTS:
        yield ""
        yield f"## {intent.name.english[0].upper()}{intent.name.english[1:]} · {intent.name.japanese}"
        yield ""
        yield f"For example: {_code(intent.example.english)} · {_code(intent.example.japanese)}"
        yield ""
        yield "```text"
        yield from (*intent.english, *intent.japanese)
        yield "```"
    yield _TAIL.rstrip("\n")


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


if __name__ == "__main__":
    print(as_markdown())
