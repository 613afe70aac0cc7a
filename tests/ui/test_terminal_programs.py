"""Programs after `!` that get the terminal: which they are, and that the screen comes back."""

import asyncio
from pathlib import Path

import pytest

from harness.ui.terminal_programs import needs_terminal
from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

INTERACTIVE = """
vim notes.md
/usr/bin/vi
EDITOR=x nano a.txt
sudo -E vi /etc/hosts
cd src && nvim main.py
git log | less
cat a.txt | less -S
top
ssh host
python3
python -i
FOO=1 python3 -q
bash
sqlite3
sqlite3 shop.db
psql shop
git commit
git commit --amend
git rebase -i main
git add -p
ls; htop
crontab -e
docker run --rm -it alpine
"""
OTHERS = """
ls
vim --version
python3 script.py
python3 -c 'print(1)'
python -m http.server
echo 1 | python3
python3 < script.py
less a.txt > b.txt
vim &
bash run.sh
bash -c ls
sqlite3 shop.db 'select 1'
psql shop -c 'select 1'
git commit -m 'vim'
git commit -am x
git commit --message=x
git commit --amend --no-edit
git rebase main
git log
docker ps
echo vim
echo 'less' "top"
grep -rn vim .
echo 'an open quote
git
seq 3 |
"""


@pytest.mark.parametrize("line", INTERACTIVE.strip().splitlines())
def test_what_reads_keys_or_draws_gets_the_terminal(line: str) -> None:
    assert needs_terminal(line)


@pytest.mark.parametrize("line", OTHERS.strip().splitlines())
def test_what_only_prints_is_run_for_its_output(line: str) -> None:
    assert not needs_terminal(line)


@pytest.mark.anyio
@pytest.mark.stories
@pytest.mark.skipif(TMUX is None, reason=REASON)
async def test_a_terminal_that_is_closed_meanwhile_leaves_no_process_behind(place: Place) -> None:
    async with Tmux(place, "--practice") as terminal:
        await terminal.sees("asks first")
        await terminal.say("!!read -p x; read y")
        await terminal.sees_that(lambda screen: "asks first" not in screen, "the program")
        [process] = await terminal.processes()
    async with asyncio.timeout(60):
        while Path(f"/proc/{process}").exists():  # noqa: ASYNC110 (it is not our child)
            await asyncio.sleep(0.05)


@pytest.mark.stories
@pytest.mark.anyio
@pytest.mark.skipif(TMUX is None, reason=REASON)
async def test_a_program_gets_the_terminal_with_its_keys_and_the_screen_comes_back(place: Place) -> None:
    async with Tmux(place, "--practice") as terminal:
        await terminal.sees("asks first")
        await terminal.say("!python3 -q")
        await terminal.sees(">>>", gone=("asks first",))
        await terminal.type("import os, time; print('secret:', os.environ.get('ANTHROPIC_API_KEY')); time.sleep(60)")
        await terminal.press("Enter")
        await terminal.sees("secret: None")
        await terminal.press("C-c")
        await terminal.sees("KeyboardInterrupt")
        await terminal.say("raise SystemExit(3)")
        await terminal.sees("asks first", "ran python3 -q (exit 3)", gone=("secret",))
        await terminal.say("!!read -p 'name? ' name; echo hello $name >made")
        await terminal.sees("name?", gone=("asks first",))
        await terminal.say("Ann")
        await terminal.sees("asks first", "made (exit 0)")
        assert (place.folder / "made").read_text() == "hello Ann\n"
        await terminal.say("!echo ok!")
        await terminal.sees("  ok!")


@pytest.mark.anyio
@pytest.mark.stories
@pytest.mark.skipif(TMUX is None, reason=REASON)
async def test_in_lines_a_program_gets_the_terminal_too(place: Place) -> None:
    async with Tmux(place, "--practice", "--plain") as terminal:
        await terminal.sees("/help lists the commands")
        await terminal.say("!python3 -q")
        await terminal.sees(">>>")
        await terminal.press("C-c")
        await terminal.sees("KeyboardInterrupt")
        await terminal.say("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        await terminal.sees("ran python3 -q (ended by signal 9)")
        await terminal.say("!echo seen")
        await terminal.sees("  seen\n>")
        await terminal.press("C-d")
        await terminal.sees("exit code 0")
