"""The half of the replies that is run at the end only. Written before the detector."""

import random

from tests.policies.loops.texts import Sound, Stuck, lines, prose

STUCK = (
    Stuck("an apology", "", "I apologize for the confusion. Let me try that again.\n\n"),
    Stuck("a heading and a line", prose(21, 2), "## Next steps\n\nContinue with the implementation.\n\n"),
    Stuck("a list of four items", "Consider these:\n", "- speed\n- memory\n- safety\n- cost\n"),
    Stuck("half a word", "The name is super", "super"),
    Stuck("thinking aloud", "<think>", "Wait, but the function returns None. So maybe it is the caller. Hmm.\n"),
    Stuck(
        "a Japanese paragraph",
        "概要\n\n",
        "この関数は設定を読み込み、結果を返します。次に、テストを実行して動作を確認します。\n\n",
    ),
    Stuck("Chinese and English in one sentence", "好的。", "我会检查 config.py 文件，然后 run the tests。"),
    Stuck("emoji between words", "Done! ", "🎉 All good 🎉 "),
    Stuck("a token of a chat template", "", "[INST] "),
    Stuck("dots without an end", "Loading", "."),
    Stuck("numbered questions that are the same", "", "Question {}: What does the function return?\n", numbered=True),
    Stuck("the same table with the same sentence above", "", "The results are:\n\n| a | b |\n|---|---|\n| x | y |\n\n"),
    Stuck("after a long sound answer", prose(22, 200) + "\n\n", "In conclusion, the tests pass. "),
)

_dice = random.Random(8)
_SQL = "INSERT INTO users (id, name, city) VALUES ({}, '{}', '{}');"
_NAMES = (
    *("Ada", "Alan", "Barbara", "Claude", "Dennis", "Edsger", "Frances", "Grace"),
    *("Hedy", "Ivan", "Jean", "Ken", "Linus", "Margaret", "Niklaus"),
)
SOUND = (
    Sound("more monotonous prose", prose(31, 600)),
    Sound(
        "blocks with a short sentence before each",
        lines(60, lambda i: f"Now the next test:\n\n```python\nassert f({i}) == {i * i}\n```\n"),
    ),
    Sound("a block in tildes with backticks in it", "~~~md\n" + "```\nthe same line\n```\n" * 400 + "~~~\n"),
    Sound("a block inside a list", "1. Run this:\n\n   ```\n" + "   make clean && make all\n" * 500 + "   ```\n"),
    Sound("code with tabs", "The file:\n\n" + "\tfprintf(stderr, s);\n" * 500),
    Sound("a table without outer bars", "name | state | owner\n--- | --- | ---\n" + "job | done | nobody\n" * 400),
    Sound("a tree of a folder", lines(200, lambda i: f"│   ├── {_NAMES[i % 15]}{i}.py")),
    Sound("rows of JSON in one line", "[" + '{"x": 0, "y": 0, "name": "none"}, ' * 300 + "]"),
    Sound(
        "a hexadecimal dump of nothing", lines(300, lambda i: f"{i * 16:08x}  " + "00 " * 16 + " |................|")
    ),
    Sound("digits", "".join(_dice.choice("0123456789") for _ in range(20_000))),
    Sound("primes", " ".join(str(n) for n in range(2, 20_000) if all(n % d for d in range(2, int(n**0.5) + 1)))),
    Sound(
        "three hundred rows for a database",
        lines(300, lambda i: _SQL.format(i, _NAMES[i % 15], _NAMES[i * 7 % 13])),
    ),
    Sound("how far it is", lines(101, lambda i: f"Downloading the archive: {i - 1} %")),
    Sound("a list of words", lines(600, lambda i: f"{_NAMES[i % 15].lower()}{_NAMES[i // 15 % 15].lower()}")),
    Sound(
        "a Japanese text whose sentences end alike",
        "".join(
            f"{_dice.choice('私彼君母父兄姉妹')}は{_dice.choice('本水山川空海木花')}を{_dice.choice('見買読知思待持')}ていると考えられます。"
            for _ in range(400)
        ),
    ),
    Sound(
        "a counting rhyme", lines(99, lambda i: f"{100 - i} bottles of beer on the wall, {100 - i} bottles of beer.")
    ),
    Sound("a check list", lines(60, lambda i: f"- [{'x' if i % 3 else ' '}] {_NAMES[i % 15]} has signed the paper")),
    Sound("twenty times the same line because the user asked", "All work and no play makes Jack a dull boy.\n" * 60),
)
