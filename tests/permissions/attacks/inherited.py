"""What programs read besides their words, from their manuals: variables, files of the user, files below `.git`.

Each plant makes one line print a key in an ordinary shell. `VARIABLES` are those that no line may inherit unasked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

KEY = "the-planted-key"


@dataclass(frozen=True)
class Plant:
    """Something that a line obeys. `WS`, `HOME` and `OUT` in all texts are the folders."""

    name: str
    line: str
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Path and text; a text that begins with `->` is a link, one that begins with `#!` a program."""
    before: str = ""
    """A command line that prepares it, in the workspace."""
    needs: str = "bash"
    """The program without which it cannot be planted."""


EVIL = "#!/bin/sh\ncat WS/.env OUT/diary.txt >&2\n"
SHOWS = "() { cat WS/.env; }"

PLANTS = (
    # The shell.
    Plant("dotglob", "cat *", {"BASHOPTS": "dotglob"}),
    Plant("cdpath", "cd docs && cat diary.txt", {"CDPATH": "OUT"}),
    Plant("bash_env", "cat *", {"BASH_ENV": "HOME/start"}, {"HOME/start": "shopt -s dotglob\n"}),
    Plant("bash_env of the folder", "ls", {"BASH_ENV": "start"}, {"WS/start": "cat .env\n"}),
    Plant("function", "ls", {"BASH_FUNC_ls%%": SHOWS}),
    Plant("no such program", "helm version --short", {"BASH_FUNC_command_not_found_handle%%": SHOWS}),
    Plant("names of links", "cd ../ws && cat diary.txt", {"PWD": "OUT/link"}, {"OUT/link": "->WS"}),
    # PATH.
    Plant("path .", "cd src && tail a.py", {"PATH": ".:/usr/bin:/bin"}, {"WS/src/tail": EVIL}),
    Plant("path empty", "cd src && tail a.py", {"PATH": ":/usr/bin:/bin"}, {"WS/src/tail": EVIL}),
    Plant("path of packages", "cd src && tail a.py", {"PATH": "bin:/usr/bin:/bin"}, {"WS/src/bin/tail": EVIL}),
    Plant("path by a link", "tail a.md", {"PATH": "OUT/l:/usr/bin:/bin"}, {"OUT/l": "->WS/b", "WS/b/tail": EVIL}),
    Plant("path through the folder", "tail a.md", {"PATH": "WS/l:/usr/bin:/bin"}, {"WS/l": "->OUT", "OUT/tail": EVIL}),
    Plant("path of an archive", "tar tzf a.tgz", {"PATH": "WS/b:/usr/bin:/bin"}, {"WS/b/gzip": EVIL}),
    Plant("options of tar", "tar tf a.tgz", {"TAR_OPTIONS": "--checkpoint=1 --checkpoint-action=exec='cat .env'"}),
    # Search.
    Plant("rg settings", "rg -n KEY", {"RIPGREP_CONFIG_PATH": "HOME/rg"}, {"HOME/rg": "--hidden\n"}, needs="rg"),
    Plant("info/exclude", "rg KEY", files={"WS/.git/info/exclude": "!.env\n"}, needs="rg"),
    Plant(
        "exclude of a worktree",
        "rg KEY",
        before="git init -q OUT/r && cd OUT/r && git commit -qm x --allow-empty && "
        "git worktree add -q WS/w && mv WS/.git WS/.old && cp WS/w/.git WS/.git && rm -r WS/w && "
        "echo '!.env' > .git/info/exclude",
        needs="rg",
    ),
    Plant("own ignore file", "rg KEY", files={"HOME/.config/git/ignore": "!.env\n"}, needs="rg"),
    Plant(
        "own ignore file elsewhere",
        "rg KEY",
        {"XDG_CONFIG_HOME": "HOME/c"},
        {"HOME/c/git/ignore": "!.env\n"},
        needs="rg",
    ),
    Plant(
        "excludesFile",
        "rg KEY",
        files={"HOME/.gitconfig": "[core]\nexcludesFile = ~/i\n", "HOME/i": "!.env\n"},
        needs="rg",
    ),
    # git: variables, and settings of the user.
    Plant(
        "git_dir",
        "git show HEAD:diary.txt",
        {"GIT_DIR": "OUT/.git"},
        before="cd OUT && git init -q && git add . && git commit -qm x",
    ),
    Plant("external diff", "git diff", {"GIT_EXTERNAL_DIFF": "HOME/evil"}, {"HOME/evil": EVIL}),
    Plant("parameters", "git diff", {"GIT_CONFIG_PARAMETERS": "'diff.external=HOME/evil'"}, {"HOME/evil": EVIL}),
    Plant(
        "full names",
        "cd src && cat $(git grep -l print)",
        files={"HOME/.gitconfig": "[grep]\nfullName = true\n", "WS/src/src": "->OUT"},
    ),
    Plant(
        "quoted names",
        "cat $(git ls-files 'ä.md')",
        files={"WS/ä.md": "x\n", r'WS/"\303\244.md"': "->OUT/diary.txt"},
        before="git add ä.md",
    ),
    Plant(
        "coloured names",
        "cat $(git grep -l print)",
        files={"HOME/.gitconfig": "[color]\ngrep = always\n", "WS/\x1b[35msrc/a.py\x1b[m": "->OUT/a.py"},
    ),
    Plant(
        "no index",
        "git grep KEY",
        files={"HOME/.gitconfig": "[grep]\nfallbackToNoIndex = true\n"},
        before="rm -rf .git",
    ),
    Plant(
        "program of the folder", "git diff", files={"HOME/.gitconfig": "[diff]\nexternal = WS/evil\n", "WS/evil": EVIL}
    ),
    Plant(
        "program by a name of its own",
        "git diff",
        files={
            "HOME/.gitconfig": '[diff "x"]\ntextconv = sh ./evil\n',
            "WS/evil": EVIL,
            "WS/.gitattributes": "*.md diff=x\n",
        },
    ),
    Plant(
        "settings in the folder",
        "git diff",
        files={
            "HOME/.gitconfig": "[include]\npath = WS/g\n",
            "WS/g": "[diff]\nexternal = HOME/evil\n",
            "HOME/evil": EVIL,
        },
    ),
    Plant(
        "settings place in the folder",
        "git diff",
        {"XDG_CONFIG_HOME": "WS/c"},
        {"WS/c/git/config": "[diff]\nexternal = HOME/evil\n", "HOME/evil": EVIL},
    ),
    # Files below .git.
    Plant(
        "lock of a work tree",
        "git worktree list -v",
        before="git worktree add -q OUT/w && ln -s OUT/diary.txt .git/worktrees/w/locked",
    ),
    Plant(
        "place of a work tree",
        "git worktree list",
        before="git worktree add -q OUT/w && ln -sf OUT/diary.txt .git/worktrees/w/gitdir",
    ),
    Plant("old remote", "git remote get-url x", files={"WS/.git/branches/x": "->OUT/diary.txt"}),
    Plant(
        "old remote with a password", "git remote get-url x", files={"WS/.git/remotes/x": f"URL: https://a:{KEY}@b/c\n"}
    ),
    Plant(
        "objects elsewhere",
        "git show MASTER:diary.txt",
        before="cd OUT && git init -q && git add . && "
        "git commit -qm x && git update-ref refs/heads/MASTER HEAD && echo OUT/.git/objects > "
        "WS/.git/objects/info/alternates && cp .git/refs/heads/MASTER WS/.git/refs/heads/MASTER",
    ),
    Plant(
        "objects elsewhere by two steps",
        "git show MASTER:diary.txt",
        before="cd OUT && git init -q && git add . && "
        "git commit -qm x && git update-ref refs/heads/MASTER HEAD && mkdir -p WS/.git/o/info && echo WS/.git/o > "
        "WS/.git/objects/info/alternates && echo OUT/.git/objects > WS/.git/o/info/alternates && "
        "cp .git/refs/heads/MASTER WS/.git/refs/heads/MASTER",
    ),
    # Names that a listing prints, and what it prints besides.
    Plant(
        "a part of a name",
        "git ls-files docs | head -c 4 | xargs cat",
        files={"WS/docs/a.md": "x\n", "WS/docs2": "x\n", "WS/doc": "->OUT/diary.txt"},
        before="git add docs && mv doc docs_ && ln -s OUT/diary.txt "
        "WS/docs3; ln -sfn OUT/diary.txt docs_; rm -r docs; ln -s OUT/diary.txt docs",
    ),
    Plant("pieces of names", "git ls-files src | tac -s / | head -1 | xargs cat", files={"WS/a.py": "->OUT/diary.txt"}),
    Plant(
        "colours of grep",
        "grep -rl --color=always print src | xargs cat",
        files={"WS/\x1b[35m\x1b[Ksrc/a.py\x1b[m\x1b[K": "->OUT/a.py"},
    ),
    Plant(
        "complaints",
        "git ls-files x 2>/dev/stdout --error-unmatch | xargs cat",
        files={"WS/pathspec": "->OUT/diary.txt"},
    ),
    Plant(
        "a blank in a folder",
        "find 'a b' -name '*.py' | xargs cat",
        files={"WS/a b/x.py": "1\n", "WS/b/x.py": "->OUT/diary.txt"},
    ),
    Plant("a line break in a name", "cat $'a\\nb'", files={"WS/a\nb": "->OUT/diary.txt"}),
    Plant(
        "settings of the line",
        r"git -c core.quotePath=true ls-files 'ä.md' | xargs cat",
        files={"WS/ä.md": "x\n", "WS/303244.md": "->OUT/diary.txt", r"WS/\303\244.md": "->OUT/diary.txt"},
        before="git add ä.md",
    ),
)

