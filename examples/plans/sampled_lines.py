"""Reads some of the files of a folder, drawn at random, and counts their lines.

    harness run examples/plans/sampled_lines.py 3 --seed 7

The first answer decides what follows: its schema makes it data. Each branch of the second phase has two agents, one
after the other. The same seed draws the same files.
"""

import re

from harness.plan_script import Plan

COUNT = {"type": "object", "properties": {"count": {"type": "integer", "minimum": 0}}, "required": ["count"]}


async def main(plan: Plan) -> dict[str, object]:
    plan.budget(usd=1)
    plan.phase("look")
    listed = await plan.agent("list the files", tools=["glob"])
    files = sorted(set(re.findall(r"[\w.-]+\.md\b", listed)))
    drawn = sorted(plan.random.sample(files, min(len(files), int((plan.arguments or ("2",))[0]))))
    plan.phase("read")

    async def lines(file: str) -> tuple[str, int]:
        said = await plan.agent(f"count the lines of {file}")
        answer = await plan.agent(f'How many lines: "{said.splitlines()[-1]}"?', name=f"{file} as data", schema=COUNT)
        return file, answer["count"]

    return dict(await plan.parallel(lines(file) for file in drawn))
