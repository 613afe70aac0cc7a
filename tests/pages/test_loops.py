"""What the page about watching an agent says is so."""

import re

from harness.events import Rung
from harness.policies.loops.limits import LoopLimits
from tests.pages.blocks import text

TEXT = text("docs/loops.md")


def test_the_page_names_every_rung_in_its_order_with_its_quota() -> None:
    rows = re.findall(r"^\| (\w+) \| (\d|–) \|", TEXT, re.MULTILINE)
    policy = LoopLimits()
    assert rows == [(rung.value, "–" if rung is Rung.STOP else str(policy.quota(rung))) for rung in Rung]
