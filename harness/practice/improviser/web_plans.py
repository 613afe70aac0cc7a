"""Plans that search the web and read its pages."""

from harness.practice.improviser import phrases as say
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import FetchPage, SearchWeb
from harness.practice.improviser.plan_context import Setting, excerpt
from harness.practice.improviser.plan_recovery import Ask, Plan


def search_web(setting: Setting, goal: SearchWeb) -> Plan:
    """Search, read the first page found where there is a tool for that, and say what each page says."""
    call = setting.tools.errand(Errand.SEARCH_WEB, query=goal.query)
    (found,) = yield Ask(setting.say(say.WILL_SEARCH_WEB), (call,))
    if trouble := setting.trouble(found, call):
        return trouble
    pages = [page for text in found.text.split("\n\n") if (page := _page(text))]
    if not pages:
        return setting.say(say.NOTHING_ON_WEB, query=goal.query)
    title, url, said = pages[0]
    if Errand.FETCH_PAGE in setting.tools.errands:
        fetch = setting.tools.errand(Errand.FETCH_PAGE, url=url)
        (read,) = yield Ask(setting.say(say.WILL_FETCH_PAGE, url=url), (fetch,))
        if trouble := setting.trouble(read, fetch):
            return trouble
        title, url, said = _page(read.text) or (title, url, excerpt(read.text))
    pages[0] = (title, url, said)
    lines = [": ".join(part for part in (f"{title} {url}", said) if part) for title, url, said in pages]
    return f"{setting.say(say.WEB_SAYS)}\n\n{setting.bullets(lines)}"


def fetch_page(setting: Setting, goal: FetchPage) -> Plan:
    """Read a page, and say what it says."""
    call = setting.tools.errand(Errand.FETCH_PAGE, url=goal.url)
    (read,) = yield Ask(setting.say(say.WILL_FETCH_PAGE, url=goal.url), (call,))
    if trouble := setting.trouble(read, call):
        return trouble
    _, url, said = _page(read.text) or ("", goal.url, excerpt(read.text))
    return f"{setting.say(say.PAGE_SAYS, url=url)} {said}"


def _page(text: str) -> tuple[str, str, str] | None:
    """Title, address and text of a page in a result; None where it has another form."""
    lines = text.strip().splitlines()
    if len(lines) < 2 or not lines[1].startswith(("http://", "https://")):
        return None
    return lines[0], lines[1], " ".join(lines[2:])
