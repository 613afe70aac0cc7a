"""What arrived while the model did something else, read, and told in a sentence each."""

import html
import re
from collections.abc import Sequence

from harness.practice.improviser import phrases as say
from harness.practice.improviser.delegation_plans import answer_in, unfinished
from harness.practice.improviser.plan_context import Setting, excerpt, fenced
from harness.practice.improviser.turns import Arrival

_ARRIVED = re.compile(
    r'<arrived what="(?P<kind>[^"]*)" from="(?P<source>[^"]*)">\n(?P<text>.*?)\n</arrived>', re.DOTALL
)
_TASK = re.compile(r'asked in the background to "(?P<task>.*)", has ended')
_LONGEST = 2_000
"""Characters of an answer or an output that are shown."""


def arrivals_in(text: str) -> tuple[Arrival, ...]:
    """The arrivals that a message of the loop holds."""
    found = _ARRIVED.finditer(text)
    return tuple(Arrival(one["kind"], html.unescape(one["source"]), one["text"].strip()) for one in found)


def told(setting: Setting, arrivals: Sequence[Arrival]) -> str:
    """What the person is told of them."""
    return "\n\n".join(_told(setting, arrival) for arrival in arrivals)


def _told(setting: Setting, arrival: Arrival) -> str:
    head, _, rest = arrival.text.partition("\n")
    match arrival.kind:
        case "agent_ended":
            return _of_agent(setting, arrival.source, head, rest.strip() or head)
        case "command_ended":
            return _of_command(setting.say(say.COMMAND_ENDED, id=arrival.source, how=head), rest)
        case "command_quiet":
            return _of_command(setting.say(say.COMMAND_WAITS, id=arrival.source), rest)
        case _:
            return f"{setting.say(say.SOMETHING_ARRIVED, source=arrival.source)}\n\n{fenced(arrival.text, _LONGEST)}"


def _of_command(sentence: str, rest: str) -> str:
    """The sentence, what is said of the output, and the end of the output itself."""
    of_output, _, output = rest.strip().partition("\n")
    parts = [sentence, of_output, fenced(output, _LONGEST) if output.strip() else ""]
    return "\n\n".join(part for part in parts if part)


def _of_agent(setting: Setting, agent: str, head: str, result: str) -> str:
    task = _TASK.search(head)
    if match := unfinished(result):
        return setting.say(say.AGENT_FAILED, task=task["task"] if task else agent, reason=excerpt(match["reason"]))
    return f"{setting.say(say.AGENT_DONE, agent=agent)}\n\n{excerpt(answer_in(result), _LONGEST)}"
