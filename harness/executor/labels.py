from typing import Any


class Labels:
    def __init__(self, *a: Any, **k: Any) -> None: ...
    def begin_turn(self, at: float) -> None: ...
    def label(self, *a: Any, **k: Any) -> Any:
        return None


def with_label(text: str, label: Any, tool: str) -> str:
    return text
