"""The respawn breaker against a naive count."""

from hypothesis import given
from hypothesis import strategies as st

from harness.policies.team.respawn import GoOn, NoRespawn, Respawn, RespawnLimits, after_failure

LIMITS = RespawnLimits(member=2, team=3, window_s=100)


@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["ann", "ben", "cem"])), max_size=30))
def test_never_more_generations_in_any_window_than_the_limits(crashes: list[tuple[int, str]]) -> None:
    now = 0.0
    begun: list[tuple[float, str]] = []
    for after, name in crashes:
        now += after
        match after_failure(name, begun, transient=False, in_a_row=0, now=now, limits=LIMITS):
            case Respawn():
                begun.append((now, name))
            case NoRespawn(why):
                recent = [one for at, one in begun if now - at < 100]
                assert recent.count(name) == 2 or len(recent) == 3
                assert "no more is allowed" in why
    for at, _ in begun:
        window = [one for when, one in begun if at <= when < at + 100]
        assert len(window) <= 3
        assert max(map(window.count, window)) <= 2


@given(st.integers(1, 10_000))
def test_a_fault_of_the_model_never_ends_a_member_and_the_waits_grow_to_a_limit(in_a_row: int) -> None:
    begun = [(0.0, "ann")] * 50
    found = after_failure("ann", begun, transient=True, in_a_row=in_a_row, now=0.0)
    assert isinstance(found, GoOn)
    assert found.after_s == min(15 * 2 ** (in_a_row - 1), 1800)
