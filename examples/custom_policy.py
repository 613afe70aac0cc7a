"""A policy of your own: a rate limit is answered by the fallback model at once, without waiting."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Agent, Policies
from harness.events import Fault, FaultKind, ModelSwitched, Outcome, TurnEnded
from harness.policies.recovery import Decision, RecoveryLimits, Resend, Situation, SwitchModel, TurnState, decide

SCRIPT = """
[[reply]]
status = 429
headers = { retry-after = "30" }

[[reply]]
text = "The other model answers."
"""


def switch_at_once(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The shipped policy, except that a rate limit is not waited for while a fallback is left."""
    decision = decide(state, outcome, limits, situation)
    match decision, outcome:
        case Resend(), Fault(kind=FaultKind.RATE_LIMIT) if state.fallbacks:
            switched = state.on_next_model(situation.now, limits)
            return SwitchModel(switched, f"{state.model} is rate limited", switched.model)
        case _:
            return decision


async def main() -> None:
    """Let the practice model refuse the first request."""
    policies = Policies(decide=switch_at_once, recovery=RecoveryLimits(retries_per_request=3))
    with TemporaryDirectory() as folder:
        script = Path(folder) / "limited.toml"
        script.write_text(SCRIPT)
        fallback = ("claude-haiku-5-5",)
        async with Agent(policies=policies, practice_script=script, fallback_models=fallback) as agent:
            async for event in agent.run("Hello!"):
                match event:
                    case ModelSwitched():
                        print(f"{event.from_model} → {event.to_model}: {event.reason}")
                    case TurnEnded():
                        print(event.answer)


if __name__ == "__main__":
    asyncio.run(main())
