"""The moments of a run shown at each position, compared with a count over the run."""

import pytest

from chapters.course import Recording, WireExchange, lesson
from chapters.course.plain.position import LessonPosition

pytestmark = pytest.mark.anyio


async def test_each_place_shows_the_moments_up_to_its_step_and_compares_a_request_with_the_one_before() -> None:
    async with Recording(lesson("s06"), scripted_only=True) as recording:
        early = LessonPosition(recording)
        assert (early.has_come(0), early.has_come(13)) == (True, False)
        assert await early.reached(0)
        await recording.finished()
        count, moments = len(recording.lesson.steps), recording.moments
        assert (early.last, early.place, early.at_end, early.on_step) == (count + 1, 0, False, False)
        ends = [0, *(found.moment.number + 1 for found in recording.steps if found.moment.number is not None)]
        ends.append(len(moments))
        for place in range(count + 2):
            here = LessonPosition(recording, place)
            assert await here.reached(place)
            assert here.has_come(place)
            assert here.end_of(place) == ends[place]
            assert (here.at_end, here.on_step) == (place == count + 1, 0 < place <= count)
            before = ends[max(place - 1, 0)]
            assert list(here.past) == list(moments[:before])
            assert list(here.present) == list(moments[before : ends[place]])
            assert list(here.shown) == list(moments[: ends[place]])
            sent = [one.fact for one in here.present if isinstance(one.fact, WireExchange)]
            earlier = [one.fact for one in here.past if isinstance(one.fact, WireExchange)]
            assert list(here.exchanges()) == (sent or earlier[-1:])
            for one, other in here.compared():
                alike = [
                    each for each in (*earlier, *sent) if each.number < one.number and _opening(each) == _opening(one)
                ]
                first = [each for each in (*earlier, *sent) if each.number < one.number]
                assert other == (alike[-1] if alike else first[-1] if first else None)


def _opening(one: WireExchange) -> object:
    messages = one.sent["messages"]
    return messages[0] if isinstance(messages, list) else None
