"""The half of the replies that limits may be tuned with. Written before the detector."""

import base64
import random

from tests.policies.loops.texts import Sound, Stuck, lines, prose

STUCK = (
    Stuck("a sentence", "I looked at the file. ", "Let me check the tests again. "),
    Stuck("a line", "Here is what I found:\n", "- The function is missing a return statement.\n"),
    Stuck("a paragraph", prose(1, 5) + "\n\n", prose(2, 6) + "\n\n"),
    Stuck("a word", "The answer is ", "the "),
    Stuck("two words in turn", "I think so. ", "yes no "),
    Stuck("a Japanese sentence", "承知しました。", "次にファイルを確認します。"),
    Stuck("a Japanese word without spaces", "結果は", "非常に"),
    Stuck("one exclamation mark", "Great", "!"),
    Stuck("an explanation with the same block of code", "", "Run the tests:\n\n```sh\npytest -q\n```\n\nThey fail.\n"),
    Stuck("steps that differ in their number", "The plan:\n", "{}. Do the same for the next file.\n", numbered=True),
    Stuck("a chapter of three thousand characters", "# Report\n\n", "## Summary\n\n" + prose(3, 40) + "\n\n"),
    Stuck("prose after a closed block", "```python\nx = 1\n```\n", "Now the block is complete. "),
)

_dice = random.Random(7)
SOUND = (
    Sound("monotonous prose", prose(11, 400)),
    Sound(
        "a block with the same line two thousand times", "```python\n" + "assert total(cart) == 3\n" * 2_000 + "```\n"
    ),
    Sound("a block that was never closed", "Here it is:\n\n~~~\n" + "    nop\n" * 3_000),
    Sound("indented code", "The listing:\n\n" + "    MOV AX, BX\n" * 2_000),
    Sound("a table with five hundred equal rows", "| id | state |\n|---|---|\n" + "| job | done |\n" * 500),
    Sound("rules and separators", ("-" * 500 + "\n" + "=" * 500 + "\n" + "─" * 500 + "\n" + "." * 500 + "\n") * 2),
    Sound("JSON rows that are all the same", '{"state": "idle", "load": 0},\n' * 600),
    Sound("CSV rows that are all the same", "idle,none,zero,unknown\n" * 600),
    Sound("no, no, no and a long laugh", "No, " + "no, " * 12 + "\n" + "ha " * 60 + "\n" + "ha" * 90 + "!"),
    Sound(
        "a song with a refrain",
        lines(12, lambda i: f"{prose(i, 3)}\nRow, row, row your boat\ngently down the stream\n")
        + "Around the world, around the world\n" * 40,
    ),
    Sound("a hundred times a promise", "I will not talk in class.\n" * 100),
    Sound(
        "a table of multiplication", lines(144, lambda i: f"{(i - 1) // 12 + 1} x {(i - 1) % 12 + 1} = {i * 7 % 144}")
    ),
    Sound("a base64 blob with zeros in it", base64.b64encode(_dice.randbytes(3_000) + bytes(6_000)).decode()),
    Sound("five hundred answers, numbered", lines(500, lambda i: f"{i}. Yes")),
    Sound(
        "a Japanese list whose items end alike",
        lines(80, lambda i: f"・項目{'甲乙丙丁戊己庚辛'[i % 8]}{'子丑寅卯辰巳午'[i % 7]}{i}を確認しました。"),
    ),
)
