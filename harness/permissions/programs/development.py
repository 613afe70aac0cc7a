"""Interpreters, package managers, compilers, containers, forges: the few forms that only look, and roles of the rest.

A form looks only where nothing in the current folder can make the program run or load something, and where it shows no
secrets. That leaves out more than one would think, `--version` included, because many of these programs are started by
another one that first asks the folder which of them it shall be:

* `cargo`, `rustc`, `rustup`: rust-toolchain.toml may name a folder, whose `rustc` then runs (`rustup --version` asks it
  for its version, too). `cargo tree` and `cargo metadata` run `rustc`, or what `.cargo/config.toml` has in its place.
* `yarn`, `pnpm`, `npx`, `corepack`: `.yarnrc` has a `yarn-path`, package.json a `packageManager`; npx runs a package.
* `npm ls` and every other command of npm keep a log in the folder that `.npmrc` names, and those that use the network
  go to a registry named there, in whose address it may put variables of the environment. `npm --version` does neither.
* `pytest`, `tox`, `nox`: conftest.py, toxfile.py and plugins named by settings are loaded before options are read.
* `poetry`, `hatch`, `pdm`: plugins that pyproject.toml asks for. `uv pip` and `uv python` run `.venv/bin/python`.
* `bundle`, `rake`: the Gemfile and the Rakefile are programs; Gemfile.lock names the version of bundler that runs.
* `go`: go.mod names a toolchain, which is fetched or searched for by name; `go env` may show passwords of proxies.
* `mvn`, `gradle`, `sbt`: `.mvn/jvm.config` and gradle.properties have options for Java, which may load code.
* `dotnet`: global.json names the SDK and may say where it lies.
* `terraform`: `.terraform` and its lock file are read for `version`, and a version switcher in front obeys
  `.terraform-version`.
* `php`, `deno`, `bun`, `prettier`, `eslint`, `coverage`: not certain of every version.
* `python -m`: the current folder comes first where modules are searched for, so that `python -m pip list` runs a
  `pip.py` of the folder. `pip list` does not. `pip freeze` asks git and hg about editable packages, and hg obeys
  `.hg/hgrc`; `pip config` shows addresses with passwords.
* `docker inspect`, `docker compose config`, `kubectl describe`, `kubectl get -o yaml`, `systemctl show`, `gh --jq env`
  show variables and secrets. `docker logs`, `kubectl logs` and `journalctl` show data from outside the workspace.
* `gh` may only be given names: an address, or `HOST/OWNER/REPO`, selects the server and the data sent to it. * `brew
info` takes the path of a formula, which is a program; `apt show` that of a package.

Whether a program is the one it should be, and not a file of the workspace, is not decided here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordRole, WordUse
from harness.permissions.programs.parsers import Parser, and_uses, joined, loose, named, plain
from harness.permissions.shell.syntax import Word, WordKind

COMMAND, EXECUTE, READ, TEXT, TREE, WRITE = (
    WordRole.COMMAND,
    WordRole.EXECUTE,
    WordRole.READ,
    WordRole.TEXT,
    WordRole.TREE,
    WordRole.WRITE,
)


def _only(options: str) -> Callable[[ParsedCommand], bool]:
    """These options are given, and no others."""
    allowed = names(options)
    return lambda parsed: bool(parsed.options) and all(name in allowed for name, _ in parsed.options)


def _version(forms: str = "--version", otherwise: Parser | None = None) -> Program:
    """A program that looks where one of these words is all that it is given."""

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        if len(words) == 1 and words[0].known and words[0].text in names(forms):
            return ParsedCommand(program, options=((words[0].text, None),))
        found = otherwise(program, words) if otherwise is not None else None
        return found and replace(found, acts=True)

    return Program(parser=read)


# ── interpreters ────────────────────────────────────────────────────────────────────────────────


def _arguments(words: tuple[Word, ...]) -> list[WordUse] | None:
    """What a script is given may be files that it reads, values in options included."""
    uses = []
    for word in words:
        if word.kind is WordKind.UNKNOWN:
            return None
        value = word.text.partition("=")[2]
        if word.text.startswith("-") and not value:
            value = word.text[2:] if re.search(r"[/.~]", word.text) else ""
        uses += [WordUse(READ, word), *([WordUse(READ, Word(value, word.kind))] if value else [])]
    return uses


def _interprets(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Options end with the script, or with the text that is run; what follows belongs to the script."""
    for number in range(1, len(words) + 1):
        parsed = plain(program, words[:number])
        if parsed is None:
            continue
        if parsed.operands or any(use.role is COMMAND for use in parsed.uses):
            rest = _arguments(words[number:])
            return None if rest is None else and_uses(parsed, rest)
    return plain(program, words)


