"""What a practice server knows and allows: its models with their limits, its key, and how strict it is."""

from dataclasses import dataclass, replace

from harness.events import Json

EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as the server knows it. Limits are tokens."""

    id: str
    window: int
    max_output: int
    created_at: str = "2026-01-01T00:00:00Z"
    prefill: bool = False
    """The last message may be an assistant message."""
    strict_overflow: bool = False
    """Input plus max_tokens beyond the window is refused; newer models accept it and stop at the window's end."""

    thinking: frozenset[str] = frozenset({"adaptive", "enabled", "disabled"})
    """The kinds of the `thinking` parameter that are taken."""
    efforts: tuple[str, ...] = ()
    """Levels of `output_config.effort` that are taken."""
    forced_tools: bool = True
    """tool_choice may force a tool."""
    aliases: tuple[str, ...] = ()
    """Other ids of it."""
    system_messages: bool = True
    """Takes messages of the role "system"."""
    sampling: bool = True
    """Takes temperature, top_p and top_k, where the API version has them."""
    thinks: bool = False
    """Thinks when a request says nothing about thinking."""
    shows_thinking: bool = True
    """Thinking is shown when a request says nothing about its display."""
    retires_at: str | None = None
    """When it ends, as "2026-11-30T00:00:00Z"; None: no end is planned."""
    cache_minimum: int = 1_024
    """Tokens of the shortest prefix that is cached."""

    def described(self) -> Json:
        """The model as an object of the models endpoint."""
        kinds = ("adaptive", "between_tools", "disabled", "enabled")
        return {
            "type": "model",
            "id": self.id,
            "display_name": self.id.replace("-", " ").title(),
            "created_at": self.created_at,
            "max_input_tokens": self.window,
            "max_tokens": self.max_output,
            "lifecycle": "active" if self.retires_at is None else "deprecated",
            "retires_at": self.retires_at,
            "capabilities": {
                "thinking": {
                    "supported": True,
                    "types": {kind: {"supported": kind in self.thinking} for kind in kinds},
                },
                "effort": {
                    "supported": bool(self.efforts),
                    **{level: {"supported": level in self.efforts} for level in EFFORTS},
                },
                "structured_outputs": {"supported": True},
            },
        }


_ADAPTIVE = frozenset({"adaptive", "disabled"})
_MANUAL = frozenset({"enabled", "disabled"})
_ALWAYS = frozenset({"adaptive"})

_LARGE = ServedModel("", 1_000_000, 128_000, thinking=_ADAPTIVE, efforts=EFFORTS, sampling=False, shows_thinking=False)
"""The models from Opus 4.7 on."""
_FIFTH = replace(_LARGE, thinks=True)
"""The models that think by default."""
_ALWAYS_THINKING = replace(_FIFTH, thinking=_ALWAYS, forced_tools=False)
_BOTH = ServedModel(
    "",
    1_000_000,
    128_000,
    thinking=_ADAPTIVE | _MANUAL,
    efforts=("low", "medium", "high", "max"),
    system_messages=False,
)
_SMALLER = ServedModel(
    "", 200_000, 64_000, "2025-10-01T00:00:00Z", prefill=True, thinking=_MANUAL, system_messages=False
)
_OLDER = replace(
    _SMALLER,
    max_output=32_000,
    created_at="2025-05-14T00:00:00Z",
    strict_overflow=True,
    retires_at="2026-06-15T00:00:00Z",
)


