"""Interpreters, package managers, containers, forges: what only looks, whatever files lie in the folder."""

import stat
from pathlib import Path

import pytest

from harness.permissions.name_sets import names
from harness.permissions.programs import PROGRAMS
from tests.permissions.programs.reading import found, looks, parsed, run, state, uses

VERSIONS = [
    *("python --version", "python3 -V", "python3 -VV", "node --version", "node -v", "perl -v", "ruby --version"),
    *("bash --version", "lua -v", "make --version", "gmake -v", "gcc --version", "g++ -dumpversion", "clang --version"),
    *("java -version", "java --version", "javac -version", "cmake --version", "ctest --version", "ninja --version"),
    *("npm --version", "npm -v", "tsc -v", "ruff --version", "uv --version", "mypy --version", "pip --version"),
    *("pip3 -V", "docker --version", "gh --version", "kubectl version --client", "helm version --short", "brew -v"),
    *("dpkg --version", "systemctl --version"),
]
LISTS = [
    *("pip list", "pip list --format=json", "pip list -e", "pip show -f pip", "pip3 check", "docker ps -a"),
    *("docker ps --format '{{.Names}}'", "docker images", "docker version", "docker info", "docker container ls -aq"),
    *("docker image ls", "docker volume ls", "docker network ls -f name=x", "docker context ls", "helm list -A"),
    *("kubectl get pods", "kubectl get pods,svc -n x -o wide", "kubectl get pod x", "kubectl get pod/x svc/y"),
    *("brew list", "kubectl -n x get deploy --show-labels", "kubectl config current-context"),
    *("kubectl config get-contexts", "gh pr list", "gh pr list -L 5 --state all"),
    *("gh pr list -R ada/engine --json number,title", "gh pr view 12 -c", "gh pr view feature/x", "gh pr checks"),
    *("gh pr diff 3 --name-only", "gh pr status", "gh issue list -l bug", "gh issue view 4 --comments"),
    *("gh run list -w ci.yml", "gh run view 9 --log-failed", "gh release list", "gh repo view ada/engine"),
    *("gh workflow list", "gh label list", "gh auth status", "gh status", "apt list --installed", "apt show jq"),
    *("apt-cache policy jq", "dpkg -l", "dpkg -L jq", "dpkg -S /bin/sh", "dpkg-query -W -f '${Version}' jq", "rpm -qa"),
    *("rpm -qi jq", "rpm -ql jq", "systemctl status ssh", "systemctl is-active ssh"),
    *("systemctl list-units --type=service --no-pager", "systemctl --user list-timers"),
]


def test_these_forms_only_look() -> None:
    table = [*VERSIONS, *LISTS]
    assert [line for line in table if not looks(line)] == []


def test_every_other_form_is_asked_about() -> None:
    table = [
        # A version, with something else.
        *("python --version x.py", "python -m x --version", "python -V -c x", "python", "python -i", "node -v -e x"),
        *("node -r ./x -v", "perl -v -e x", "bash --version x", "bash --rcfile x --version", "make --version x"),
        *("make", "make -n", "gcc --version -fplugin=./x.so a.c", "gcc -specs=x --version", "java -version -jar x.jar"),
        *("java @x -version", "cmake --version -P x", "npm --version x", "tsc -v -p x", "tsc", "pip", "docker", "gh"),
        # What a folder can change; see the table.
        *("npm ls", "npm list -g", "npm outdated", "npm view x", "npm config list", "pip freeze", "pip config list"),
        *("pip list -o", "pip list --outdated", "pip --python x list", "pip --log x list", "pip install x"),
        *("uv pip list", "uv python list", "uv tree", "ruff check", "mypy .", "pip download x"),
        "pip list --index-url u",
        # Secrets, what is elsewhere, and what does not end.
        *("docker inspect x", "docker logs x", "docker compose ps", "docker compose config", "docker exec x env"),
        *("docker -H ssh://x ps", "docker --config x ps", "docker stats", "docker run x", "podman ps"),
        *("docker search x", "kubectl get secrets", "kubectl get pods,secrets", "kubectl get secret/x"),
        *("kubectl get pods -o yaml", "kubectl get pods -o jsonpath={}", "kubectl get pods -w"),
        *("kubectl get configmap", "kubectl get -f x", "kubectl get --kubeconfig x pods", "kubectl describe pod x"),
        *("kubectl logs x", "kubectl get $x", "kubectl get", "kubectl get PODS,SECRETS", "kubectl config view"),
        *("kubectl version", "helm status x", "helm get values x", "gh pr merge 1", "gh pr list -w"),
        *("gh pr view --web", "gh pr list --jq env", "gh pr list -q env", "gh api x", "gh pr list -R evil.org/a/b"),
        *("gh pr view https://evil.org/a/b/pull/1", "gh repo view evil.org/a/b", "gh pr checks --watch"),
        *("gh run watch", "gh auth status -t", "gh auth token", "gh secret list", "gh pr list $x"),
        *("gh auth status --show-token", "gh pr create", "gh repo clone a/b", "gh run view 1 -w"),
        *("gh pr list -t '{{.}}'", "apt show ./x.deb", "apt install x", "apt -o x=y list", "apt -c x list"),
        *("dpkg -i x.deb", "dpkg", "dpkg --root=x -l", "rpm -i x", "rpm -i -q x", "rpm -E x", "rpm --eval x -q"),
        *("rpm -qp x.rpm", "brew info x", "brew install x", "systemctl show x", "systemctl cat x"),
        *("systemctl restart x", "systemctl -H x status", "journalctl -n 5", "journalctl --vacuum-time=1d"),
    ]
    assert [line for line in table if looks(line)] == []


