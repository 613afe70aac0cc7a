"""Reports and what they are made of, for the tests of the report and of its print."""

from hypothesis import strategies as st

from harness.events import (
    BreakerState,
    CascadePhase,
    Deferred,
    Failure,
    FailureCategory,
    HealthRow,
    ItemStatus,
    LoggedFailure,
    PlanItem,
    ToolTally,
)
from harness.policies.breakers.cascades import CascadeGroup
from harness.policies.breakers.pause_report import pause_report

TOOLS = ("bash", "grep", "read_file", "mcp__a_server_with_a_long_name__and_a_tool_with_a_long_name", "fetch")

tools = st.sampled_from(TOOLS)
words = st.text(max_size=200) | st.text("ab \n-", max_size=400)
counts = st.integers(0, 300)
moments = st.none() | st.floats(0, 4e9)

items = st.builds(PlanItem, words, st.sampled_from(ItemStatus), st.lists(tools, max_size=3).map(tuple))
plans = st.lists(items, max_size=6, unique_by=lambda item: item.text)
deferrals = st.lists(st.builds(Deferred, items, words, words), max_size=3, unique_by=lambda entry: entry.item.text)
calls = st.lists(st.builds(ToolTally, tools, counts, counts), max_size=4, unique_by=lambda call: call.tool)
rows = st.builds(
    HealthRow,
    tools,
    st.sampled_from(BreakerState),
    counts,
    moments,
    moments,
    words,
    st.none() | counts,
    words,
    st.booleans(),
    st.integers(100, 999),
    st.integers(0, 100),
)
tables = st.lists(rows, max_size=5, unique_by=lambda row: row.tool)
failures = st.builds(Failure, st.sampled_from(FailureCategory), words, st.sampled_from(["", "transport: refused"]))
logs = st.lists(st.builds(LoggedFailure, counts, tools, failures), max_size=30)
groups = st.lists(
    st.builds(
        CascadeGroup,
        st.just("transport: refused"),
        st.frozensets(tools, min_size=1),
        counts,
        phase=st.sampled_from([CascadePhase.SYSTEMIC, CascadePhase.RECOVERING]),
    ),
    max_size=1,
)
reports = st.builds(pause_report, words, plans, deferrals, calls, tables, counts, counts, logs, counts, groups=groups)
"""Reports of anything: also of parts that do not fit each other."""
