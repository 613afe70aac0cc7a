"""The keys of the course on the screen, as a table and as words for the line at the bottom."""

from harness.lessons import Language, Text
from harness.ui.app.keys import KeyTable

WALK = Text("The chapter", "章")
LOOK = Text("To look at", "見る")
LIVE = Text("The agent", "エージェント")
_TABLE = (
    (
        WALK,
        (
            ("n  Enter", Text("next beat", "次の場面")),
            ("b", Text("back; a replay, nothing runs again", "戻る。再生だけで、実行はしません")),
            ("r", Text("begin anew, with a fresh run", "新しく実行して最初から")),
            ("g", Text("another chapter", "ほかの章へ")),
            ("e", Text("copy the exercise to where you are", "演習を今のフォルダーにコピー")),
            ("l", Text("日本語", "English")),
            ("q", Text("leave; you come back to this beat", "終わる。次はこの場面から")),
        ),
    ),
    (
        LOOK,
        (
            ("t", Text("the text alone, and back", "本文だけを表示、もう一度で戻る")),
            ("c", Text("the code of this beat; again: demo.py and more", "この場面のコード。もう一度で demo.py など")),
            ("d", Text("what demo.py has that the chapter before has not", "前の章の demo.py との差分")),
            ("w", Text("what went over the wire at this beat", "この場面での通信の中身")),
            ("Tab", Text("text, code, conversation: which one is scrolled", "本文・コード・会話を切り替える")),
            ("↑ ↓ PgUp PgDn", Text("scroll it", "スクロール")),
            ("F2  F3", Text("panel on and off; on the whole screen", "パネルの表示・全画面")),
            ("Ctrl+O", Text("expand every tool call, or fold them", "ツール呼び出しを開く・たたむ")),
        ),
    ),
    (
        LIVE,
        (
            ("p  i", Text("type a prompt to the agent of the chapter", "章のエージェントにプロンプトを打つ")),
            ("f", Text("break something: /fault, /toolfault", "壊す: /fault、/toolfault")),
            ("Esc", Text("leave the prompt", "入力をやめる")),
        ),
    ),
)

NEXT = Text("next", "次へ")
BACK = Text("back", "戻る")
CODE = Text("code", "コード")
WIRE = Text("wire", "通信")
TEXT = Text("text", "本文")
TAB = Text("look", "切替")
PROMPT = Text("prompt", "入力")
BREAK = Text("break", "壊す")
KEYS = Text("keys", "キー")
LEAVE = Text("leave", "終了")
SEND = Text("send; /fault alone lists what can break", "送る。/fault だけなら壊し方の一覧")
KEYS_AGAIN = Text("back to the keys", "キー操作に戻る")


def key_table(language: Language) -> KeyTable:
    """Every key, in a language."""
    return tuple(
        (title.into(language), tuple((key, text.into(language)) for key, text in rows)) for title, rows in _TABLE
    )


def keys_now(language: Language, *, at_end: bool, crowded: bool) -> tuple[tuple[str, str], ...]:
    """Keys for the line at the bottom, most important first; `crowded`: not all parts are in sight."""
    walk = (("p", PROMPT), ("f", BREAK), ("b", BACK)) if at_end else (("n", NEXT), ("b", BACK), ("c", CODE))
    look = (("Tab", TAB),) if crowded else ()
    rest = (("w", WIRE), ("t", TEXT), ("?", KEYS), ("q", LEAVE))
    return tuple((key, text.into(language)) for key, text in (*walk, ("?", KEYS), *look, *rest[:2], rest[3]))


def keys_typing(language: Language) -> tuple[tuple[str, str], ...]:
    """Keys for the line at the bottom while a prompt is typed."""
    return ("Esc", KEYS_AGAIN.into(language)), ("Enter", SEND.into(language))