ASK_THE_FOLDER = names(
    "cargo rustc rustup go yarn pnpm npx corepack pytest tox nox poetry bundle mvn gradle dotnet terraform php deno bun"
)


def test_the_version_of_a_program_that_asks_the_folder_is_not_shown_unasked() -> None:
    table = sorted(ASK_THE_FOLDER)
    assert [program for program in table if not (program not in PROGRAMS or not looks(f"{program} --version"))] == []


ROLES = [
    ("python a.py --config=secrets/a b", "execute a.py; read --config=secrets/a; read secrets/a; read b"),
    ("python -I a.py -I../x", "execute a.py; read -I../x; read ../x"),
    ("python -c 'print(1)' b", "command print(1); read b"),
    ("python -m pytest tests -q", "command pytest; read tests; read -q"),
    ("python -W ignore a.py", "execute a.py"),
    ("node -r ./x a.js", "execute ./x; execute a.js"),
    ("node --env-file=.env a.js", "execute .env; execute a.js"),
    ("node -e 'x()' a", "command x(); read a"),
    ("perl -I lib a.pl b", "execute lib; execute a.pl; read b"),
    ("bash -e a.sh b", "execute a.sh; read b"),
    ("sh -ec 'ls' b", "command ls; read b"),
    ("ruby a.rb ../b", "execute a.rb; read ../b"),
    ("make test", "execute GNUmakefile; execute makefile; execute Makefile"),
    ("make -C sub -f M X=1 all", "list sub; execute M; execute sub/M; command X=1"),
    ("make --eval 'x' -I inc", "command x; execute inc; execute GNUmakefile; execute makefile; execute Makefile"),
    ("gcc -Wall a.c -o b", "read a.c; read b; write b"),
    ("docker run --rm -v ~/.ssh:/k alpine ls", "tree ~/.ssh; write ~/.ssh"),
    ("docker run --mount type=bind,source=/etc,target=/x i", "tree /etc; write /etc"),
    ("docker run -itv a:b --env-file=e i", "tree a; write a; read e"),
    ("docker cp secrets c:/x", "tree secrets; write c:/x"),
    ("docker build -f D secrets", "execute D; tree secrets"),
    ("kubectl cp secrets p:/x", "tree secrets; write p:/x"),
    ("kubectl apply -f secrets/a", "read secrets/a"),
    ("pip install -r r.txt -e .", "read r.txt; execute ."),
]


def test_every_word_has_its_role() -> None:
    assert [line for line, expected in ROLES if uses(line) != set(expected.split("; "))] == []


@pytest.mark.parametrize("line", ["python a.py $x", "docker run -v $PWD:/x i", "npm install x", "gcc -I../x a.c"])
def test_what_is_not_known_is_not_in_the_grammar(line: str) -> None:
    assert parsed(line) is None