MODELS = (
    ServedModel("practice-1", 200_000, 64_000, efforts=EFFORTS),
    replace(_ALWAYS_THINKING, id="claude-fable-5-2"),
    replace(_ALWAYS_THINKING, id="claude-fable-5-1"),
    replace(_ALWAYS_THINKING, id="claude-opus-5-5"),
    replace(_FIFTH, id="claude-sonnet-5-5"),
    replace(_FIFTH, id="claude-haiku-5-5"),
    replace(_FIFTH, id="claude-fable-5", cache_minimum=512),
    replace(_FIFTH, id="claude-opus-5", cache_minimum=512),
    replace(_FIFTH, id="claude-sonnet-5", system_messages=False),
    replace(_LARGE, id="claude-opus-4-8"),
    replace(_LARGE, id="claude-opus-4-7", system_messages=False, cache_minimum=2_048),
    replace(_BOTH, id="claude-opus-4-6", cache_minimum=4_096),
    replace(_BOTH, id="claude-sonnet-4-6"),
    replace(_SMALLER, id="claude-haiku-4-5", cache_minimum=4_096),
    replace(_SMALLER, id="claude-opus-4-5", efforts=("low", "medium", "high"), cache_minimum=4_096),
    replace(_SMALLER, id="claude-sonnet-4-5", retires_at="2026-11-30T00:00:00Z"),
    replace(_OLDER, id="claude-opus-4-1", retires_at=None),
    replace(_OLDER, id="claude-opus-4", aliases=("claude-opus-4-0",)),
    replace(_OLDER, id="claude-sonnet-4", aliases=("claude-sonnet-4-0",)),
)
"""The models that are served when nothing else is said. A dated id such as claude-opus-4-5-20251101 names its model."""

MOST_LISTED = 1_000
"""Models on one page of the list."""
USUALLY_LISTED = 20


@dataclass(frozen=True, slots=True)
class Profile:
    """Overrides for the behaviour of the models."""

    thinks: bool | None = None
    """They think when a request says nothing about thinking."""
    shows_thinking: bool | None = None
    """They show thinking when a request says nothing about its display."""
    tokens: int | None = None
    """Output tokens that every reply needs, thinking included."""
    summary_tokens: int | None = None
    """Output tokens that a summary of the conversation needs."""


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
    """A replayed thinking block is valid only while everything before it is unchanged."""
    profile: Profile = Profile()
    betas: frozenset[str] = frozenset()
    """Values of the anthropic-beta header that are taken besides those that are known."""

    def model(self, id: str) -> ServedModel | None:
        """The model that an id names, with the limits of these rules; None: there is no such model."""
        for model in sorted(self.models, key=lambda model: -len(model.id)):
            if id in model.aliases:
                return self._limited(model)
            suffix = id.removeprefix(model.id)
            if suffix == "" or (id.startswith(model.id) and suffix[1:].isdigit() and len(suffix) == 9):
                return self._limited(model)
            if suffix == "-latest" and id.startswith(model.id):
                return self._limited(model)
        return None

    def listed(self) -> tuple[ServedModel, ...]:
        """All models, with the limits of these rules."""
        return tuple(self._limited(model) for model in self.models)

    def page(self, limit: int | None = None, *, after: str | None = None, before: str | None = None) -> Json | None:
        """A page of the list of models, as the API gives it; None: `after` or `before` names no model."""
        listed = self.listed()
        ids = [model.id for model in listed]
        if any(cursor is not None and cursor not in ids for cursor in (after, before)):
            return None
        first = 0 if after is None else ids.index(after) + 1
        last = len(ids) if before is None else ids.index(before)
        chosen, size = listed[first:last], limit or USUALLY_LISTED
        shown = chosen[-size:] if before is not None and after is None else chosen[:size]
        return {
            "data": [model.described() for model in shown],
            "has_more": len(shown) < len(chosen),
            "first_id": shown[0].id if shown else None,
            "last_id": shown[-1].id if shown else None,
        }

    def _limited(self, model: ServedModel) -> ServedModel:
        return replace(
            model,
            window=self.window or model.window,
            max_output=self.max_output or model.max_output,
            thinks=model.thinks if self.profile.thinks is None else self.profile.thinks,
            shows_thinking=(
                model.shows_thinking if self.profile.shows_thinking is None else self.profile.shows_thinking
            ),
            strict_overflow=model.strict_overflow if self.strict_overflow is None else self.strict_overflow,
        )
