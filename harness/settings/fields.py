"""The settings themselves: one class, one docstring each."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from harness.mcp.config import McpConfig
from harness.model.endpoint import KeyHeader, Platform
from harness.settings.value_types import (
    AskUser,
    BoardChoice,
    BroughtServers,
    CacheTtl,
    CascadeProbes,
    Count,
    CountOrNone,
    Dollars,
    Domains,
    EffortLevel,
    FanOutAnswer,
    FilePatterns,
    Headers,
    Hooks,
    Hosts,
    KeyHeaders,
    McpServers,
    MemorySize,
    ModelNames,
    Notification,
    PermissionMode,
    Place,
    Places,
    Platforms,
    Prices,
    Rules,
    SandboxChoice,
    Seconds,
    SecondsOrNone,
    SecretText,
    Share,
    Size,
    Switch,
    Text,
    Variables,
)

DEFAULT_MODEL = "claude-sonnet-5-5"
PRACTICE_MODEL = "practice-1"


class Settings(BaseModel):
    """Everything that can be set, checked and frozen. `load` makes one from flags, environment and files."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: Text = DEFAULT_MODEL
    """The model; `practice-1` when the practice model is used and nothing else is set."""
    fallback_models: ModelNames = ()
    """Fallback models, in order and for the rest of a turn, when one stays overloaded or declines; at most three."""
    effort: EffortLevel | None = None
    """Effort of the model, thinking included: from low, which is quick and cheap, to max; unset: the model's default.
    Not every model supports every level."""
    api_key: SecretText | None = None
    """Key of the API."""
    auth_token: SecretText | None = None
    """Bearer token for gateways that use one instead of a key. The key is used when both are set."""
    base_url: Text | None = None
    """Address of the API; unset: that of Anthropic."""
    endpoint: Platforms = Platform.ANTHROPIC
    """Who serves the model. Bedrock, Vertex and Foundry take their credentials from the environment
    (docs/endpoints.md); `api_key`, `auth_token` and `base_url` are not used for them."""
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
    """Value of the header anthropic-version, for gateways that need an older one; unset: that of the SDK."""
    headers: Headers = ()
    """Additional headers for every request to the model; their values are secrets. The files of a folder cannot set
    it."""
    lazy_sdk: Switch = True
    """Import only those parts of the anthropic SDK that a request uses: half the time until the first request. Off: all
    of it, if a version of the SDK does not work that way."""
    practice: Switch = False
    """Use the built-in rule-based practice model. Default: on when there is no key, token or address."""
    practice_script: Place | None = None
    """Script with the replies and faults of the practice model; enables `practice`."""
    tool_faults: Place | None = None
    """Injected tool faults, for practice. The files of a folder cannot set it."""

    workspace: Place = Field(default_factory=Path.cwd)
    """The folder the agent works in; file tools stay inside it. A flag or the environment can set it, files cannot."""
    add_dirs: Places = ()
    """Further folders that tools may read and change like the workspace. Their settings files are not read."""
    state_dir: Place | None = None
    """Folder of sessions and long outputs; unset: the platform's state folder."""
    permission_mode: PermissionMode = "ask"
    """Before a tool writes or runs something: ask, ask for programs only (edits), allow (yolo), refuse (deny) or, until
    you have approved a plan of the model, refuse (plan)."""
    permissions_allow: Rules = ()
    """Rules for calls that run without a question. The files of a folder cannot set it."""
    permissions_ask: Rules = ()
    """Rules for calls that always need confirmation. The rules of all layers are combined."""
    permissions_deny: Rules = ()
    """Rules for calls that are refused in every mode. The rules of all layers are combined."""
    permissions_file: Place | None = None
    """File of saved rules; unset: permissions.toml beside your settings. The files of a folder cannot set it."""
    sandbox: SandboxChoice = "auto"
    """What holds shell commands (docs/sandbox.md): the best that this system offers (auto), nothing (off), or nothing
    less than the full sandbox, without which no session begins (required). The files of a folder can only set
    required."""
    sandbox_hosts: Hosts = ()
    """Hosts that commands in the sandbox reach without a question: names, `*.` before a name for all below it, a port
    behind it for a port that is neither 80 nor 443. The files of a folder cannot set it."""
    sandbox_env: Variables = ()
    """Environment variables with names of secrets, such as NPM_TOKEN, that commands in the sandbox inherit all the
    same; `*` stands for any characters. The files of a folder cannot set it."""
    ask_user: AskUser = "refuse"
    """Answer to a question of the model when no user is present: use your own judgement (refuse), or the first option
    (first). At a terminal you are asked. off: the model cannot ask."""
    append_system_prompt: Text | None = None
    """Added to the end of the system prompt, also of subagents."""
    instructions: Switch = True
    """Add AGENTS.md and CLAUDE.md to the prompt: yours, those of the workspace and of the folders above it."""
    skills: Switch = True
    """Let the model read skills: yours in the folder skills of `user_dir`, the project's in .harness/skills, and those
    in .agents/skills and .claude/skills of `home_dir` and of the project."""
    memory: Switch = True
    """Let the model store facts for later sessions: yours in the folder memory of `user_dir`, the project's beside its
    sessions."""
    mcp: Switch = True
    """Offer the tools of MCP servers: those of `mcp_servers`, of mcp.json beside your settings, and of .mcp.json of the
    workspace if you trust the folder."""
    mcp_servers: McpServers = McpConfig()
    """MCP servers by name, each with command and args, or url, as in .mcp.json. The files of a folder cannot set it."""
    mcp_config: BroughtServers = McpConfig()
    """MCP servers of this session, before all others: a file such as .mcp.json, or its content. No file can set it."""
    strict_mcp_config: Switch = False
    """Use only the MCP servers of `mcp_config`. No file can set it."""
    mcp_connect_s: Seconds = 30.0
    """Seconds for starting an MCP server, from its command to its list of tools."""
    mcp_sampling_requests: CountOrNone = 20
    """Requests that one MCP server may make of the model in a session, each after your yes; 0: none. They are part of
    the session's cost."""
    mcp_sampling_tokens: Count = 20_000
    """Output tokens of all these requests of a server together."""
    web_search: Switch = False
    """Let the model search the web. The server searches, and each search costs extra (`harness doctor` and /cost)."""
    web_fetch: Switch = False
    """Let the model read web pages whose address appears in the conversation. The server fetches them."""
    web_allowed_domains: Domains = ()
    """The only domains that search and fetch may use; unset: all. Not together with `web_blocked_domains`."""
    web_blocked_domains: Domains = ()
    """Domains that search and fetch never use."""
    web_max_uses: Count | None = None
    """Searches, and likewise pages, in one request; unset: as many as the server allows."""
    user_dir: Place | None = None
    """Folder of your AGENTS.md, skills and memories; unset: beside your settings. Files of a folder cannot set it."""
    home_dir: Place | None = None
    """Folder of your .claude and .agents; unset: your home folder. Files of a folder cannot set it."""
    plain: Switch = False
    """Plain lines without drawing, for screen readers and dumb terminals."""
    theme: Text | None = None
    """Colours of the screen, one of those that /theme lists; unset: textual-dark."""
    notification: Notification = "bell"
    """How you are notified when something waits for you or a longer turn ends: terminal bell, desktop notification
    (osc9), or off. Not while the terminal has the focus, or without that report within 5 s of a key."""
    vim_keys: Switch = False
    """Edit the prompt with Vim keys: Esc for normal mode (shown as N), i and others for insert mode."""
    terminal_title: Switch = True
    """Show in the title of the terminal what runs now."""
    debug: Switch = False
    """Write a log file with tracebacks."""

    max_steps: Count | None = None
    """Steps (model replies) that one prompt may take; unset: no limit."""
    max_tokens: Count | None = None
    """Output tokens of one reply. Setting it keeps the cap from being raised when a reply is cut off."""
    max_budget_usd: Dollars | None = None
    """Cost budget of the session; requests beyond it are refused; unset: no limit. Needs a price for each model."""
    prices: Prices = ()
    """Prices of models without a known price, or different prices: [prices."NAME"] with input and output, in US dollars
    per million tokens. All keys are in harness/model/data/prices.toml."""
    max_wait_s: SecondsOrNone = 0.0
    """The longest wait requested by a server that is accepted when no user is present."""
    token_budget: Count | None = None
    """Output tokens a turn should use before it may end; unset: the model decides."""

    max_retries: CountOrNone = 10
    """Retries of one request."""
    turn_retries: CountOrNone = 30
    """Retries of all requests of a turn together."""
    turn_wait_s: SecondsOrNone = 300.0
    """Seconds of waiting for retries in a turn."""
    retry_burst: CountOrNone = 10
    """Retries shared by all agents of a session while a subagent works, before `retry_share` applies."""
    retry_share: Share = 0.1
    """Retries that each request adds to the shared ones; when none is left, a request ends with its last error."""
    long_wait_s: Seconds = 60.0
    """A longer wait is never silent."""
    overloads_before_switch: Count = 3
    """Overload replies (529) in a row before the first fallback model answers."""

    default_cap: Count = 8_000
    """Output token limit of a request; a thinking model gets its maximum."""
    raised_cap: Count = 64_000
    """The raised limit after a reply was cut off, within the model's maximum, until the session ends."""
    continuations: CountOrNone = 3
    """Continuations of a reply that is still cut off."""

    cache_ttl: CacheTtl = "5m"
    """How long the prompt cache keeps system prompt and tools after a request: 5 minutes, or 1 hour ("1h"), which costs
    2 times the input price to write instead of 1.25 and pays off when you think longer than 5 minutes."""
    auto_compact: Switch = True
    """Compact the history when it grows too long. Off: only /compact does."""
    compact_at: Size = 200_000
    """Size of the history that triggers compaction, in tokens or percent of the window; never later than the window
    needs. 200,000 tokens of Opus 5.5 are read again for $0.04 at each step, 967,000 for $0.19."""
    result_characters: Count = 50_000
    """Characters of a tool result that the model sees; the rest is on disk."""
    plan_reminder: CountOrNone = 8
    """Steps with tool calls that do not mention an open plan before the model is reminded of it; 0: never."""
    board: BoardChoice = "off"
    """The task board that the model has tools for: that of this session ("session"), or one of the repository by its
    name, which all its sessions and worktrees share. A resumed session keeps its board."""
    worktree_files: FilePatterns = (".env", ".env.local")
    """Files that git ignores and that a new worktree needs as well: they are copied from your own tree."""
    check_command: Text | None = None
    """The command that says whether merged worktrees work, such as "pytest -q"; unset: they are merged untested."""
    check_timeout_s: Seconds = 1_800.0
    """Time limit of that command, in seconds."""
    team: Switch = False
    """The model has tools to start members: subagents with a name that stay, remember, and write to each other. A
    resumed session keeps its members."""
    team_members: Count = 20
    """Members that a session may have at the same time. `max_subagents` counts all that it has started."""
    team_budget_usd: Dollars | None = None
    """Cost budget of all members together; unset: the rest of the session's budget."""
    team_claims: Switch = True
    """Idle members claim ready tasks of the board. `/team claims off` ends that for a session."""
    team_idle_s: SecondsOrNone = 0.0
    """Seconds without work after which a member ends; 0: it stays. It does not end while it waits for an answer."""
    team_member_tasks: CountOrNone = 0
    """Tasks of the board that one member claims before it ends; 0: as many as there are. Those given back count."""
    team_wait_s: Seconds = 1_800.0
    """Seconds that `harness -p` waits for members after the answer, in all; then they are stopped."""
    request_deadline_s: Seconds = 600.0
    """Seconds until a member that was asked for an answer is reminded. After half of them more the lead is asked, and
    then you."""
    shutdown_deadline_s: Seconds = 120.0
    """The same for a member that was asked to end: after half of them more it is ended by force."""
    fleet_lease_s: Seconds = 300.0
    """Seconds after which another worker of the fleet gets the tasks of one that was not heard of. A worker with a
    database that is away for longer loses its tasks."""
    schedule: Switch = True
    """Scheduled prompts fire in interactive sessions. Off: none fires."""
    schedule_tools: Switch = False
    """The model has tools to schedule prompts. You have /cron in any case."""
    bash_timeout_s: Seconds = 120.0
    """Seconds a shell command may take unless the model asks for another limit."""
    bash_memory: MemorySize | None = None
    """Memory that a shell command with all its children may use; beyond it the kernel kills one of its processes, and
    the result says so. Unset: no limit. It needs Linux with cgroups v2 and the right to make groups (`harness doctor`
    says whether it is possible); elsewhere it has no effect, and a warning says why."""
    tool_timeout_s: Seconds = 120.0
    """Seconds any other tool without its own limit may take; beyond it the call counts as a failure."""

    background_timeout_s: Seconds = 3_600.0
    """Seconds a background command may take unless the model asks for another limit."""
    background_at_limit: Switch | None = None
    """A shell command that reaches its time limit continues in the background instead of being ended; unset: if a user
    is present, and with -p and piped input if `background_wait_s` is above 0. Where no user is present, a command that
    has written nothing for a while is ended all the same."""
    background_wait_s: SecondsOrNone = 300.0
    """Seconds that -p and piped input wait for background commands at the end. 0: no wait."""
    max_concurrent: CountOrNone = 5
    """Concurrent agents; with `shared_admission`, of all your sessions on this machine. 0: none. After a server has
    refused a request with 429 or 529 also the most requests to it at a time (docs/fleet.md#one-limit-for-all)."""
    max_queue_size: CountOrNone = 20
    """Queued agents, and queued background commands. 0: none."""
    max_background: CountOrNone = 10
    """Concurrent background commands of a session. 0: none."""
    shared_admission: Switch = True
    """Share `max_concurrent` between all your sessions on this machine. Off: each session has its own limit."""
    max_subagents: CountOrNone = 100
    """Subagents that a session may start in total. 0: none."""
    fan_out: FanOutAnswer = "ask"
    """Before a session starts more than `fan_out_subagents` subagents: ask you, which without a user present means no;
    start them (allow); or do not (refuse)."""
    fan_out_subagents: CountOrNone = 10
    """Subagents that a session starts before it asks; a yes covers twice as many, or all requested ones."""
    subagent_steps: Count = 30
    """Steps that a subagent may take for one task."""
    subagent_budget_usd: Dollars | None = None
    """Cost budget of a subagent for one task, of a member for all; unset: the rest of the session's budget."""

    failure_threshold: Count = 3
    """Consecutive failures that open a tool's breaker, until a probe succeeds."""
    failure_budget: Count = 5
    """Failures of all tools in one turn, those of one cause counted once, before the turn pauses with a report."""
    probe_distance: Count = 3
    """Steps from the opening of a breaker to the probe."""
    probe_lease: Count = 3
    """Steps after which a probe without an outcome counts as lost."""
    cascade_window: Count = 10
    """Steps within which breakers that open with the same error are attributed to one cause."""
    cascade_probes: CascadeProbes = "canary"
    """Recovery of tools that failed from one cause: probes after 3, 6, 12, 20 steps (canary), or your confirmation
    (confirm)."""
    strict_freshness: Switch = False
    """Label every result that repeats an earlier one, even without a change in between."""
    count_errors: Switch = False
    """Also count ordinary error results as failures, such as a failed test; off: only failures of the tool itself."""

    hooks: Hooks = ()
    """Commands that run at fixed points of a session. Those of all layers are combined, of a folder only if trusted."""
    trusted_folders: Places = ()
    """Folders whose files are trusted with every setting that a folder may set. The files of a folder cannot set it."""
    trust_folder: Switch | None = None
    """Trust the settings in the files of this folder; unset: you are asked. No file can set it."""

    loop_intervention: Switch = True
    """Intervene when the agent repeats itself; off: loops are only reported."""
    loop_limits: Text | None = None
    """Changed limits of loop detection and intervention, such as "copies=5 nudges=2"; /loops shows them all."""
    checkpoints: Switch | None = None
    """Keep file contents before they change, for /undo, /rewind and rollback; unset: in conversations, not with -p."""

    watch_headers_s: Seconds = 60.0
    """Seconds within which the model must begin to answer, for an empty prompt."""
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
    """Seconds of silence before a hint is shown."""