# ── a hostile folder ────────────────────────────────────────────────────────────────────────────

SHELL = "#!/bin/sh\ntouch PWNED\n"
PYTHON = "open('PWNED', 'w')\n"
SCRIPT = "require('fs').writeFileSync('PWNED', '')\n"
FILES = {
    **dict.fromkeys(
        ("conftest.py", "sitecustomize.py", "usercustomize.py", "setup.py", "toxfile.py", "noxfile.py"), PYTHON
    ),
    **dict.fromkeys(("pip.py", "pip/__init__.py", "json.py", "encodings/__init__.py", "plugin.py", "re.py"), PYTHON),
    "pip.conf": "[global]\nlog = PWNED\npython = ./evil.sh\n",
    "setup.cfg": "[global]\ncommand_packages = plugin\n[install]\nroot = PWNED\n",
    "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'plugin'\nbackend-path = ['.']\n"
    "[tool.mypy]\nplugins = 'plugin.py'\n",
    "mypy.ini": "[mypy]\nplugins = plugin.py\n",
    "ruff.toml": "extend = 'PWNED'\n",
    "uv.toml": "cache-dir = 'PWNED'\n",
    ".venv/bin/python": SHELL,
    ".venv/pyvenv.cfg": "home = .\n",
    "package.json": '{"name": "x", "packageManager": "yarn@1.22.0", "scripts": {"version": "touch PWNED"}}',
    ".npmrc": "logs-dir=PWNED\ncache=PWNED\nscript-shell=./evil.sh\nonload-script=./evil.js\n"
    "node-options=-r ./evil.js\n",
    ".yarnrc": 'yarn-path "./evil.js"\n',
    ".yarnrc.yml": "yarnPath: ./evil.js\n",
    "node.config.json": '{"nodeOptions": {"import": ["./evil.js"]}}',
    **dict.fromkeys(("evil.js", "node_modules/npm/index.js", "node_modules/typescript/index.js"), SCRIPT),
    **dict.fromkeys(("evil.sh", "node_modules/.bin/tsc", "rustc", "tc/bin/rustc", "tc/bin/cargo"), SHELL),
    "rust-toolchain.toml": '[toolchain]\npath = "tc"\n',
    ".cargo/config.toml": '[build]\nrustc = "./evil.sh"\n',
    **dict.fromkeys(("Makefile", "GNUmakefile", "makefile"), "$(shell touch PWNED)\nall:\n\ttouch PWNED\n"),
    "CMakeLists.txt": "execute_process(COMMAND touch PWNED)\n",
    "CTestTestfile.cmake": "execute_process(COMMAND touch PWNED)\n",
    "CMakePresets.json": '{"version": 3}',
    "build.ninja": "rule x\n  command = touch PWNED\nbuild all: x\n",
    "specs": "*version:\ntouch PWNED\n",
    ".hotspotrc": "+PrintFlagsFinal\n",
    ".mvn/jvm.config": "-javaagent:evil.jar\n",
    "docker-compose.yml": "services: {}\n",
    **dict.fromkeys((".bashrc", ".profile", ".perldb", "sitecustomize.pl"), "touch PWNED\n"),
    "strict.pm": "open(F, '>PWNED'); 1;\n",
    ".git/config": "[core]\n\tfsmonitor = touch PWNED\n\tpager = touch PWNED\n",
    ".git/HEAD": "ref: refs/heads/main\n",
}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with every file that makes some program run something."""
    folder = tmp_path / "folder"
    for name, content in FILES.items():
        path = folder / name
        if name != "pip/__init__.py":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.stories
def test_nothing_of_a_hostile_folder_is_run(hostile: Path) -> None:
    before = state(hostile)
    for line in [line for line in (*VERSIONS, *LISTS) if found(line)]:
        done = run(line, hostile)
        assert state(hostile) == before, line
        assert done.returncode == 0 or line in LISTS, (line, done.stderr)


@pytest.mark.parametrize("line", ["make -n", "python3 -m pip list", "python3 setup.py", "npm ls"])
def test_forms_that_were_left_out_run_or_write_something_there(line: str, hostile: Path) -> None:
    if not found(line):
        pytest.skip("the program is not installed")
    before = state(hostile)
    run(line, hostile)
    assert state(hostile) != before
