"""git in every form: what rules see of it, and what no pattern allows."""

import pytest

from harness.permissions import Allow, Ask, Deny, Mode
from tests.permissions.test_verdicts import decided


@pytest.mark.parametrize(
    "line",
    [
        *("git push", "git --no-pager -C src push", "git -Csrc push", "git --config-env a.b=HOME push"),
        *("git --config-env=a.b=HOME push", "git -c alias.p=push p", "git -c alias.p='!git push' p"),
        *("git -c include.path=x p", "git -c help.autocorrect=immediate psuh", "git --exec-path=x push"),
        *("git --exec-path=x status", "git --git-dir=.git push", "git --git-dir .git --work-tree . push"),
        *("git --namespace x push", "git --bare push", "git -p push", "git --unheard-of push"),
        *("git --unheard-of x push", "/usr/lib/git-core/git-push", "/usr/lib/git-core/git-push origin main"),
        *("git-push", "GIT-PUSH", "/usr/lib/git-core/git -c user.name=x push"),
    ],
)
def test_a_denied_subcommand_runs_unasked_in_no_form(line: str) -> None:
    for mode in Mode:
        decision = decided(line, mode, deny="bash(git push *)")
        assert isinstance(decision, Deny | Ask), decision
    assert isinstance(decided(line, Mode.DENY, deny="bash(git push *)"), Deny)


@pytest.mark.parametrize(
    "line", ["git -Csrc push", "git-push", "git --git-dir x push", "git --config-env=a.b=HOME push"]
)
def test_a_subcommand_that_is_seen_is_denied_for_certain(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="bash(git push *)"), Deny)


@pytest.mark.parametrize(
    "line", ["git status", "git -c color.ui=false log", "git -C src commit -m push", "git-log push"]
)
def test_another_subcommand_is_not_denied_with_it(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="bash(git push *)"), Allow)


@pytest.mark.parametrize(
    "line",
    [
        *("git -c alias.x='!touch P' x", "git -c core.fsmonitor=./x status", "git -c core.sshCommand=./x fetch"),
        *("git -c core.pager", "git -c 'filter.x.clean=touch P' add .", "git -c $setting status"),
        *("git --config-env=core.pager=HOME log", "git --exec-path=. status", "git --git-dir=vendor status"),
        *("git --work-tree=/ clean", "git fetch --upload-pack=./x origin", "git fetch --upload-pa ./x origin"),
        *("git pull --upload-pack ./x", "git ls-remote --exec=./x .", "git push --receive-pack=./x origin"),
        *("git clone -u ./x a b", "git clone -c core.fsmonitor=./x a b", "git clone --config=core.fsmonitor=./x a b"),
        *("git clone --template=x a b", "git clone 'ext::sh -c touch% P' b", "git archive --remote=x --exec=./x HEAD"),
        *("git rebase -x 'touch P' main", "git rebase --exec='touch P' main", "git grep -O./x y"),
        *("git grep --open-files-in-pager=./x y", "git difftool -x ./x", "git difftool --extcmd=./x"),
        *("git log --output=.bashrc", "git filter-branch --tree-filter 'touch P'", "git hook run pre-commit"),
        *("git send-email x", "git config alias.x '!touch P'", "git config set alias.x '!touch P'"),
        *("git config --global core.pager ./x", "git config --add filter.x.clean ./x"),
        *("git config core.hooksPath hooks", "git config gpg.program ./x", "git config unheard.of x"),
        *("git config submodule.x.update '!touch P'", "git config submodule.x.update $what", "git config $key x"),
        *("git config -f .git/config user.name x", "git config --file=x user.name x", "git config -e"),
    ],
)
def test_what_makes_git_run_something_is_covered_by_no_pattern(line: str) -> None:
    decision = decided(line, Mode.EDITS, allow=["bash(git *)", "write(**)", "read(**)"])
    assert isinstance(decision, Ask), decision
    assert decision.dangers or "$" in line


@pytest.mark.parametrize(
    "line",
    [
        *("git -c user.name=x -c user.email=y commit -m z", "git -c commit.gpgsign=false commit -m z"),
        *("git -c color.ui=always log", "git -c core.pager=cat log", "git -C src commit -m 'config -e'"),
        *("git config user.name x", "git config --global pull.rebase true", "git config --get alias.x"),
        *("git config --unset core.pager", "git fetch origin main", "git clone https://example.com/a.git b"),
        *("git rebase main", "git log --oneline", "git submodule foreach 'git status'"),
    ],
)
def test_ordinary_forms_are_covered_by_a_pattern(line: str) -> None:
    assert isinstance(decided(line, Mode.EDITS, allow=["bash(git *)", "write(**)", "read(**)"]), Allow)
