"""The fault table once more, in the dialects of Bedrock, Vertex and Foundry: the rows hold their bars.

Every third row; all of them with HARNESS_TEST_WHOLE=1."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from chapters.course.exam.rows import ROWS, FaultRow
from harness.model.endpoint import Platform
from tests.agent.stage import MODEL
from tests.agent.test_fault_rows import play
from tests.platforms import MODELS, google_credentials, needs, reach, without_platforms
from tests.whole import stride

pytestmark = pytest.mark.anyio
SOME = ROWS[:: stride(3)]
PLATFORMS = (Platform.BEDROCK, Platform.VERTEX, Platform.FOUNDRY)


@pytest.fixture(scope="module")
def google_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Credentials of Google that this machine gives tokens for."""
    needs(Platform.VERTEX)
    with google_credentials(tmp_path_factory.mktemp("google")) as file:
        yield file


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("row", SOME, ids=[row.name for row in SOME])
async def test_a_row_of_the_fault_table_holds_its_bar(
    row: FaultRow,
    platform: Platform,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    needs(platform)
    without_platforms(monkeypatch, tmp_path)
    file = request.getfixturevalue("google_file") if platform is Platform.VERTEX else None

    def reached(base_url: str) -> Mapping[str, object]:
        for name, value in reach(platform, base_url, file).items():
            monkeypatch.setenv(name, value)
        return {}

    model = MODELS[platform].format(MODEL)
    await play(row, tmp_path, endpoint=platform.value, model=model, reached=reached)
