"""Conversations that the API takes or refuses."""

from harness.events import Json
from tests.practice.checks.cases import agrees, each_case


@each_case("messages")
def test_a_request_is_taken_or_refused_in_the_words_of_the_api(case: Json) -> None:
    agrees(case)
