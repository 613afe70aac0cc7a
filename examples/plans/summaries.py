"""Summarises files, each with an agent of its own: `harness run examples/plans/summaries.py README.md CHANGELOG.md`.

A file that cannot be summarised does not end the plan: its agent's failure is a value.
"""

from harness.plan_script import AgentFailed, Plan


async def main(plan: Plan) -> str:
    if not plan.arguments:
        return "Name the files behind the script."
    plan.phase(f"summarise {len(plan.arguments)} files")
    answers = await plan.parallel(plan.agent(f"summarise {file}", raises=False) for file in plan.arguments)
    parts = []
    for file, answer in zip(plan.arguments, answers, strict=True):
        parts.append(f"## {file}\n\n{f'(none: {answer.reason})' if isinstance(answer, AgentFailed) else answer}")
    return "\n\n".join(parts)
