"""The rules of mailboxes: names, recipients, what begins work, whom a task owes an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Address, MailKind
from harness.policies.team.mail import (
    ALL,
    Mailbox,
    MailDraft,
    MailLimits,
    MailRefused,
    begins_work,
    is_thanks,
    name_problem,
    owed_to,
    recipients,
    returned_kind,
    returned_text,
)

LEAD, ANN, BEN, OLD = Address("lead", 1), Address("ann", 2), Address("ben", 1), Address("old", 1)
BOXES = {
    "lead": Mailbox(LEAD),
    "ann": Mailbox(ANN, unread=3),
    "ben": Mailbox(BEN, unread=1),
    "old": Mailbox(OLD, ended="it was stopped"),
}
FEW = MailLimits(characters=10, waiting=3, recipients=1)

NAMES = {
    "ann": "",
    "Ann_2-b": "",
    "a" * 64: "",
    "": "1 to 64 letters",
    "a" * 65: "1 to 64 letters",
    "../escape": "1 to 64 letters",
    "a b": "1 to 64 letters",
    "-x": "1 to 64 letters",
    ".git": "1 to 64 letters",
    "ann\n": "1 to 64 letters",
    "café": "1 to 64 letters",
    "LEAD": "reserved",
    "all": "reserved",
    "User": "reserved",
    "a12": "reserved",
    "B1": "reserved",
    "head": "reserved",
    "BEN": "a member BEN already",
}


@pytest.mark.parametrize(("name", "problem"), NAMES.items())
def test_names(name: str, problem: str) -> None:
    found = name_problem(name, ["ben"])
    assert problem in found
    assert bool(found) is bool(problem)


SENT = [
    (MailDraft(LEAD, ("ann",), "hi"), None, (ANN,)),
    (MailDraft(LEAD, ("ben", "ann", "ben"), "hi"), None, (BEN, ANN)),
    (MailDraft(ANN, (ALL,), "hi"), None, (BEN, LEAD)),
    (MailDraft(Address("user", 1), (ALL,), "hi"), None, (ANN, BEN)),
    (MailDraft(Address("user", 1), ("lead",), "hi"), None, "To talk to the lead, type a prompt."),
    (MailDraft(ANN, ("ann",), "hi"), None, "ann is you. There are: ben, lead."),
    (MailDraft(ANN, ("user",), "hi"), None, "write to lead"),
    (MailDraft(ANN, ("eve",), "hi"), None, "There is no 'eve'. There are: ben, lead."),
    (MailDraft(ANN, ("old",), "hi"), None, "old has ended: it was stopped. There are: ben, lead."),
    (MailDraft(ANN, ("ben", "eve"), "hi"), None, "There is no 'eve'"),
    (MailDraft(ANN, (), "hi"), None, "Name a recipient."),
    (MailDraft(ANN, ("ben",), " \n"), None, "empty"),
    (MailDraft(LEAD, ("ben",), "x" * 11), FEW, "11 characters, and 10 are allowed"),
    (MailDraft(LEAD, (ALL,), "hi"), FEW, "2 recipients; one message may have 1"),
    (MailDraft(LEAD, ("ann",), "hi"), FEW, "ann has 3 unread messages"),
]


@pytest.mark.parametrize(("draft", "limits", "expected"), SENT)
def test_recipients(draft: MailDraft, limits: MailLimits | None, expected: tuple[Address, ...] | str) -> None:
    found = recipients(draft, BOXES, limits)
    if isinstance(expected, str):
        assert isinstance(found, MailRefused)
        assert expected in found.reason
    else:
        assert found == expected


THANKS = {
    "Thanks!": True,
    "thank you so much, great work": True,
    "ありがとうございます。": True,
    "Thanks, that is all": True,
    "": False,
    "OK": False,
    "Yes, thanks": False,
    "All done.": False,
    "Thanks, now run the tests": False,
    "great": False,
}


@pytest.mark.parametrize(("text", "thanks"), THANKS.items())
def test_thanks(text: str, *, thanks: bool) -> None:
    assert is_thanks(text) is thanks


@given(st.text(max_size=40), st.sampled_from(MailKind))
def test_only_notes_and_thanks_begin_no_work(text: str, kind: MailKind) -> None:
    quiet = kind is MailKind.NOTE or (kind is MailKind.MESSAGE and is_thanks(text))
    assert begins_work(kind, text) is not quiet
    assert (returned_kind(kind, text) is None) is (kind is MailKind.RETURNED)
    assert not is_thanks(f"{text} deploy")


def test_last_words_go_to_those_whom_nothing_was_written() -> None:
    read = [
        (LEAD, MailKind.MESSAGE, "find it"),
        (BEN, MailKind.MESSAGE, "and this"),
        (BEN, MailKind.MESSAGE, "thanks"),
        (ANN, MailKind.LAST_WORDS, "done"),
        (Address("user", 1), MailKind.USER, "quick"),
        (LEAD, MailKind.MESSAGE, "once more"),
    ]
    assert owed_to(read, ()) == (LEAD, BEN)
    assert owed_to(read, ("lead",)) == (BEN,)
    assert owed_to(read[3:5], ()) == ()


def test_a_returned_message_is_named_and_cut() -> None:
    text = returned_text(7, BEN, "it was stopped", "look\nat " + "x" * 200)
    assert text.startswith("Your message 7 to ben was not read: it was stopped. It began: look at x")
    assert len(text) < 200
