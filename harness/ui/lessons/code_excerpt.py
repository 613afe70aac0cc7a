"""Which code there is to see at a place of a chapter, and its lines with their numbers."""

from harness.lessons import Beat, Lesson, Source


def places(lesson: Lesson, beat: Beat | None) -> tuple[str, ...]:
    """What key c shows, one after the other: the code of the beat, the demo, and what the lesson names besides."""
    own = (beat.code,) if beat is not None and beat.code else ()
    return tuple(dict.fromkeys((*own, lesson.demo, *lesson.code)))


def numbered(source: Source) -> str:
    """The code with its line numbers."""
    lines = source.text.splitlines()
    width = len(str(source.first_line + len(lines)))
    return "\n".join(f"{number:>{width}}  {line}".rstrip() for number, line in enumerate(lines, source.first_line))
