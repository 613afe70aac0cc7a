"""Headers for every request: from a table or lines, checked with file and line, and never shown."""

import pytest

from harness.base.errors import SettingsError
from tests.settings.conftest import Place

SECRET = "a-very-secret-value"


def test_a_table_and_lines_give_the_same_headers_with_their_values_masked(place: Place) -> None:
    place.write(user=f'[headers]\nX-Team = "blue"\nX-Gate-Key = "{SECRET}"\n')
    of_file = place.load()
    of_variable = place.load(environ={"HARNESS_HEADERS": f"X-Team: blue\nX-Gate-Key: {SECRET}"})
    assert of_file.settings.headers == of_variable.settings.headers
    assert [str(one) for one in of_file.settings.headers] == ["X-Team: •••", "X-Gate-Key: •••"]
    assert SECRET in [secret.reveal() for secret in of_file.secrets]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f'debug = true\n\n[headers]\n"X Team" = "{SECRET}"\n', ", line 4: 'X Team' is not the name of a header"),
        (f'[headers]\nauthorization = "{SECRET}"\n', ", line 2: authorization cannot be set here"),
        ("[headers]\nX-Team = 7\n", ", line 2: the header X-Team is not a text"),
        (
            f'[headers]\nX-Team = "{SECRET}é"\n',
            ", line 2: the value of X-Team is empty or contains an invalid character",
        ),
        (f'headers = "{SECRET}"\n', ", line 1: headers is not a table"),
    ],
)
def test_a_header_that_cannot_be_sent_is_said_with_its_line(place: Place, text: str, problem: str) -> None:
    place.write(user=text)
    with pytest.raises(SettingsError) as caught:
        place.load()
    assert str(caught.value).startswith(f"{place.user_file}{problem}")
    assert SECRET not in str(caught.value)


def test_a_line_without_a_colon_is_said_and_not_shown(place: Place) -> None:
    with pytest.raises(SettingsError) as caught:
        place.load(environ={"HARNESS_HEADERS": f"X-Team: blue\n{SECRET}"})
    assert "line 2 has no colon" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", ['foundry_resource = "theirs"\n', '[headers]\nX-Team = "blue"\n'])
def test_the_files_of_a_folder_redirect_no_request(place: Place, text: str) -> None:
    place.write(project=text)
    with pytest.raises(SettingsError, match="is refused: a folder that you cloned must not decide about keys"):
        place.load(trust=True)


@pytest.mark.parametrize("line", ['endpoint = "bedrock"', 'region = "us-east-1"', 'vertex_project = "theirs"'])
def test_who_serves_the_model_waits_for_trust_in_a_folder(place: Place, line: str) -> None:
    place.write(project=line)
    name = line.partition(" ")[0]
    assert [claim.name for claim in place.load(trust=None).claims] == [name]
    assert place.load(trust=False).origins[name] == "default"
