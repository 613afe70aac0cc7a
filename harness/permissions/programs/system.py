"""Programs that show the state of the machine: who, when, processes, memory, devices."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse
from harness.permissions.programs.parsers import ABOUT, LISTS, TEXTS
from harness.permissions.shell.syntax import Word
from harness.permissions.variables import showable

_PS_COLUMNS = names(
    "pid ppid pgid sid tid lwp nlwp user uid gid group ruser euser tty tt stat state s comm command cmd args ucmd "
    "pcpu %cpu pmem %mem rss rsz vsz sz time cputime etime etimes start lstart stime ni nice pri f wchan psr cls "
    "min_flt maj_flt"
)
_PS_FLAGS = re.compile(r"-e[fFljHwLTy]*|-[AadfFjlHwLTy]+|-ax[wjl]*|-aux[w]*|[auxwfjl]+|-[mM]|[0-9]+|-[0-9]+")
"""Without the e of BSD, which shows the variables of other programs."""


def _ps(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Linux reads a line that it does not understand once more as BSD would, where -e is that e: only known words."""
    texts = [word.text for word in words if word.known]
    if len(texts) != len(words):
        return None
    every = any(re.match(r"-[^-]*e", text) for text in texts)
    position = 0
    while position < len(texts):
        text, position = texts[position], position + 1
        if every and text.startswith("-aux"):
            return None
        columns, name = re.fullmatch(r"-[eA]?[wf]*o(.*)", text), text.partition("=")[0]
        if columns or name in ("--sort", "--format"):
            value = columns[1] if columns else text.partition("=")[2]
            if not value and not ("=" in text and not columns):
                value = texts[position] if position < len(texts) else ""
                position += 1
            named = re.split(r"[, ]+", value)
            if not all(re.sub(r"=.*|:[0-9]+$", "", one).lstrip("+-") in _PS_COLUMNS for one in named):
                return None
        elif text in ("-p", "--pid", "-q", "--ppid"):
            if position >= len(texts) or not re.fullmatch(r"[0-9]+(,[0-9]+)*", texts[position]):
                return None
            position += 1
        elif text in ("-C", "-u", "-U"):
            others = [one for one in texts if one != text]
            if position >= len(texts) or any("e" in one for one in others if not one.startswith("--")):
                return None
            position += 1
        elif not (_PS_FLAGS.fullmatch(text) or text in ("--no-headers", "--no-headings", "--forest", "--version")):
            return None
    return ParsedCommand(program, operands=words, uses=tuple(WordUse(WordRole.TEXT, word) for word in words))


def _repeats_so_often(parsed: ParsedCommand) -> bool:
    """vmstat and iostat: without an interval, or with a number of reports behind it."""
    numbers = [word.text for word in parsed.operands if not re.match(r"[a-zA-Z/]", word.text)]
    return len(numbers) != 1


def _says_it_once(parsed: ParsedCommand) -> bool:
    return not parsed.has("s --seconds")


def _shows_a_date(parsed: ParsedCommand) -> bool:
    """A word without a + in front sets the clock."""
    return all(word.known and word.text.startswith("+") for word in parsed.operands)


def _prints_plain_variables(parsed: ParsedCommand) -> bool:
    named = all(word.known and word.text.isupper() and showable(word.text) for word in parsed.operands)
    return bool(parsed.operands) and named


_NOTHING = Program(flags=ABOUT, operands=())


PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(("whoami", "logname", "hostid", "arch", "users"), _NOTHING),
        "tty": Program(flags="s --silent --quiet" + ABOUT, operands=()),
        "nproc": Program(flags="--all" + ABOUT, texts="--ignore", operands=()),
        "uptime": Program(flags="ps --pretty --since" + ABOUT, operands=()),
        "uname": Program(
            flags="asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor "
            "--hardware-platform --operating-system" + ABOUT,
            operands=(),
        ),
        "hostname": Program(
            flags="aAdfiIs --alias --all-fqdns --domain --fqdn --long --ip-address --all-ip-addresses --short" + ABOUT,
            operands=(),
        ),
        "id": Program(
            flags="aFgGnpPruzZ --context --group --groups --name --real --user --zero" + ABOUT, operands=TEXTS
        ),
        "groups": Program(flags=ABOUT, operands=TEXTS),
        "who": Program(
            flags="abdHlmpqrstTuw --all --boot --dead --heading --ips --login --lookup --process --count --runlevel "
            "--short --time --mesg --users --message --writable" + ABOUT
        ),
        "w": Program(
            flags="husfoi --no-header --no-current --short --from --old-style --ip-addr" + ABOUT, operands=TEXTS
        ),
        "last": Program(
            flags="adFiRwx --hostlast --dns --fulltimes --ip --nohostname --fullnames --system" + ABOUT,
            texts="nstp --limit --since --until --present --time-format",
            reads="f --file",
            operands=TEXTS,
            numbers=True,
        ),
        "date": Program(
            flags="uRjn --utc --universal --rfc-email --debug --resolution" + ABOUT,
            texts="dv --date --rfc-3339",
            maybe="I --iso-8601",
            lists="r --reference",
            acts="s --set",
            operands=TEXTS,
            most=1,
            check=_shows_a_date,
        ),
        **dict.fromkeys(("cal", "ncal"), Program(flags="13bhjmMNsSwyY", texts="ABdn", operands=TEXTS, free=True)),
        "printenv": Program(flags="0 --null" + ABOUT, operands=TEXTS, check=_prints_plain_variables),
        "locale": Program(flags="ack --all-locales --category-name --keyword-name" + ABOUT, operands=TEXTS),
        "getconf": Program(flags="a", operands=(WordRole.TEXT, WordRole.LIST)),
        "ps": Program(operands=TEXTS, parser=_ps),
        "pstree": Program(
            flags="aAcgGhlnpsStTuUVZ --arguments --ascii --compact-not --show-pgids --vt100 --highlight-all --long "
            "--numeric-sort --show-pids --show-parents --ns-changes --thread-names --hide-threads --uid-changes "
            "--unicode --security-context" + ABOUT,
            texts="HCN --color",
            operands=TEXTS,
        ),
        "pgrep": Program(
            flags="lavwcfinoxLAhV --list-name --list-full --inverse --lightweight --count --full --ignore-case "
            "--newest --oldest --exact --logpidfile --ignore-ancestors" + ABOUT,
            texts="dgGOPstuUr --delimiter --pgroup --group --older --parent --session --terminal --euid --uid "
            "--runstates --cgroup --ns --nslist",
            reads="F --pidfile",
            operands=TEXTS,
        ),
        "pidof": Program(flags="sxcnqw", texts="oS", operands=TEXTS),
        "which": Program(flags="as --all", operands=TEXTS, free=True),
        "whereis": Program(flags="bmsul", operands=TEXTS),
        "free": Program(
            flags="bkmghltvwV --bytes --kilo --mega --giga --tera --peta --kibi --mebi --gibi --tebi --pebi --human "
            "--si --lohi --total --committed --wide" + ABOUT,
            texts="s --seconds",
            operands=(),
            ends=_says_it_once,
        ),
        "vmstat": Program(
            flags="afmnsdDtyV --active --forks --slabs --one-header --stats --disk --disk-sum --timestamp --no-first"
            + ABOUT,
            texts="pS --partition --unit",
            operands=TEXTS,
            ends=_repeats_so_often,
        ),
        "iostat": Program(flags="cdhkmNtxyz", operands=TEXTS, ends=_repeats_so_often),
        "lscpu": Program(
            flags="abBcJxyhV --all --online --bytes --offline --json --hex --physical --output-all" + ABOUT,
            maybe="Cep --caches --extended --parse",
            operands=(),
        ),
        "lsblk": Program(
            flags="abAdDfiJlmMnNOpPrsStvVyz --all --noempty --bytes --discard --nodeps --fs --ascii --json --list "
            "--perms --merge --noheadings --output-all --paths --pairs --raw --inverse --scsi --topology --shell "
            "--zoned" + ABOUT,
            texts="eEIowx --exclude --dedup --include --output --width --sort",
            maybe="T --tree",
            operands=LISTS,
        ),
    }
)
