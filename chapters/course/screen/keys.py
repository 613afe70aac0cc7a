"""The keys of the course on the screen, for the page and for the status line."""

from chapters.course import Language, LocalizedText
from harness.ui.app.keys import KeyTable

WALK = LocalizedText("The chapter", "章")
LOOK = LocalizedText("Views", "見る")
LIVE = LocalizedText("The agent", "エージェント")
_TABLE = (
    (
        WALK,
        (
            ("n  Enter", LocalizedText("next step", "次の場面")),
            ("1 … 5", LocalizedText("answer the question before a step", "場面の前の質問に答える")),
            ("b", LocalizedText("previous step; nothing runs again", "戻る。再生だけで、実行はしません")),
            ("r", LocalizedText("restart with a new run", "新しく実行して最初から")),
            ("g", LocalizedText("another chapter", "ほかの章へ")),
            ("e", LocalizedText("copy the exercise to this folder", "演習を今のフォルダーにコピー")),
            ("l", LocalizedText("日本語", "English")),
            ("q", LocalizedText("quit; the next start continues here", "終わる。次はこの場面から")),
        ),
    ),
    (
        LOOK,
        (
            ("t", LocalizedText("text only, and back", "本文だけを表示、もう一度で戻る")),
            (
                "c",
                LocalizedText(
                    "the code of this step, wider; again: demo.py and more",
                    "この場面のコードを広く。もう一度で demo.py など",
                ),
            ),
            ("d", LocalizedText("what is new in my_agent.py", "my_agent.py の新しい部分")),
            ("w", LocalizedText("requests and replies of this step", "この場面での通信の中身")),
            ("Tab", LocalizedText("switch between text, code and conversation", "本文・コード・会話を切り替える")),
            ("↑ ↓ PgUp PgDn Home End", LocalizedText("scroll", "スクロール")),
            ("F2  F3", LocalizedText("show or hide the panel; on the whole screen", "パネルの表示・全画面")),
            ("Ctrl+O", LocalizedText("expand or fold all tool calls", "ツール呼び出しを開く・たたむ")),
        ),
    ),
    (
        LIVE,
        (
            (
                "p  i",
                LocalizedText(
                    "type a prompt, or /retry, /reset, /checklist, /agents, /clear",
                    "プロンプトか /retry、/reset、/checklist、/agents、/clear を打つ",
                ),
            ),
            ("f", LocalizedText("break something: /fault, /toolfault", "壊す: /fault、/toolfault")),
            ("Esc", LocalizedText("leave the prompt", "入力をやめる")),
        ),
    ),
)

NEXT = LocalizedText("next", "次へ")
BACK = LocalizedText("back", "戻る")
CODE = LocalizedText("code", "コード")
WIRE = LocalizedText("wire", "通信")
TEXT = LocalizedText("text", "本文")
TAB = LocalizedText("look", "切替")
PROMPT = LocalizedText("prompt", "入力")
BREAK = LocalizedText("break", "壊す")
KEYS = LocalizedText("keys", "キー")
LEAVE = LocalizedText("quit", "終了")
SEND = LocalizedText("send; /fault alone lists the faults", "送る。/fault だけなら壊し方の一覧")
KEYS_AGAIN = LocalizedText("back to the keys", "キー操作に戻る")


def key_table(language: Language) -> KeyTable:
    """All keys."""
    return tuple(
        (title.into(language), tuple((key, text.into(language)) for key, text in rows)) for title, rows in _TABLE
    )


def keys_now(language: Language, *, at_end: bool, crowded: bool) -> tuple[tuple[str, str], ...]:
    """Keys for the status line, most important first; `crowded`: some panes are hidden."""
    position = (("p", PROMPT), ("f", BREAK), ("b", BACK)) if at_end else (("n", NEXT), ("b", BACK), ("c", CODE))
    look = (("Tab", TAB),) if crowded else ()
    rest = (("w", WIRE), ("q", LEAVE), ("t", TEXT))
    return tuple((key, text.into(language)) for key, text in (*position, ("?", KEYS), *look, *rest))


def keys_typing(language: Language) -> tuple[tuple[str, str], ...]:
    """Keys for the status line while a prompt is typed."""
    return ("Esc", KEYS_AGAIN.into(language)), ("Enter", SEND.into(language))
