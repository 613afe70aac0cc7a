"""Where a session works, and which places around it are not to be touched unasked. Pure: paths are only text here."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from harness.permissions.disk import Disk
from harness.permissions.name_sets import names
from harness.permissions.shell.syntax import BASH, Dialect

KEY_FILES = names(
    # keys and certificates with keys
    "id_rsa* id_dsa* id_ecdsa* id_ed25519* *_rsa *_dsa *_ecdsa *_ed25519 *.pem *.key *.keypair *.p8 *.p12 *.pfx "
    "*.pkcs12 *.jks *.keystore *.keyring *.bks *.kdb *.kdbx *.ppk *.psafe3 *.agilekeychain *.keychain *.keychain-db "
    "*.kwallet *.bek *.fve *.tpm *.tblk *.ovpn *.rdp *.cscfg *.publishsettings secring.gpg otr.private_key master.key "
    "key4.db "
    # environments and settings of programs that log in
    ".env .env.* .env-* .env_* *.env .envrc .dev.vars .dev.vars.* .netrc netrc _netrc .pgpass pgpass .pgservice.conf "
    ".my.cnf .mylogin.cnf .htpasswd htpasswd .htdigest .git-credentials git-credentials .vault-token .vault_pass* "
    ".terraformrc terraform.rc credentials.tfrc.json *.tfstate *.tfvars *.tfvars.json .s3cfg s3cfg .boto .pypirc "
    ".dockercfg dockercfg .dockerconfigjson .ftpconfig .remote-sync.json sftp-config.json sftp.json .rclone.conf "
    "rclone.conf filezilla.xml recentservers.xml sitemanager.xml winscp.ini wp-config.php localsettings.php .tugboat "
    ".trc .muttrc .msmtprc .fetchmailrc .smbcredentials .sentryclirc .clasprc.json .databrickscfg .passwd-s3fs "
    "ngrok.yml kaggle.json robomongo.json dbeaver-data-sources.xml ventrilo_srv.ini secret_token.rb "
    "jenkins.plugins.publish_over_ssh.bapsshpublisherplugin.xml "
    # what says of itself that it is secret
    "secret.* secrets.* *.secret *.secrets .secret .secrets .token .tokens .password .passwords .passwd .api_key "
    ".apikey token.txt tokens.txt api_key.txt apikey.txt api-key.txt password.txt passwords.txt proftpdpasswd "
    "credentials credentials.* .credentials *credentials*.json client_secret*.json service-account*.json "
    "service_account*.json serviceaccount*.json application_default_credentials.json *-firebase-adminsdk-*.json "
    "keystore.properties creds.* credential.* *-token.txt aws_credentials key.properties logins.json"
)
"""Names of files that hold keys in any folder: those of https://github.com/eth0izzle/shhgit/blob/master/config.yaml
that are about nothing else, those of https://github.com/github/gitignore/blob/main/Terraform.gitignore, and files in
which common programs keep logins."""
_COPY = re.compile(
    r"(?P<folder>.*/)(?:#|\.#|copy of )?(?P<name>[^/]+?)"
    r"(?:~|#|[._ -](?:bak|backup|old|orig|original|save|saved|copy|tmp|sw[a-p])\d*|\.\d+| ?\(\d+\))*",
    re.DOTALL,
)
"""A copy that an editor or a user made, whose name goes on before or after that of the file."""
KEYS = (
    *("~/.ssh/**", "~/.gnupg/**", "~/.aws/**", "~/.azure/**", "~/.kube/**", "~/.docker/config.json"),
    *("~/.config/gcloud/**", "~/.config/gh/**", "~/.config/harness/*", "~/.netrc", "~/.npmrc", "~/.pypirc"),
    *("~/.pgpass", "~/.my.cnf", "~/.git-credentials", "~/.cargo/credentials*", "~/.password-store/**"),
    *("~/.local/share/keyrings/**", "~/Library/Keychains/**", "/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*"),
    *("/etc/ssh/ssh_host_*", "/proc/**/environ", "/proc/**/mem", "**/.aws/credentials", "**/secrets/**/*"),
    *("**/.secrets/**/*", "**/*_history", "**/.docker/.dockercfg", "**/.kube/config", "**/.ssh/id_*"),
    *("**/.gem/credentials", "**/.config/hub", "**/doctl/config.yaml", "**/.purple/accounts.xml", "**/.irssi/config"),
    *("**/.oci/config", "**/.snowsql/config", "**/sops/age/keys.txt", "**/.recon-ng/keys.db", "**/.vnc/passwd"),
    *(f"**/{name}" for name in sorted(KEY_FILES)),
)
"""Places that hold keys: reading them is asked about."""
KEYS_WHEN_NAMED = (
    *("**/.git/config", "**/.npmrc", "**/.yarnrc", "**/.yarnrc.yml", "**/.docker/config.json", "**/kubeconfig"),
    *("**/pip.conf", "**/.pip/*", "**/.gradle/gradle.properties", "**/.m2/settings.xml", "**/nuget.config"),
    *(
        "**/appsettings.*.json",
        "**/database.yml",
        "**/database.yaml",
        "**/auth.json",
        "**/token.json",
        "**/tokens.json",
        "**/local.settings.json",
        "**/mongoid.yml",
        "**/google-services.json",
        "**/googleservice-info.plist",
        "**/wg*.conf",
        "**/.ssh/config",
        "**/.bundle/config",
        "**/.wgetrc",
        "**/.curlrc",
    ),
)
"""Files that may hold a key: reading one by its name is asked about, searching a folder that has one is not."""
_NO_KEYS = re.compile(
    r".*\.pub|.*/[^/]*\.env[._-](?:example|sample|template|dist|defaults?|schema)"  # to be copied, and committed
    r"|.*/[^/]*(?:example|sample|template)[^/]*\.env"
    r"|.*/(?:secrets/.*|secrets?\.[^/]*|cred(?:ential)?s?\.[^/]*)(?<=\.)"
    r"(?:py|pyi|js|mjs|cjs|jsx|ts|mts|tsx|go|rs|rb|php|java|kt|scala|swift|c|h|cc|cpp|hpp|cs|ex|exs|sh|md|rst|html|css)",
    re.DOTALL,
)
"""Names that look like places for keys and hold none: templates, and code about secrets."""
_PACKAGES = re.compile(r"/(?:node_modules|site-packages|dist-packages|\.venv|venv|\.tox|\.git)/")
"""Folders of packages, whose keys and certificates are examples that everyone has."""
START_UP = (
    *("~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.bash_aliases", "~/.profile", "~/.zshrc"),
    *("~/.zshenv", "~/.zprofile", "~/.zlogin", "~/.inputrc", "~/.gitconfig", "~/.config/git/**", "~/.config/fish/**"),
    *("~/.config/harness/**", "~/.config/autostart/**", "~/.config/systemd/**", "~/Library/LaunchAgents/**"),
)
"""Files that a shell, git or the desktop runs automatically."""
OF_THE_PROJECT = (
    *("**/.git", "**/.git/**", "**/.harness", "**/.harness/**", "**/.envrc", "**/.gitmodules", "**/.husky/**"),
    *("**/.vscode/**", "**/.idea/**"),
)
"""Files in a folder that git, this program or an editor runs or obeys automatically."""
OBEYED = (
    *("**/AGENTS.md", "**/AGENTS.override.md", "**/CLAUDE.md", "**/CLAUDE.local.md", "**/GEMINI.md", "**/.mcp.json"),
    *("**/.claude/**", "**/.agents/**", "**/.codex/**", "**/.gemini/**", "**/.opencode/**", "**/opencode.json*"),
    *("**/.cursor/**", "**/.cursorrules", "**/.windsurf*/**", "**/.clinerules/**", "**/copilot-instructions.md"),
    *("**/.gitattributes", "**/.gitconfig", "**/.lfsconfig", "**/.githooks/**", "**/.pre-commit-*.yaml"),
    *("**/.pre-commit-*.yml", "**/lefthook*.y*ml", "**/.lefthook*/**", "**/.lefthook*.y*ml", "**/.lintstagedrc*"),
    *("**/.devcontainer/**", "**/.devcontainer.json", "**/*.code-workspace", "**/.zed/**", "**/.fleet/**"),
    *("**/.exrc", "**/.vimrc", "**/.nvimrc", "**/.nvim.lua", "**/.dir-locals.el", "**/.direnv/**", "**/.autoenv*"),
    *("**/.npmrc", "**/.yarnrc", "**/.yarnrc.yml", "**/.pnpmfile.cjs", "**/.cargo/config", "**/.cargo/config.toml"),
    *("**/.bashrc", "**/.bash_profile", "**/.profile", "**/.zshrc", "**/.zshenv"),
    *("**/.mise/**", "**/.mise*.toml", "**/mise*.toml", "**/.tool-versions"),
    *("**/.github", "**/.github/workflows/**", "**/.github/actions/**", "**/.gitlab", "**/.gitlab/ci/**"),
    *("**/.gitlab-ci*.y*ml", "**/.forgejo", "**/.gitea"),
    *("**/.circleci/**", "**/.buildkite/**", "**/.travis.y*ml", "**/.drone.y*ml", "**/.woodpecker*/**"),
    *("**/.woodpecker.y*ml", "**/.forgejo/workflows/**", "**/.gitea/workflows/**", "**/azure-pipelines*.y*ml"),
    *("**/bitbucket-pipelines.y*ml", "**/appveyor.yml", "**/.appveyor.yml", "**/Jenkinsfile*", "**/.cirrus.yml"),
)
"""Files that an agent, git, an editor, a shell, a package manager or a CI obeys: writing one is asked about in every
mode that asks. A Makefile or package.json is run only on request, and is ordinary work."""
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})
"""Devices that writing cannot damage."""
HARMLESS_SOURCES = frozenset({"/dev/null", "/dev/stdin"})
"""Devices that may be read, and whose input ends."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern for absolute paths: * and ? within a name, ** across folders."""

    text: str
    """Absolute; it begins with / or with **/ for any folder."""

    def covers(self, path: str) -> bool:
        """Exactly as it is written."""
        return _compiled(self.text, folded=False).fullmatch(path) is not None

    def touches(self, path: str) -> bool:
        """Small and capital letters are the same: some systems see no difference."""
        return _compiled(self.text, folded=True).fullmatch(path.casefold()) is not None

    @property
    def folder(self) -> str:
        """The part before the first wildcard, up to its last folder; "/" where it begins with one."""
        literal = re.split(r"[*?]", self.text, maxsplit=1)[0]
        if literal == self.text:
            return literal
        return posixpath.dirname(literal) or "/"

    @property
    def exact(self) -> bool:
        """It names one path."""
        return not re.search(r"[*?]", self.text)


