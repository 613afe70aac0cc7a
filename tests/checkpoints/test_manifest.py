"""The manifest of a checkpoint: what it leaves out, its lines and its id."""

from pathlib import Path

import pytest

from harness.checkpoints.manifest import (
    IGNORED,
    CheckpointError,
    Manifest,
    ManifestEntry,
    read_manifest,
    write_manifest,
)

KEPT = {"a": ManifestEntry("file", 0o644, 1, "0" * 64)}


def test_the_lines_begin_with_the_limit_and_end_with_what_is_ignored() -> None:
    left_out = {f"big{number}": "too big" for number in range(20)} | {f"log{number}": IGNORED for number in range(7)}
    lines = Manifest(KEPT, left_out, beyond="m").left_out_lines(most=5)
    assert lines == (
        "m and all after it, by name: the workspace holds more than is kept",
        "big0: too big",
        "big1: too big",
        "18 more that could not be kept",
        "ignored by git: log0, log1, log2, log3, log4 and 2 more",
    )


def test_what_may_have_existed_is_never_taken_for_new() -> None:
    manifest = Manifest(KEPT, {"d/": IGNORED, "big": "too big"}, beyond="m", absent=frozenset({"d/gone"}))
    left_out = [path for path in ("a", "d/x", "d/e/y", "d/gone", "big", "l", "m", "n") if manifest.leaves_out(path)]
    assert left_out == ["d/x", "d/e/y", "big", "m", "n"]


def test_a_manifest_is_read_as_it_was_written_and_has_one_id(tmp_path: Path) -> None:
    manifest = Manifest(KEPT, {"d/": IGNORED}, "m", frozenset({"d/gone"}))
    id = write_manifest(manifest, tmp_path)
    assert (read_manifest(id, tmp_path), write_manifest(manifest, tmp_path)) == (manifest, id)
    assert Manifest(KEPT, {"d/": IGNORED}).id() != id
    (tmp_path / f"{id}.json").write_text("{}")
    with pytest.raises(CheckpointError, match=f"The checkpoint {id} cannot be read"):
        read_manifest(id, tmp_path)
    write_manifest(manifest, tmp_path)
    assert read_manifest(id, tmp_path) == manifest, "the same state is kept again"