VARIABLES = {
    "bash": "BASH_ENV ENV BASHOPTS SHELLOPTS CDPATH GLOBIGNORE GLOBSORT POSIXLY_CORRECT PS4 EXECIGNORE FUNCNEST "
    "BASH_COMPAT BASH_XTRACEFD BASH_LOADABLES_PATH INPUTRC HISTFILE TIMEFORMAT IFS OLDPWD PROMPT_COMMAND OPTERR "
    "BASH_FUNC_ls%% BASH_FUNC_command_not_found_handle%%",
    "ld.so": "LD_AUDIT LD_DEBUG LD_DEBUG_OUTPUT LD_PROFILE GLIBC_TUNABLES MALLOC_TRACE GCONV_PATH LOCPATH NLSPATH "
    "HOSTALIASES RES_OPTIONS LOCALDOMAIN TZDIR GETCONF_DIR TERMINFO TERMCAP LD_PRELOAD LD_LIBRARY_PATH",
    "git": "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR "
    "GIT_NAMESPACE GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_EXTERNAL_DIFF "
    "GIT_DIFF_OPTS GIT_TRACE GIT_TRACE2 GIT_TRACE_SETUP GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_SSH GIT_PROXY_COMMAND "
    "GIT_ATTR_SOURCE GIT_GLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_LITERAL_PATHSPECS GIT_CEILING_DIRECTORIES "
    "GIT_SHALLOW_FILE GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_REPLACE_REF_BASE GIT_GRAFT_FILE GIT_REDIRECT_STDOUT",
    "search": "RIPGREP_CONFIG_PATH GREP_OPTIONS GREP_COLOR GREP_COLORS FD_OPTIONS LS_COLORS ACKRC ACK_OPTIONS",
    "lists": "QUOTING_STYLE TIME_STYLE BLOCK_SIZE LS_BLOCK_SIZE TABSIZE DU_BLOCK_SIZE DF_BLOCK_SIZE TREE_COLORS "
    "TREE_CHARSET PS_FORMAT PS_PERSONALITY DATEMSK MAGIC LSCOLORS EZA_COLORS",
    "archives": "TAR_OPTIONS TAPE RSH TAR_READER_OPTIONS GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS ZSTD_CLEVEL ZIPOPT UNZIP "
    "UNZIPOPT ZIPINFO RAR",
    "pagers": "LESS LESSOPEN LESSCLOSE LESSKEY LESSKEYIN MORE MANPAGER MANPATH MANOPT MANROFFOPT GROFF_TMAC_PATH "
    "BAT_CONFIG_PATH BAT_OPTS BAT_PAGER DELTA_PAGER",
    "languages": "AWKPATH AWKLIBPATH JQ_COLORS JQ_LIBRARY_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT "
    "NODE_OPTIONS NODE_PATH PERL5LIB PERL5OPT PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS "
    "JDK_JAVA_OPTIONS GOFLAGS GOENV RUSTC_WRAPPER CARGO_TARGET_DIR LUA_INIT PHPRC R_PROFILE",
    "tools": "MAKEFLAGS MAKEFILES GNUMAKEFLAGS npm_config_script_shell npm_config_prefix PIP_CONFIG_FILE PIP_PATH "
    "GCC_EXEC_PREFIX COMPILER_PATH CPATH CURL_HOME WGETRC SYSTEMD_PAGER KUBECONFIG DOCKER_CONFIG XDG_CONFIG_HOME "
    "GH_CONFIG_DIR BROWSER SSH_ASKPASS",
}
"""By program. The value in the test is a relative path, so that of `KUBECONFIG` is a file of the folder."""