def _interpreter(flags: str, *, version: str, texts: str = "", executes: str = "", commands: str = "c") -> Program:
    return Program(
        flags=f"{flags} {version}",
        texts=texts,
        executes=executes,
        commands=commands,
        operands=(EXECUTE,),
        permutes=False,
        check=_only(version),
        parser=_interprets,
    )


_PYTHON = _interpreter("bBdEhiIOPqRsSuvx", version="--version -V", texts="W X", commands="c m")
_NODE = _interpreter(
    "ci --check --inspect --inspect-brk --watch --test --no-warnings --trace-warnings --enable-source-maps",
    version="--version -v",
    texts="C --conditions --max-old-space-size",
    executes="r --require --import --loader --experimental-loader --env-file",
    commands="e p --eval --print",
)
_PERL = _interpreter("acfnpsStTuUwWX", version="--version -v", texts="0 l", executes="I M m", commands="e E")
_RUBY = _interpreter("alnpsSwW", version="--version -v", texts="E F K", executes="I r C", commands="e")
_LUA = _interpreter("iEW", version="-v", executes="l", commands="e")
_BASH = _interpreter(
    "abefhikmnprtuvxBCEHPlsD --login --norc --noprofile --posix",
    version="--version",
    texts="o O",
    executes="--rcfile --init-file",
)
_OTHER = _interpreter("qQns", version="--version", commands="e E c r")

# ── make ────────────────────────────────────────────────────────────────────────────────────────


