"""The pages in a real browser: steps, links to a step, JavaScript off, and a narrow screen."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chapters.course import lesson
from chapters.course.site.writer import write_site
from tests.ui.web.chromium import PROGRAM, Chromium, Tab, chromium

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.stories,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]
SHOWN = "[...document.querySelectorAll('.step')].filter(step => step.offsetHeight).map(step => step.id).join()"
PALE = """(() => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => {
        const [r, g, b] = numbers(colour).map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = element => {
        const colour = getComputedStyle(element).backgroundColor;
        return numbers(colour)[3] === 0 ? ground(element.parentElement) : colour;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const pale = new Set();
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || element.closest('script, style, :disabled')) continue;
        const [one, other] = [getComputedStyle(element).color, ground(element)].map(light).sort((a, b) => b - a);
        if ((one + 0.05) / (other + 0.05) < 4.5) pale.add(element.className || element.tagName);
    }
    return [...pale].join();
})()"""
"""Elements with a contrast below 4.5 : 1."""


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Chromium]:
    async with chromium(tmp_path / "profile") as one:
        yield one


async def key(tab: Tab, name: str) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        await tab.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=39)


async def test_pages_are_stepped_linked_readable_and_complete_without_a_script(
    browser: Chromium, tmp_path: Path
) -> None:
    chapter = lesson("s11")
    await write_site(tmp_path / "site", (chapter,))
    page = (tmp_path / "site" / "en" / "s11.html").as_uri()
    tab = await browser.tab()

    await tab.go(f"{page}#step-7")
    assert await tab.evaluate(SHOWN) == "step-7"
    await key(tab, "ArrowRight")
    assert await tab.evaluate(SHOWN) == "step-8"
    assert await tab.evaluate("location.hash") == "#step-8"
    await tab.evaluate("document.querySelector('.previous').click()")
    assert await tab.evaluate(SHOWN) == "step-7"
    slide = "(s => { s.value = 2; s.dispatchEvent(new Event('input')) })(document.querySelector('[type=range]'))"
    await tab.evaluate(slide)
    assert await tab.evaluate(SHOWN) == "step-2"
    await tab.evaluate("document.querySelector('a.language').click()")
    await tab.until("document.documentElement.lang === 'ja' && document.readyState === 'complete'")
    assert await tab.evaluate(SHOWN) == "step-2"
    await tab.evaluate("document.querySelector('.all').click()")
    assert await tab.evaluate(f"{SHOWN}.split(',').length") == len(chapter.steps)

    for scheme in ("light", "dark"):
        await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        assert await tab.evaluate(PALE) == ""
    await tab.resize(390, 800)
    assert await tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.complaints == []

    await tab.call("Emulation.setScriptExecutionDisabled", value=True)
    await tab.go(page)
    assert await tab.evaluate(f"{SHOWN}.split(',').length") == len(chapter.steps)
    assert await tab.evaluate("document.querySelector('.bar').offsetHeight") == 0
