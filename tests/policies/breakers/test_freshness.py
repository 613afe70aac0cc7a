"""Freshness labels: given on evidence only, and never to a fresh result."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FreshnessLabel
from harness.policies.breakers.freshness import REMEMBERED, Freshness, FreshnessFinding, Observation

STALE, CACHED, UNVERIFIED, UNKNOWN = FreshnessLabel


def read(content: str, of: str | None = "notes.txt", arguments: str = "", **more: object) -> Observation:
    """A whole read."""
    plain = Observation("read_file", arguments or str(of), content, 0, 0.0, of)
    return replace(plain, **more)  # type: ignore[arg-type]


def write(to: str = "notes.txt") -> Observation:
    """A change of one resource."""
    return Observation("write_file", to, "written", 0, 0.0, to, changes=True)


RUN = Observation("bash", "make", "done", 0, 0.0, None, changes=True)
"""A change to unknown files."""


def labels(
    history: Sequence[Observation], *, strict: bool = False, turn_at: float = 0.0
) -> list[FreshnessLabel | None]:
    """The labels of a history whose steps and moments count from 1."""
    freshness = Freshness(strict=strict)
    freshness.begin_turn(turn_at)
    found: list[FreshnessFinding | None] = [
        freshness.observe(replace(one, step=number, at=float(number))) for number, one in enumerate(history, 1)
    ]
    return [label.label if label else None for label in found]


@pytest.mark.parametrize(
    ("history", "last"),
    [
        pytest.param([read("a"), read("a")], None, id="an unchanged file read again"),
        pytest.param([read("a"), write(), read("b")], None, id="a changed file read again"),
        pytest.param([read("a"), write(), read("a")], CACHED, id="the same result after a change of the file"),
        pytest.param([read("a"), write("other.txt"), read("a")], None, id="a change of another file"),
        pytest.param([read("a"), RUN, read("a")], None, id="a command that may have changed nothing"),
        pytest.param([read("a"), write(), RUN, read("a")], None, id="a command that may have undone the change"),
        pytest.param([read("a"), write(), write(), read("a")], None, id="a change and perhaps its undoing"),
        pytest.param([read("a"), read("b"), read("a")], STALE, id="an older content after a newer one"),
        pytest.param([read("a"), read("b"), read("b")], None, id="the newer content again"),
        pytest.param([read("a"), read("b"), RUN, read("a")], None, id="perhaps brought back by a command"),
        pytest.param([read("a"), read("b"), write(), read("a")], None, id="perhaps brought back by a write"),
        pytest.param([read("a", "x"), read("b", "y"), read("b", "x")], None, id="two files with equal content"),
        pytest.param([read("a", None, "x 1-9"), write("x"), read("a", None, "x 1-9")], None, id="a part of a file"),
        pytest.param([read("a", undated=True)], UNKNOWN, id="from a cache, of unknown age"),
        pytest.param([read("a", undated=True, as_of=99.0)], None, id="from a cache, but of now"),
        pytest.param([read("a", as_of=1.5)], UNVERIFIED, id="of before the turn"),
        pytest.param([write(), read("a", as_of=0.5)], STALE, id="of before a change of the file"),
        pytest.param([read("a"), read("b"), read("a", live=True)], None, id="changed back, and read where it is"),
        pytest.param([read("a"), write(), read("a", live=True)], None, id="changed back after a change of ours"),
        pytest.param([read("a"), read("b", live=True), read("a")], STALE, id="older than a live read"),
    ],
)
def test_evidence_and_its_label(history: list[Observation], last: FreshnessLabel | None) -> None:
    *before, found = labels(history, turn_at=2.0)
    assert found is last
    assert set(before) <= {None}


def test_in_strict_mode_every_repeat_is_labelled() -> None:
    assert labels([read("a"), read("a"), read("b")], strict=True) == [None, CACHED, None]


@pytest.mark.parametrize(
    ("history", "label"),
    [
        (
            [read("a"), write(), read("a")],
            FreshnessFinding(CACHED, "the same as in step 1, although notes.txt was changed in step 2"),
        ),
        (
            [read("a"), read("b"), read("a")],
            FreshnessFinding(STALE, "notes.txt was already different in step 2; this is what it was in step 1", 1.0),
        ),
        (
            [write(), write(), read("a", as_of=0.5)],
            FreshnessFinding(STALE, "it is older than the change of notes.txt in step 2", 0.5),
        ),
        (
            [read("a", as_of=1.5)],
            FreshnessFinding(UNVERIFIED, "it is older than this turn and was not read again since", 1.5),
        ),
        (
            [read("a", undated=True)],
            FreshnessFinding(UNKNOWN, "the tool cannot say of when this is"),
        ),
    ],
)
def test_a_label_says_what_it_rests_on(history: list[Observation], label: FreshnessFinding) -> None:
    freshness = Freshness()
    freshness.begin_turn(2.0)
    *_, found = (freshness.observe(replace(one, step=step, at=float(step))) for step, one in enumerate(history, 1))
    assert found == label


@pytest.mark.parametrize(
    ("history", "last"),
    [
        ([read("a", as_of=2.0)], None),
        ([write(), read("a", as_of=1.0), read("a", as_of=2.5)], None),
        ([read("a"), read("b"), read("c"), read("b")], STALE),
        ([read("a"), read("b"), read("a"), read("b")], None),
        ([RUN, read("a"), write(), read("a")], CACHED),
        ([read("a", tool="cat"), read("b"), read("a")], None),
        ([read("a", arguments="x"), write(), read("a", arguments="y")], None),
    ],
)
def test_more_evidence(history: list[Observation], last: FreshnessLabel | None) -> None:
    assert labels(history, turn_at=2.0)[-1] is last


def test_only_so_much_is_remembered() -> None:
    history = [read("a"), *(read("a", f"{number}.txt") for number in range(REMEMBERED)), write(), read("a")]
    assert labels(history)[-1] is None


# ── a world that is known ───────────────────────────────────────────────────────────────────────

FILES = ("x", "y")
ACTIONS = st.lists(
    st.tuples(st.sampled_from(["read", "write", "run", "stale read"]), st.sampled_from(FILES), st.integers(0, 2)),
    max_size=30,
)


@given(ACTIONS)
def test_in_a_world_where_every_read_is_true_nothing_is_ever_labelled(actions: list[tuple[str, str, int]]) -> None:
    world = dict.fromkeys(FILES, 0)
    history = []
    for kind, name, content in actions:
        if kind == "write" and world[name] != content:  # a write of the same content is no change
            history.append(write(name))
            world[name] = content
        elif kind == "run":
            history.append(RUN)
            world[name] = content
        else:
            history.append(read(str(world[name]), name))
    assert set(labels(history)) <= {None}


@given(ACTIONS)
def test_what_is_labelled_was_a_stale_read(actions: list[tuple[str, str, int]]) -> None:
    world = dict.fromkeys(FILES, 0)
    old: dict[str, list[int]] = {name: [0] for name in FILES}
    history, true = [], []
    for kind, name, content in actions:
        if kind in ("write", "run"):
            if kind == "run" or world[name] != content:
                history.append(write(name) if kind == "write" else RUN)
                true.append(True)
                world[name] = content
                old[name].append(content)
            continue
        shown = old[name][0] if kind == "stale read" else world[name]
        history.append(read(str(shown), name))
        true.append(shown == world[name])
    if all(true):
        assert set(labels(history)) <= {None}
    first = next((label for label, honest in zip(labels(history), true, strict=True) if label and honest), None)
    lied = any(not honest for honest in true)
    assert first is None or lied


@given(ACTIONS, st.booleans())
def test_what_was_read_where_it_is_carries_no_label_after_any_change(
    actions: list[tuple[str, str, int]], versions: bool
) -> None:
    history = []
    for kind, name, content in actions:
        version = str(content) if versions else ""
        match kind:
            case "write":
                history.append(replace(write(name), version=version))
            case "run":
                history.append(RUN)
            case _:
                history.append(read(str(content), name, live=True, version=version))
    assert set(labels(history)) <= {None}


def test_a_stale_result_does_not_make_the_true_one_look_stale() -> None:
    assert labels([read("a"), read("b"), read("a"), read("b")]) == [None, None, STALE, None]
    old = [write(), read("b"), read("a", as_of=0.5), read("b")]
    assert labels(old) == [None, None, STALE, None]
    assert labels([read("b"), read("a", undated=True), read("b")]) == [None, UNKNOWN, None]


def test_what_two_calls_show_of_one_content_is_compared_by_its_version_alone() -> None:
    plain, marked = read("plain", arguments="as text"), read("marked", arguments="as markdown")
    assert labels([plain, marked, plain, marked]) == [None] * 4
    one = [replace(call, version="1") for call in (plain, marked)]
    two = [replace(call, version="2") for call in (plain, marked)]
    assert labels([*one, *one, two[0], one[1]]) == [None] * 5 + [STALE]


# ── versions, beside a naive oracle ─────────────────────────────────────────────────────────────

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "change", "run", "of a time"]), st.sampled_from(FILES), st.integers(0, 3)
    ),
    max_size=25,
)


class Naive:
    """Naive oracle: keeps all observations and searches them each time."""

    def __init__(self) -> None:
        self.said: dict[str, list[tuple[str, int]]] = {name: [] for name in FILES}

    def __call__(self, kind: str, name: str, content: int) -> bool:
        """Whether this has to be labelled."""
        said = self.said[name]
        if kind == "run":
            self.said = {name: [] for name in FILES}
        elif kind == "change":
            said.append(("is no longer", said[-1][1] if said and said[-1][0] == "is" else -1))
        elif kind == "write":
            said.append(("is", content))
        elif kind == "read":
            fact, last = said[-1] if said else ("", -1)
            over = (fact == "is") != (last == content)
            if ("is", content) in said and over:
                return True
            said.append(("is", content))
        return False


@given(CALLS)
def test_versions_are_compared_as_the_naive_oracle_compares_them(calls: list[tuple[str, str, int]]) -> None:
    naive, history, expected = Naive(), [], []
    for kind, name, content in calls:
        version = str(content)
        match kind:
            case "read":
                history.append(read(version, name, version=version))
            case "write":
                history.append(replace(write(name), version=version))
            case "change":
                history.append(write(name))
            case "run":
                history.append(RUN)
            case _:  # older than everything else, so it adds no evidence
                history.append(read("x", f"{name}'s neighbour", as_of=-1.0))
        expected.append(naive(kind, name, content))
    found = [label is not None and label is not UNVERIFIED for label in labels(history, turn_at=0.0)]
    assert found == expected


def test_the_oldest_contents_and_calls_of_a_resource_are_forgotten() -> None:
    many = [read(str(number), version=str(number)) for number in range(50)]
    assert labels([*many, many[0]])[-1] is None
    assert labels([*many, many[-2]])[-1] is STALE