def _make(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """The makefile and the variables define the commands."""
    parsed = plain(program, words)
    if parsed is None:
        return None
    folder = HERE
    for name, value in parsed.options:
        if name in ("-C", "--directory") and value is not None:
            folder = joined(folder, value)
    uses = [WordUse(COMMAND, word) for word in parsed.operands if "=" in word.text]
    files = [value for name, value in parsed.options if name in ("-f", "--file", "--makefile") and value is not None]
    files = files or [Word(name) for name in ("GNUmakefile", "makefile", "Makefile")]
    return and_uses(parsed, [*uses, *(WordUse(EXECUTE, joined(folder, name)) for name in files)])


_MAKE = Program(
    flags="bBdehikLmnpqrRsStvw --version --always-make --dry-run --just-print --silent --quiet --keep-going --question "
    "--print-directory --no-print-directory --trace --touch --no-builtin-rules --no-builtin-variables "
    "--warn-undefined-variables --environment-overrides --ignore-errors",
    maybe="jlO --jobs --load-average --debug --output-sync",
    lists="C o W --directory --old-file --what-if",
    executes="f I --file --makefile --include-dir",
    commands="E --eval",
    operands=(TEXT,),
    looks=False,
    parser=_make,
)


def _make_version(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    found = _version("--version -v").parser
    assert found is not None
    return found(program, words) or _make(_MAKE, words)


# ── containers ──────────────────────────────────────────────────────────────────────────────────


def _mounts(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """`docker run`: a folder of this machine that the container sees may be read and changed by it."""
    uses = []
    for number, word in enumerate(words):
        if word.kind is WordKind.UNKNOWN:
            return None
        name, equals, value = word.text.partition("=")
        if not re.fullmatch(r"-[a-zA-Z]*v|--volume|--mount|--env-file", name):
            continue
        if not equals:
            if number + 1 == len(words):
                return None
            value = words[number + 1].text
        home = not equals and words[number + 1].home
        if name == "--mount":
            sources = [part.partition("=")[2] for part in value.split(",") if part.startswith(("source=", "src="))]
        else:
            sources = [value if name == "--env-file" else value.partition(":")[0]]
        for source in filter(None, sources):
            place = Word(source, home=home and source.startswith("~"))
            uses += [WordUse(READ, place)] if name == "--env-file" else [WordUse(TREE, place), WordUse(WRITE, place)]
    return ParsedCommand(program, operands=words, uses=tuple(uses))


_RUN = Program(looks=False, parser=_mounts)
_COPY_OUT = Program(flags="aq --archive --quiet", follow="L --follow-link", operands=(TREE, WRITE), most=2, looks=False)
_BUILD = Program(
    flags="q --no-cache --pull --quiet --rm --force-rm --squash --push --load",
    texts="t --tag --build-arg --target --platform --label --progress --network --cache-from --cache-to",
    reads="--secret --ssh",
    executes="f --file",
    writes="o --output --iidfile --metadata-file",
    operands=(TREE,),
    looks=False,
)
_LISTED = Program(
    flags="aq --all --quiet --no-trunc --digests -l --latest n s --size", texts="f --filter --format", operands=(TEXT,)
)
_LISTS = {"ls": _LISTED, "list": _LISTED}
_DOCKER = Program(
    flags="v --version",
    bare=True,
    check=_only("-v --version"),
    subcommands={
        "ps": replace(_LISTED, operands=()),
        "images": _LISTED,
        "version": Program(operands=()),
        "info": Program(operands=()),
        "container": Program(subcommands={**_LISTS, "ps": _LISTED, "run": _RUN, "create": _RUN, "cp": _COPY_OUT}),
        "image": Program(subcommands={**_LISTS, "build": _BUILD}),
        "volume": Program(subcommands=_LISTS),
        "network": Program(subcommands=_LISTS),
        "context": Program(subcommands=_LISTS),
        "run": _RUN,
        "create": _RUN,
        "cp": _COPY_OUT,
        "build": _BUILD,
    },
)
"""Its settings are those of the user; only compose reads files of the folder."""
_PODMAN = Program(subcommands={"run": _RUN, "create": _RUN, "cp": _COPY_OUT, "build": _BUILD})
"""It opens its database for writing whatever it does, so that no form only looks."""

_KINDS = names(
    "all pod pods po deployment deployments deploy service services svc node nodes no namespace namespaces ns "
    "replicaset replicasets rs statefulset statefulsets sts daemonset daemonsets ds job jobs cronjob cronjobs cj "
    "ingress ingresses ing event events ev endpoints ep persistentvolume persistentvolumes pv persistentvolumeclaim "
    "persistentvolumeclaims pvc horizontalpodautoscaler hpa"
)
"""What kubectl may show in a table: none of them shows a secret there."""


def _gets(parsed: ParsedCommand) -> bool:
    """`kubectl get pods,svc`, `get pod NAME`, `get pod/NAME svc/NAME`."""
    if not parsed.operands or not named(parsed.operands):
        return False
    texts = [word.text.lower() for word in parsed.operands]
    slashes = any("/" in text for text in texts)
    kinds = [text.partition("/")[0] for text in texts] if slashes else texts[0].split(",")
    shown = all(value is not None and value.text in ("wide", "name") for name, value in parsed.options if name in _AS)
    return shown and all(kind in _KINDS for kind in kinds)


_AS = ("-o", "--output")
_KUBECTL = Program(
    texts="n --namespace",
    subcommands={
        "get": Program(
            flags="A --all-namespaces --show-labels --no-headers --ignore-not-found",
            texts="n o l --namespace --output --selector --field-selector --sort-by --label-columns L --chunk-size",
            operands=(TEXT,),
            check=_gets,
        ),
        "version": Program(flags="--client --short", operands=(), check=_only("--client --short")),
        "config": Program(
            subcommands={
                "current-context": Program(operands=()),
                "get-contexts": Program(flags="--no-headers", operands=()),
            }
        ),
        "cp": Program(texts="c n --container --namespace", operands=(TREE, WRITE), most=2, looks=False),
        "apply": Program(
            flags="R --recursive --wait --server-side --force-conflicts --prune",
            texts="n l --namespace --selector --dry-run --field-manager",
            reads="f k --filename --kustomize",
            operands=(),
            looks=False,
        ),
    },
)
"""Programs that the settings of the user name may run, to log in; they are the user's."""
_HELM = Program(
    subcommands={
        **dict.fromkeys(
            ("list", "ls"),
            Program(flags="aAq --all --all-namespaces --short", texts="n f --namespace --filter", operands=()),
        ),
        "version": Program(flags="--short", operands=()),
    }
)

# ── forges ──────────────────────────────────────────────────────────────────────────────────────


def _asks_about_names(parsed: ParsedCommand) -> bool:
    """Numbers, branches, OWNER/REPO: nothing that names another server."""
    values = [value for name, value in parsed.options if name in ("-R", "--repo")]
    words = (*parsed.operands, *(value for value in values if value is not None))
    return all(word.known and re.fullmatch(r"[\w.#-]+(/[\w.#-]+)?", word.text) for word in words)


def _gh(flags: str = "", texts: str = "", most: int = 1) -> Program:
    return Program(
        flags=flags,
        texts=f"R --repo --json {texts}",
        operands=(TEXT,),
        most=most,
        check=_asks_about_names,
    )


_GH = Program(
    flags="--version",
    bare=True,
    check=_only("--version"),
    subcommands={
        "pr": Program(
            subcommands={
                "list": _gh(
                    "d --draft",
                    "A a B H L S l s --app --assignee --author --base --head --label --limit --search --state",
                    most=0,
                ),
                "view": _gh("c --comments"),
                "status": _gh("c --conflict-status", most=0),
                "checks": _gh("--required --fail-fast"),
                "diff": _gh("--name-only --patch", "--color"),
            }
        ),
        "issue": Program(
            subcommands={
                "list": _gh(
                    "",
                    "A a L S l m s --app --assignee --author --label --limit --mention --milestone --search --state",
                    most=0,
                ),
                "view": _gh("c --comments"),
                "status": _gh(most=0),
            }
        ),
        "run": Program(
            subcommands={
                "list": _gh(
                    "a --all",
                    "L b c e s u w --branch --commit --created --event --limit --status --user --workflow",
                    most=0,
                ),
                "view": _gh("v --verbose --log --log-failed --exit-status", "j a --job --attempt"),
            }
        ),
        "release": Program(
            subcommands={
                "list": _gh("--exclude-drafts --exclude-pre-releases", "L O --limit --order", most=0),
                "view": _gh(),
            }
        ),
        "repo": Program(
            subcommands={
                "list": _gh("--archived --no-archived --fork --source", "L l --limit --language --visibility --topic"),
                "view": _gh("", "b --branch"),
            }
        ),
        "workflow": Program(subcommands={"list": _gh("a --all", "L --limit", 0), "view": _gh("y --yaml", "r --ref")}),
        "label": Program(subcommands={"list": _gh("", "L S --limit --order --search --sort", most=0)}),
        "auth": Program(subcommands={"status": Program(flags="a --active", operands=())}),
        "status": Program(texts="o e --org --exclude", operands=()),
        "version": Program(operands=()),
    },
)
"""Without -w, which opens a browser, --jq and --template, which can show variables, and --watch, which does not end."""

# ── packages of the system, and its services ────────────────────────────────────────────────────


def _plain_names(parsed: ParsedCommand) -> bool:
    return named(parsed.operands) and all("/" not in word.text for word in parsed.operands)


def _asks_first(parsed: ParsedCommand) -> bool:
    """rpm: -i is "install" unless -q goes before."""
    return bool(parsed.options) and parsed.options[0][0] in ("-q", "--query")


_PACKAGES = Program(
    flags="a --installed --upgradable --all-versions --manual-installed --names-only n --full",
    operands=(TEXT,),
    check=_plain_names,
)
_APT = Program(subcommands=dict.fromkeys(("list", "show", "policy", "search", "depends", "rdepends"), _PACKAGES))
_APT_CACHE = Program(
    subcommands=dict.fromkeys(("show", "policy", "search", "depends", "rdepends", "madison"), _PACKAGES)
)
_DPKG = Program(
    flags="lLsS --list --listfiles --status --search --print-architecture --get-selections --version --no-pager",
    operands=(TEXT,),
    check=lambda parsed: bool(parsed.options),
)
_DPKG_QUERY = replace(
    _DPKG, flags="lLsSW --list --listfiles --status --search --show --version", texts="f --showformat"
)
_RPM = Program(
    flags="qailR --query --all --info --list --requires --provides --whatprovides --changelog --docfiles",
    operands=(TEXT,),
    check=_asks_first,
)
_BREW_LIST = Program(flags="1lrt --formula --formulae --cask --casks --versions --pinned --full-name", operands=())
_BREW = Program(
    flags="v --version", bare=True, check=_only("-v --version"), subcommands={"list": _BREW_LIST, "ls": _BREW_LIST}
)
_UNITS = Program(
    flags="al --all --full --failed --no-pager --no-legend --plain --user --system --quiet q",
    texts="t n o --type --state --lines --output",
    operands=(TEXT,),
)
_SYSTEMCTL = Program(
    flags="al --all --full --failed --no-pager --no-legend --plain --user --system --version --quiet q",
    texts="t --type --state",
    bare=True,
    subcommands=dict.fromkeys(
        (
            *("status", "is-active", "is-enabled", "is-failed", "is-system-running", "list-units", "list-unit-files"),
            *("list-timers", "list-sockets", "list-dependencies"),
        ),
        _UNITS,
    ),
)
"""Without -H and -M, which ask another machine by ssh. It pages only in a terminal."""
_JOURNALCTL = Program(
    flags="aefklqrx --no-pager --utc --follow --reverse --user --system --disk-usage --list-boots",
    maybe="b --boot",
    texts="n o p t u g S U --lines --output --priority --identifier --unit --grep --since --until",
    reads="D i --directory --file --root --image",
    acts="--rotate --flush --sync",
    operands=(READ,),
    looks=False,
)

# ── packages of languages ───────────────────────────────────────────────────────────────────────

_PIP_ALL = "q v --quiet --verbose --disable-pip-version-check --no-color --isolated --no-input --require-virtualenv"
_PIP = Program(
    flags=f"V --version {_PIP_ALL}",
    bare=True,
    check=lambda parsed: parsed.has("V --version"),
    subcommands={
        "list": Program(
            flags=f"el --editable --local --user --not-required --pre --include-editable --exclude-editable {_PIP_ALL}",
            texts="--format --exclude",
            lists="--path",
            operands=(),
        ),
        "show": Program(flags=f"f --files {_PIP_ALL}", operands=(TEXT,)),
        "check": Program(flags=_PIP_ALL, operands=()),
        "install": Program(
            flags="IU --upgrade --force-reinstall --no-deps --user --pre --no-cache-dir --no-build-isolation --dry-run "
            f"--break-system-packages --ignore-installed --no-index --prefer-binary --require-hashes {_PIP_ALL}",
            texts="i --index-url --extra-index-url --only-binary --no-binary --platform --python-version "
            "--progress-bar --timeout --retries --trusted-host --upgrade-strategy",
            reads="f r c --requirement --constraint --find-links --cert --client-cert",
            writes="t --target --prefix --root --src --cache-dir --log --report",
            executes="e --editable --python",
            operands=(EXECUTE,),
            looks=False,
        ),
    },
)
"""It reads settings from user and system folders, and lists of installed packages, without loading any of them. To
install something is to run it."""


def _compiles(executes: str, writes: str = "-o -MF -MT -MQ") -> Parser:
    return loose(writes, executes)


_CC = _version("--version -dumpversion -dumpmachine", _compiles("-specs -fplugin -wrapper -B -load"))

# ── the table ───────────────────────────────────────────────────────────────────────────────────

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(("python", "python2", "python3", *(f"python3.{minor}" for minor in range(6, 16))), _PYTHON),
        **dict.fromkeys(("pypy", "pypy3"), replace(_PYTHON, looks=False)),
        "node": _NODE,
        "perl": _PERL,
        "ruby": _RUBY,
        "lua": _LUA,
        **dict.fromkeys(("bash", "zsh"), _BASH),
        **dict.fromkeys(("sh", "dash", "ksh", "ash", "fish", "mksh"), replace(_BASH, looks=False)),
        **dict.fromkeys(
            ("php", "Rscript", "julia", "tclsh", "osascript", "ts-node", "tsx"), replace(_OTHER, looks=False)
        ),
        **dict.fromkeys(("make", "gmake"), replace(_MAKE, looks=True, parser=_make_version)),
        **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _CC),
        **dict.fromkeys(("java", "javac"), _version("-version --version")),
        **dict.fromkeys(("cmake", "ctest", "ninja", "black"), _version()),
        **dict.fromkeys(("npm", "tsc"), _version("-v --version")),
        **dict.fromkeys(("ruff", "uv", "mypy"), _version("--version -V")),
        **dict.fromkeys(("pip", "pip3"), _PIP),
        "docker": _DOCKER,
        "podman": _PODMAN,
        "kubectl": _KUBECTL,
        "helm": _HELM,
        "gh": _GH,
        "apt": _APT,
        "apt-cache": _APT_CACHE,
        "dpkg": _DPKG,
        "dpkg-query": _DPKG_QUERY,
        "rpm": _RPM,
        "brew": _BREW,
        "systemctl": _SYSTEMCTL,
        "journalctl": _JOURNALCTL,
    }
)