@cache
def _together(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """All in one. What begins in any folder has that beginning once: tried for each pattern, it takes ten times as
    long."""
    folded = [pattern.casefold() for pattern in patterns]
    anywhere = "|".join(_expression(one.removeprefix("**/")) for one in folded if one.startswith("**/"))
    rest = "|".join(_expression(one) for one in folded if not one.startswith("**/"))
    return re.compile(f"(?:.*/)?(?:{anywhere})|{rest}" if rest else f"(?:.*/)?(?:{anywhere})", re.DOTALL)


@cache
def _compiled(pattern: str, *, folded: bool) -> re.Pattern[str]:
    return re.compile(_expression(pattern.casefold() if folded else pattern), re.DOTALL)


def _expression(text: str) -> str:
    parts = re.split(r"(^\*\*/|/\*\*/|/\*\*$|\*\*|\*|\?)", text)
    meaning = {"**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(meaning.get(part, re.escape(part)) for part in parts)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The folders that decisions about paths depend on."""

    workspace: str
    """Absolute, links resolved."""
    home: str
    """Absolute, links resolved."""
    programs_inside: tuple[str, ...] = ()
    """Folders of PATH whose programs the workspace controls: those inside it, and shims. Relative ones count from where
    a command runs."""
    dialect: Dialect = BASH
    """What the shell that runs command lines understands: PORTABLE where there is no bash."""
    added: tuple[str, ...] = ()
    """Further folders that count as inside; absolute, links resolved."""
    apart: tuple[str, ...] = ()
    """Other working trees of the repository, where others work; absolute, links resolved. To change something there is
    asked about, whatever rules allow."""
    _keys: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _named: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _protected: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _obeyed: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        keys = tuple(self.pattern(text).text for text in KEYS)
        object.__setattr__(self, "_named", _together(KEYS_WHEN_NAMED))
        rest = tuple(self.pattern(text).text for text in (*START_UP, *OF_THE_PROJECT))
        object.__setattr__(self, "_keys", _together(keys))
        object.__setattr__(self, "_protected", _together(rest))
        object.__setattr__(self, "_obeyed", _together(OBEYED))

    def pattern(self, text: str) -> PathPattern:
        """A pattern as written in a rule: relative to the workspace or ~, or absolute."""
        if text.startswith("**/"):
            return PathPattern(text)
        return PathPattern(posixpath.normpath(self.joined(text, self.workspace)))

    def joined(self, path: str, folder: str) -> str:
        """The absolute path, with every . and .. still in it: links decide what they mean."""
        if path == "~" or path.startswith("~/"):
            return self.home + path[1:]
        return path if path.startswith("/") else f"{folder}/{path}"

    def inside(self, path: str) -> bool:
        """The path is the workspace or a further folder, or in one."""
        return any(path == one or path.startswith(f"{one.rstrip('/')}/") for one in (self.workspace, *self.added))

    def of_others(self, path: str) -> bool:
        """The path is in another working tree of the repository."""
        return any(f"{path}/".startswith(f"{one}/") for one in self.apart) and not self.inside(path)

    def key(self, paths: Iterable[str]) -> bool:
        """One of the paths, each named as such, holds keys or may hold one."""
        return any(self._holds_keys(path) or self._named.fullmatch(path.casefold()) for path in paths)

    def key_inside(self, path: str) -> bool:
        """A file that was found in a folder holds keys."""
        return self._holds_keys(path) and not (self.inside(path) and _PACKAGES.search(path))

    def _holds_keys(self, path: str) -> bool:
        folded = path.casefold()
        names = [folded]
        if (copy := _COPY.fullmatch(folded)) and not folded.endswith(f"/{copy['name']}"):
            names += (copy["folder"] + copy["name"], copy["folder"] + copy["name"][1:])  # vim puts a dot in front
        return any(map(self._keys.fullmatch, names)) and not any(map(_NO_KEYS.fullmatch, names))

    def protected(self, paths: Iterable[str]) -> bool:
        """One of the paths holds keys, or something that others run or obey."""
        return any(self._holds_keys(path) or self._protected.fullmatch(path.casefold()) for path in paths)

    def obeyed(self, paths: Iterable[str]) -> bool:
        """One of the paths is a file that something obeys by its name."""
        return any(self._obeyed.fullmatch(path.casefold()) for path in paths)

    def wide(self, path: str) -> bool:
        """Below it are the workspace or the home, or a place for keys or files that others run."""
        patterns = (self.pattern(text) for text in (*KEYS, *START_UP) if not text.startswith("**/"))
        places = (self.workspace, self.home, *(pattern.folder for pattern in patterns))
        return any(f"{place}/".startswith(f"{path.rstrip('/')}/") for place in places)

    def run_or_obeyed(self, path: str) -> bool:
        """A file that was found in a folder is run or obeyed automatically."""
        folded = path.casefold()
        return any(pattern.fullmatch(folded) for pattern in (self._protected, self._obeyed))

    def names_obeyed(self, pattern: PathPattern) -> bool:
        """It spells out the file, or the folder of files that are obeyed."""
        return not re.search(r"[*?]", pattern.text.rpartition("/")[2]) or self.obeyed((pattern.folder,))

    def names_outside(self, pattern: PathPattern) -> bool:
        """It spells out a folder outside the workspace."""
        return pattern.folder != "/" and not self.inside(pattern.folder)

    def shown(self, path: str) -> str:
        """The path for display: relative to the workspace or ~."""
        for folder, sign in ((self.workspace, ""), (self.home, "~/")):
            if path.startswith(f"{folder.rstrip('/')}/"):
                return sign + path[len(folder.rstrip("/")) + 1 :]
        return "." if path == self.workspace else path


def leads_to(path: str, disk: Disk) -> tuple[str, ...]:
    """Every name of what `path` leads to: as it is written, without its dots, and what the disk has said."""
    plain = posixpath.normpath(path)
    plain = plain[1:] if plain.startswith("//") else plain
    return tuple(dict.fromkeys((plain, *disk.places.get(path, ()))))
