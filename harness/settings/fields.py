"""The settings themselves: one class, one docstring each."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from harness.model.endpoint import KeyHeader, Platform
from harness.settings.value_types import (
    AskUser,
    CacheTtl,
    Call,
    CascadeProbes,
    Count,
    CountOrNone,
    Dollars,
    Domains,
    EffortLevel,
    FanOutAnswer,
    Headers,
    Hooks,
    KeyHeaders,
    ModelNames,
    PermissionMode,
    Place,
    Places,
    Platforms,
    Prices,
    Rules,
    Seconds,
    SecondsOrNone,
    SecretText,
    Share,
    Size,
    Switch,
    Text,
)

DEFAULT_MODEL = "claude-sonnet-5-5"
PRACTICE_MODEL = "practice-1"


class Settings(BaseModel):
    """Everything that can be set, checked and frozen. `load` makes one from flags, environment and files."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: Text = DEFAULT_MODEL
    """The model that answers; `practice-1` where the practice model is used and nothing else is set."""
    fallback_models: ModelNames = ()
    """Models to turn to, in order and for the rest of a turn, when one stays overloaded or declines; at most three."""
    effort: EffortLevel | None = None
    """How much the model puts into a reply, thinking included: from low, which is quick and cheap, to max; unset: the
    model's own. Not every model takes one, or every level."""
    api_key: SecretText | None = None
    """Key of the API."""
    auth_token: SecretText | None = None
    """Bearer token, where a gateway wants one instead of a key. The key goes first when both are set."""
    base_url: Text | None = None
    """Address of the API; unset: that of Anthropic."""
    endpoint: Platforms = Platform.ANTHROPIC
    """Who serves the model. Bedrock, Vertex and Foundry take their credentials from the environment
    (docs/endpoints.md); `api_key`, `auth_token` and `base_url` do not count for them."""
    region: Text | None = None
    """Region of Bedrock or Vertex; unset: AWS_REGION or AWS_DEFAULT_REGION, or CLOUD_ML_REGION."""
    vertex_project: Text | None = None
    """Project of Vertex; unset: ANTHROPIC_VERTEX_PROJECT_ID, or that of the Google credentials."""
    foundry_resource: Text | None = None
    """Resource of Foundry; unset: ANTHROPIC_FOUNDRY_RESOURCE. The files of a folder cannot set it."""
    key_header: KeyHeaders = KeyHeader.AUTHORIZATION
    """The header that carries `api_key`: authorization (as a Bearer token, like the SDK), or x-api-key, which some
    gateways want. `auth_token` is always a Bearer token."""
    anthropic_version: Text | None = None
    """Value of the header anthropic-version, for a gateway that wants an older one; unset: that of the SDK."""
    headers: Headers = ()
    """More headers for every request to the model; their values count as secrets. The files of a folder cannot set
    it."""
    practice: Switch = False
    """Let the built-in rule-based practice model answer. On by itself when there is no key, token or address."""
    practice_script: Place | None = None
    """Replies and faults that the practice model plays instead of making them up; switches `practice` on."""
    tool_faults: Place | None = None
    """Faults of tools to practise with. The files of a folder cannot set it."""

    workspace: Place = Field(default_factory=Path.cwd)
    """The folder the agent works in, where its file tools stay. A flag or the environment can set it, files cannot."""
    state_dir: Place | None = None
    """Where sessions and long outputs are kept; unset: the platform's folder for the state of programs."""
    permission_mode: PermissionMode = "ask"
    """Before a tool writes or runs something: ask, ask about programs only (edits), allow it (yolo), refuse (deny)."""
    permissions_allow: Rules = ()
    """What may run without a question. The files of a folder cannot set it."""
    permissions_ask: Rules = ()
    """What a person is asked about even where it would be allowed. The rules of all layers count together."""
    permissions_deny: Rules = ()
    """What never may run, in no mode. The rules of all layers count together."""
    permissions_file: Place | None = None
    """Where rules are that you keep; unset: permissions.toml beside your settings. The files of a folder cannot."""
    ask_user: AskUser = "refuse"
    """What the model hears that asks a question where no user is present: to go on by its own judgement (refuse), or
    its first option (first). At a terminal you are asked. off: it cannot ask at all."""
    instructions: Switch = True
    """Tell the model what AGENTS.md and CLAUDE.md say: yours, those of the workspace and of the folders above it."""
    skills: Switch = True
    """Let the model read skills: yours in the folder skills of `user_dir`, the project's in .harness/skills, and those
    in .agents/skills and .claude/skills of `home_dir` and of the project."""
    memory: Switch = True
    """Let the model keep facts for later sessions: yours in the folder memory of `user_dir`, the project's beside its
    sessions."""
    web_search: Switch = False
    """Let the model search the web. The server searches, and each search costs extra (`harness doctor` and /cost)."""
    web_fetch: Switch = False
    """Let the model read web pages whose address stands in the conversation. The server fetches them."""
    web_allowed_domains: Domains = ()
    """The only domains that search and fetch may use; unset: all. Not together with `web_blocked_domains`."""
    web_blocked_domains: Domains = ()
    """Domains that search and fetch never use."""
    web_max_uses: Count | None = None
    """Searches, and likewise pages, in one request; unset: as many as the server allows."""
    user_dir: Place | None = None
    """Where your AGENTS.md, skills and memories are; unset: beside your settings. Files of a folder cannot set it."""
    home_dir: Place | None = None
    """Where your .claude and .agents are; unset: your home folder. Files of a folder cannot set it."""
    plain: Switch = False
    """Lines only, no drawing; fit for screen readers and dumb terminals."""
    theme: Text | None = None
    """Colours of the screen, one of those that /theme lists; unset: textual-dark."""
    call: Call = "bell"
    """How you are called when something waits for you elsewhere: by bell, by a notification (osc9), or not."""
    debug: Switch = False
    """Write a log file with tracebacks."""

    max_turns: Count | None = None
    """Steps, that is replies of the model, that one prompt may take; unset: no limit."""
    max_tokens: Count | None = None
    """Output tokens of one reply. Setting it keeps the cap from being raised when a reply is cut off."""
    max_budget_usd: Dollars | None = None
    """What the session may cost before the next request is refused; unset: no limit. Needs a price for each model."""
    prices: Prices = ()
    """What models cost that the program has no price for, or another one: [prices."NAME"] with input and output, in US
    dollars per million tokens. All keys are in harness/model/data/prices.toml."""
    max_wait_s: SecondsOrNone = 0.0
    """The longest wait that is slept through without anybody to ask, when a server asks for a long one."""
    token_budget: Count | None = None
    """Output tokens a turn should use before it may end; unset: it ends when the model ends it."""

    max_retries: CountOrNone = 10
    """Retries of one request."""
    turn_retries: CountOrNone = 30
    """Retries of all requests of a turn together."""
    turn_wait_s: SecondsOrNone = 300.0
    """Seconds of waiting for retries in a turn."""
    retry_burst: CountOrNone = 10
    """Retries that all agents of a session have together, while any subagent works, before `retry_share` counts."""
    retry_share: Share = 0.1
    """Retries that each of their requests adds to those; when none is left, a request ends with its last error."""
    long_wait_s: Seconds = 60.0
    """A wait longer than this is never slept through silently."""
    overloads_before_switch: Count = 3
    """Overload replies (529) in a row before the first fallback model answers."""

    default_cap: Count = 8_000
    """Output tokens a request asks for at first; a model that thinks is asked for all it can give."""
    raised_cap: Count = 64_000
    """Output tokens it asks for after a reply was cut off, within what the model allows, to the end of the session."""
    continuations: CountOrNone = 3
    """Times a reply that is cut off even so is continued."""

    cache_ttl: CacheTtl = "5m"
    """How long the prompt cache keeps system prompt and tools after a request: 5 minutes, or 1 hour ("1h"), which costs
    2 times the input price to write instead of 1.25 and pays off when you think longer than 5 minutes."""
    auto_compact: Switch = True
    """Shorten the history when it grows too long. Off: it is never shortened unless you ask with /compact."""
    compact_at: Size = 200_000
    """Size of the history from which on it is shortened, in tokens or percent of the window; never later than the
    window needs. 200,000 tokens of Opus 5.5 are read again for $0.04 at each step, 967,000 for $0.19."""
    result_characters: Count = 50_000
    """Characters of a tool's result that the model sees; the rest is kept on disk."""
    plan_reminder: CountOrNone = 8
    """Tool rounds without a word about an open plan, after which the model is reminded of it; 0: never."""
    bash_timeout_s: Seconds = 120.0
    """Seconds a shell command may take unless the model asks for another limit."""
    tool_timeout_s: Seconds = 120.0
    """Seconds any other tool may take that names no limit of its own; over it the call counts as a failure."""

    background_timeout_s: Seconds = 3_600.0
    """Seconds a command in the background may take unless the model asks for another limit."""
    background_wait_s: SecondsOrNone = 300.0
    """Seconds that -p, and a pipe at its end, wait for background commands before they are ended. 0: no wait."""
    max_concurrent: CountOrNone = 5
    """Agents that work at the same time; with `shared_gate` those of all your sessions on this machine. 0: none."""
    max_queue_size: CountOrNone = 20
    """Agents that wait for their turn, and commands in the background that do. 0: none."""
    max_background: CountOrNone = 10
    """Commands of a session that run in the background at the same time. 0: none."""
    shared_gate: Switch = True
    """Count the agents of all your sessions on this machine together. Off: each session for itself."""
    max_agents: CountOrNone = 100
    """Subagents that a session may start in all; then no other one is started. 0: none."""
    fan_out: FanOutAnswer = "ask"
    """Before a session starts more than `fan_out_agents` subagents: ask you, which without a user present means no;
    start them (allow); or do not (refuse)."""
    fan_out_agents: CountOrNone = 10
    """Subagents that a session starts before it asks; a yes holds for twice as many, or for all that were asked for."""
    agent_turns: Count = 30
    """Steps that a subagent may take for one task."""
    agent_budget_usd: Dollars | None = None
    """What a subagent may cost for one task; unset: what is left to the session."""

    failure_threshold: Count = 3
    """Failures in a row after which a tool is not called any more, until a probe succeeds."""
    failure_budget: Count = 5
    """Failures of all tools in one turn, those of one cause counted once, before the turn pauses with a report."""
    probe_distance: Count = 3
    """Steps from the opening of a breaker to the probe."""
    probe_lease: Count = 3
    """Steps after which a probe without an outcome counts as lost."""
    cascade_window: Count = 10
    """Steps within which tools that open with the same error are taken to have one cause."""
    cascade_probes: CascadeProbes = "canary"
    """What tools that failed from one cause wait for: a probe after 3, 6, 12, 20 steps (canary), or you (confirm)."""
    strict_freshness: Switch = False
    """Label every result that repeats an earlier one, also without a change in between."""
    count_errors: Switch = False
    """Count ordinary error results against a tool as well, such as a failed test; off: only failures of its own."""

    hooks: Hooks = ()
    """Commands that are asked at fixed points of a session. Those of all layers count, of a folder only if trusted."""
    trusted_folders: Places = ()
    """Folders whose own files may set everything but what no folder may set. The files of a folder cannot set it."""
    trust_folder: Switch | None = None
    """Whether the files of this folder may set what waits for your trust; unset: you are asked. No file can set it."""

    escape: Switch = True
    """Do something about an agent that goes in circles; off: it is only told."""
    escape_policy: Text | None = None
    """Numbers of that which are not to be as shipped, as "copies=5 nudges=2"; /loops shows them all."""
    checkpoints: Switch = True
    """Keep what the files hold before something changes them, in a session with a person, for /rewind and ways back."""

    watch_headers_s: Seconds = 60.0
    """Seconds until the model must begin to answer, for an empty prompt."""
    watch_headers_s_per_10k_tokens: SecondsOrNone = 1.0
    """Seconds added to that for every 10,000 tokens of the prompt."""
    watch_quiet_bytes_s: Seconds = 180.0
    """Seconds without a byte before the first block and while the model thinks."""
    watch_quiet_event_s: Seconds = 300.0
    """Seconds without an event other than a ping before the first block and while the model thinks."""
    watch_content_bytes_s: Seconds = 45.0
    """Seconds without a byte inside text or a tool call."""
    watch_content_event_s: Seconds = 120.0
    """Seconds without an event other than a ping inside text or a tool call."""
    watch_hint_s: Seconds = 20.0
    """Seconds of silence after which you are told."""
