"""The text for macOS's sandbox is read back as the lists that it is made of, and says what the profile says."""

import re
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox import Access, Profile, ProfileName
from harness.sandbox.seatbelt import seatbelt_command, seatbelt_rules

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=3)
PATHS = st.lists(st.sampled_from(["a", "b"]) | NAMES, min_size=1, max_size=3).map(lambda names: "/" + "/".join(names))
PROFILES = st.builds(
    Profile,
    st.just(ProfileName.WORK),
    *(st.lists(PATHS, max_size=3, unique=True).map(tuple) for _ in range(4)),
)


def read(text: str) -> list[Any]:
    """Nested lists of words; a string keeps its quote in front. Fails where brackets or quotes do not balance."""
    tokens = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))', re.DOTALL)
    lists: list[list[Any]] = [[]]
    place = 0
    while text[place:].strip():
        token = tokens.match(text, place)
        assert token, text[place:]
        place = token.end()
        match token.groups():
            case ("(", None, None):
                lists.append([])
            case (")", None, None):
                done = lists.pop()
                lists[-1].append(done)
            case (None, str(quoted), None):
                lists[-1].append('"' + re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
            case (None, None, str(word)):
                lists[-1].append(word)
    assert len(lists) == 1
    return lists[0]


def _covers(path: str, filter: list[str]) -> bool:
    kind, value = filter[0], filter[1].removeprefix('"')
    return path == value if kind == "literal" else kind == "subpath" and f"{path}/".startswith(f"{value.rstrip('/')}/")


def allows(rules: list[Any], operation: str, path: str) -> bool:
    """What the last rule about an operation and a path says; nothing is allowed that no rule names."""
    allowed = False
    for verdict, *rest in rules[2:]:
        operations = [word for word in rest if isinstance(word, str)]
        filters = [one for one in rest if isinstance(one, list)]
        named = any(operation == one or (one.endswith("*") and operation.startswith(one[:-1])) for one in operations)
        covered = not filters or any(map(partial(_covers, path), filters))
        if named and covered:
            allowed = verdict == "allow"
    return allowed


@given(PROFILES, PATHS)
def test_it_says_what_the_profile_says(profile: Profile, path: str) -> None:
    rules = read(seatbelt_rules(profile))
    assert rules[:2] == [["version", "1"], ["deny", "default"]]
    access = profile.access(path)
    assert allows(rules, "file-read-data", path) is (access >= Access.READ)
    assert allows(rules, "process-exec", path) is (access >= Access.READ)
    assert allows(rules, "file-write-create", path) is (access is Access.WRITE)
    assert allows(rules, "file-read-metadata", path)
    assert not [rule for rule in rules if rule[0] == "allow" and any(str(one).startswith("network") for one in rule)]


def test_a_path_cannot_end_its_string() -> None:
    profile = Profile(ProfileName.LOOK, readable=('/a") (allow file-write* (subpath "/', "/b\\"))
    rules = read(seatbelt_rules(profile))
    assert ["allow", "file-read*", "process-exec*", ["subpath", '"/a") (allow file-write* (subpath "/']] in rules
    assert ["allow", "file-read*", "process-exec*", ["subpath", '"/b\\']] in rules
    assert not allows(rules, "file-write-data", "/x")


def test_the_command_comes_last() -> None:
    profile = Profile(ProfileName.LOOK, readable=("/w",))
    command = seatbelt_command(profile, ("/bin/bash", "-c", "ls"))
    assert command == ("/usr/bin/sandbox-exec", "-p", seatbelt_rules(profile), "/bin/bash", "-c", "ls")
