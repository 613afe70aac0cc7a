"""What a practice server allows: its models with their limits, its key, how strict it is."""

from dataclasses import dataclass, replace

from harness.events import Json


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as the server knows it. Limits are tokens (api §5.2)."""

    id: str
    window: int
    max_output: int
    created_at: str = "2026-01-01T00:00:00Z"
    prefill: bool = False
    """An assistant message may stand last."""
    strict_overflow: bool = False
    """Input plus max_tokens beyond the window is refused; newer models accept it and stop at the window's end."""

    thinking: frozenset[str] = frozenset({"adaptive", "enabled", "disabled"})
    """The kinds of the `thinking` parameter that are taken."""
    forced_tools: bool = True
    """tool_choice may force a tool."""

    def described(self) -> Json:
        """The model as an object of the models endpoint."""
        return {
            "type": "model",
            "id": self.id,
            "display_name": self.id.replace("-", " ").title(),
            "created_at": self.created_at,
            "max_input_tokens": self.window,
            "max_tokens": self.max_output,
            "lifecycle": "active",
            "retires_at": None,
            "capabilities": {"thinking": {"supported": True}, "effort": {"supported": True}},
        }


_ADAPTIVE = frozenset({"adaptive", "disabled"})
_MANUAL = frozenset({"enabled", "disabled"})
_ALWAYS = frozenset({"adaptive"})


def _million(*ids: str, thinking: frozenset[str] = _ADAPTIVE, forced_tools: bool = True) -> tuple[ServedModel, ...]:
    return tuple(ServedModel(id, 1_000_000, 128_000, thinking=thinking, forced_tools=forced_tools) for id in ids)


def _smaller(*ids: str) -> tuple[ServedModel, ...]:
    created = "2025-10-01T00:00:00Z"
    return tuple(ServedModel(id, 200_000, 64_000, created, prefill=True, thinking=_MANUAL) for id in ids)


def _older(*ids: str) -> tuple[ServedModel, ...]:
    return tuple(
        ServedModel(id, 200_000, 32_000, "2025-05-14T00:00:00Z", prefill=True, strict_overflow=True, thinking=_MANUAL)
        for id in ids
    )


MODELS = (
    ServedModel("practice-1", 200_000, 64_000),
    *_million("claude-fable-5-2", "claude-fable-5-1", "claude-opus-5-5", thinking=_ALWAYS, forced_tools=False),
    *_million("claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5", "claude-opus-5", "claude-sonnet-5"),
    *_million("claude-opus-4-8", "claude-opus-4-7"),
    *_million("claude-opus-4-6", "claude-sonnet-4-6", thinking=frozenset({"adaptive", "enabled", "disabled"})),
    *_smaller("claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5"),
    *_older("claude-opus-4-1", "claude-opus-4", "claude-sonnet-4"),
)
"""The models that are served when nothing else is said. A dated id such as claude-opus-4-5-20251101 names its model."""


@dataclass(frozen=True, slots=True)
class ServerRules:
    """What the server allows."""

    models: tuple[ServedModel, ...] = MODELS
    window: int | None = None
    """Tokens of input that every model takes, instead of its own limit."""
    max_output: int | None = None
    """Tokens of output that every model gives at most, instead of its own limit."""
    strict_overflow: bool | None = None
    """Refuse input plus max_tokens beyond the window; None: as the model does."""
    key: str | None = None
    """The only key that is accepted; None: any."""
    key_required: bool = True
    """A request must carry some key, in Authorization or x-api-key."""
    strict: bool = True
    """Check requests as the API does (`checks`)."""
    bind_thinking: bool = False
    """A replayed thinking block is valid only while everything before it is unchanged (api §5.4)."""

    def model(self, id: str) -> ServedModel | None:
        """The model that an id names, with the limits of these rules; None: there is no such model."""
        for model in sorted(self.models, key=lambda model: -len(model.id)):
            suffix = id.removeprefix(model.id)
            if suffix == "" or (id.startswith(model.id) and suffix[1:].isdigit() and len(suffix) == 9):
                return self._limited(model)
            if suffix == "-latest" and id.startswith(model.id):
                return self._limited(model)
        return None

    def listed(self) -> tuple[ServedModel, ...]:
        """All models, with the limits of these rules."""
        return tuple(self._limited(model) for model in self.models)

    def _limited(self, model: ServedModel) -> ServedModel:
        return replace(
            model,
            window=self.window or model.window,
            max_output=self.max_output or model.max_output,
            strict_overflow=model.strict_overflow if self.strict_overflow is None else self.strict_overflow,
        )
