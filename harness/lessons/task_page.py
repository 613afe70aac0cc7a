"""The page that tells in the copy of an exercise what is to be done."""

from harness.lessons.exercises import CHECKS, Exercise
from harness.lessons.languages import Language

TASK = "TASK.md"


def task_page(exercise: Exercise, language: Language) -> str:
    """The task, what is checked, how to check and how to get hints, as Markdown."""
    title = f"# {exercise.chapter} · {exercise.title.into(language)}"
    wants = "\n".join(f"- {check.wants.into(language)}" for check in exercise.checks)
    write = _japanese if language == "ja" else _english
    return f"{title}\n\n{exercise.task.into(language).strip()}\n\n{write(exercise, wants)}"


def _english(exercise: Exercise, wants: str) -> str:
    hints = len(exercise.hints)
    are = "is one hint" if hints == 1 else f"are {hints} hints"
    return f"""## What is checked

{wants}

## How to check

Edit `{exercise.file}`, then, in this folder:

```sh
harness check
```

`{CHECKS}` shows how it is checked. The original is what runs, so changing it here changes nothing.

There {are}; each call shows the next one:

```sh
harness check --hint
```
"""


def _japanese(exercise: Exercise, wants: str) -> str:
    return f"""## 確かめること

{wants}

## 確かめ方

`{exercise.file}` を編集して、このフォルダーで次を実行します。

```sh
harness check
```

どう確かめるかは `{CHECKS}` に書いてあります。実行されるのは元のファイルなので、ここで書き換えても何も変わりません。

ヒントは {len(exercise.hints)} 個あります。実行するたびに次のヒントが一つ出ます。

```sh
harness check --hint
```
"""
