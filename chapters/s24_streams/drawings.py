"""The drawing of the chapter: limits of silence, from the defaults of the program."""

from harness.model.watchdog import WatchLimits

ROWS = (
    ("until the answer begins", "headers_s", ""),
    ("between blocks, while thinking", "quiet_bytes_s", "quiet_event_s"),
    ("inside text or a tool call", "content_bytes_s", "content_event_s"),
)


def limits() -> str:
    """Seconds without a byte, and without an event other than a keep-alive, for each part of an answer."""
    found = WatchLimits()
    lines = [f"   {'':<32}{'no byte':>10}{'only keep-alives':>20}", ""]
    for part, by_bytes, by_event in ROWS:
        seconds = [f"{getattr(found, name):g} s" if name else "" for name in (by_bytes, by_event)]
        lines.append(f"   {part:<32}{seconds[0]:>10}{seconds[1]:>20}".rstrip())
    return "\n".join(lines)
