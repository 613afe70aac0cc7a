"""An image from the clipboard, by programs that behave as those of the systems do."""

import os
from pathlib import Path

import pytest

from harness.ui.app.clipboard_image import ClipboardError, clipboard_image
from tests.media.files import png

pytestmark = pytest.mark.anyio

PNG = png(8, 8)


def programs(folder: Path, **scripts: str) -> dict[str, str]:
    """An environment with these programs first in PATH."""
    for name, script in scripts.items():
        file = folder / name.replace("_", "-")
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    (folder / "image.png").write_bytes(PNG)
    return {"PATH": f"{folder}:/usr/bin:/bin", "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}


async def test_wayland_is_asked_first(tmp_path: Path) -> None:
    script = f"[ \"$*\" = '--no-newline --type image/png' ] && cat {tmp_path}/image.png"
    assert await clipboard_image(programs(tmp_path, wl_paste=script, xclip="exit 1"), "linux") == PNG


async def test_the_next_program_is_asked_where_one_fails(tmp_path: Path) -> None:
    script = f"[ \"$*\" = '-selection clipboard -target image/png -out' ] && cat {tmp_path}/image.png"
    assert await clipboard_image(programs(tmp_path, wl_paste="exit 1", xclip=script), "linux") == PNG


async def test_a_mac_without_pngpaste_says_it_in_hexadecimal_digits(tmp_path: Path) -> None:
    environment = programs(tmp_path, osascript=f"echo '«data PNGf{PNG.hex().upper()}»'")
    assert await clipboard_image(environment, "darwin") == PNG


@pytest.mark.parametrize("script", ["echo text", "exit 1", f"cat {os.devnull}"])
async def test_a_clipboard_without_an_image_is_reported(tmp_path: Path, script: str) -> None:
    environment = programs(tmp_path, wl_paste=script, xclip=script)
    with pytest.raises(ClipboardError, match="The clipboard contains no image"):
        await clipboard_image(environment, "linux")


async def test_a_system_without_such_programs_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ClipboardError, match="install wl-clipboard, xclip or pngpaste"):
        await clipboard_image({"PATH": str(tmp_path), "DISPLAY": ":0"}, "linux")
