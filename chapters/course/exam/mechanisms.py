"""The mechanisms that the exam can find missing, and where each is taught."""

from enum import Enum

from chapters.course.text import LocalizedText


class Mechanism(Enum):
    """A mechanism in the words of the course, and the chapter that teaches it."""

    AGENT_LOOP = (
        "s01",
        "no loop that runs the tool calls, without asking, and ends with the answer",
        "確認なしにツールを実行しながら回り、答えで終わるループがありません",
    )
    OFFERED_TOOL = ("s02", "no tool is offered to the model", "モデルに渡すツールがありません")
    SHELL = ("s02", "no call of a shell command", "シェルコマンドが実行されません")
    VALID_HISTORY = (
        "s01",
        "no valid history: first a user message, and a result right after every tool call",
        "履歴が正しくありません (最初は user、ツール呼び出しの直後には必ずその結果)",
    )
    TOOL_ERRORS = (
        "s02",
        "no tool result for a call that cannot run: its error goes back to the model",
        "実行できない呼び出しのエラーが、ツールの結果としてモデルに返されません",
    )
    RETRY = ("s11", "no retry with growing waits", "待ち時間を延ばしながらの再試行がありません")
    RETRY_AFTER = (
        "s11",
        "no retry after the wait that the server asks for",
        "サーバーが求める時間だけ待ってからの再試行がありません",
    )
    FALLBACK = (
        "s11",
        "no switch to the fallback model after repeated overload",
        "過負荷が続くときのフォールバックモデルへの切り替えがありません",
    )
    BROKEN_STREAM = (
        "s24",
        "no retry of a stream that ends without message_stop",
        "message_stop の前に途切れたストリームの再試行がありません",
    )
    ERROR_EVENT = (
        "s24",
        "no retry after an error event inside a stream, for which the anthropic SDK raises APIStatusError",
        "ストリームの中の error イベントに対する再試行がありません (anthropic SDK では APIStatusError)",
    )
    RESET = (
        "s24",
        "no retry after a reset inside a stream; with the anthropic SDK that is httpx2.ReadError, no APIError",
        "ストリームの途中のリセットに対する再試行がありません (anthropic SDK では APIError ではなく httpx2.ReadError)",
    )
    BAD_EVENT = (
        "s24",
        "no retry after an event that is not JSON; with the anthropic SDK that is json.JSONDecodeError, no APIError",
        "JSON ではないイベントに対する再試行がありません (anthropic SDK では APIError ではなく json.JSONDecodeError)",
    )
    ONE_ANSWER = (
        "s24",
        "text of a failed attempt stays in the output: print a reply once it is complete",
        "途切れた応答が出力に残ります (応答は完成してから出力します)",
    )
    CUT_CALL = (
        "s11",
        "no check that a tool call is complete: a cut one is dropped and requested again",
        "ツール呼び出しが最後まで届いたかの確認がありません (切れたものは実行せず、もう一度求めます)",
    )
    CALLS_ONCE = ("s11", "a tool call takes effect twice", "同じツール呼び出しが二度実行されます")
    SILENCE = ("s24", "no time limit on a silent stream", "沈黙したストリームの時間制限がありません")
    COMPACTION = ("s08", "no compaction when the prompt is too long", "プロンプトが長すぎるときの圧縮がありません")
    ESCALATION = ("s11", "no escalation of max_tokens", "max_tokens の引き上げがありません")
    CONTINUATION = (
        "s11",
        "no continuation of a reply that was cut at max_tokens",
        "max_tokens で切れた応答の続きを求めていません",
    )
    JOINED = (
        "s11",
        "the pieces of a continued reply are not joined in the output",
        "続きを求めた応答が、出力で一つにつながっていません",
    )
    REPORT = (
        "s11",
        "no report of the failure: an exit code other than 0, and a line that says why",
        "失敗が報告されません (0 以外の終了コードと、理由を示す 1 行が要ります)",
    )
    EXIT_CODE = ("s11", "no exit code 0 after the answer", "答えたのに終了コードが 0 ではありません")
    LOOP = ("s22", "no end when the model repeats itself", "同じ呼び出しを繰り返すモデルが止められません")
    LONG_WORK = (
        "s22",
        "long work is stopped although every step brings news",
        "どのステップにも進展がある長い作業が、途中で止められます",
    )
    SESSION = (
        "s25",
        "messages are not saved as they are added, or not loaded again",
        "メッセージが追加のたびに保存されていないか、続きで読み込まれません",
    )
    PROCESS_END = (
        "s23",
        "commands outlive the program: give each a process group, and end the group",
        "コマンドがプログラムの終了後も残ります (プロセスグループを作り、まとめて終了させます)",
    )

    SERVERS = (
        "s19",
        "no tool of an MCP server, or no result of it when the server fails",
        "MCP サーバーのツールが使えないか、サーバーが失敗したときの結果がありません",
    )

    MEMBERS = (
        "s15",
        "no member whose answer, or failure, reaches the lead as mail",
        "答えや失敗がメールでリードに届くメンバーがいません",
    )
    WORKTREES = (
        "s18",
        "no work in a worktree (--worktree=NAME), or it is lost at the end",
        "ワークツリーでの作業 (--worktree=NAME) ができないか、終わりに失われます",
    )

    @property
    def where(self) -> str:
        """A chapter such as "s11"."""
        return self.value[0]

    @property
    def text(self) -> LocalizedText:
        """The statement that it is missing."""
        return LocalizedText(*self.value[1:])
