"""The text of a chapter as a reader sees it: without marks, and with everything else."""

from dataclasses import replace
from pathlib import Path

import pytest

from chapters.course import lesson, readme
from chapters.course.catalogue import UnknownLesson

TEXT = """# s01 · A chapter

## The problem

A command gets
<!-- value: a:B -->30<!-- end --> seconds, and of what it says
<!-- value: a:C -->20,000<!-- end --> characters are kept.

<!-- code: a.py:b -->
```python
b = 1
```

## Next

The end.
"""


def test_marks_are_removed_and_the_text_between_them_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(TEXT, "utf-8")
    problem, following = readme(replace(lesson("s01"), folder=tmp_path), "en")
    assert problem.text == (
        "A command gets\n30 seconds, and of what it says\n20,000 characters are kept.\n\n```python\nb = 1\n```"
    )
    assert (problem.title, following.title, following.text) == ("The problem", "Next", "The end.")


@pytest.mark.parametrize("former", ["s22_escape", "s23_gate"])
def test_a_former_name_of_a_chapter_leads_to_its_name_of_today(former: str) -> None:
    with pytest.raises(UnknownLesson, match=f"no chapter '{former}'; did you mean {lesson(former[:3]).name}"):
        lesson(former)
