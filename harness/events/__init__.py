"""Every fact that the program reports: one small typed class each.

The journal stores these events; the front ends, the panel and lessons are folds over them. An event is frozen and holds
plain values, so that `encode` and `decode` are exact inverses. Content blocks stay the JSON objects of the Messages
API, with key order and unknown fields, because the API may reject a changed block.
"""

from harness.events import (
    admission,
    background,
    breakers,
    catalogue,
    codec,
    hooks,
    loops,
    mcp,
    messages,
    plan_script,
    questions,
    sandbox,
    schedule,
    steering,
    tasks,
    team,
    tool_calls,
    worktrees,
)
from harness.events.admission import *  # noqa: F403
from harness.events.background import *  # noqa: F403
from harness.events.breakers import *  # noqa: F403
from harness.events.catalogue import *  # noqa: F403
from harness.events.codec import *  # noqa: F403
from harness.events.hooks import *  # noqa: F403
from harness.events.loops import *  # noqa: F403
from harness.events.mcp import *  # noqa: F403
from harness.events.messages import *  # noqa: F403
from harness.events.plan_script import *  # noqa: F403
from harness.events.questions import *  # noqa: F403
from harness.events.sandbox import *  # noqa: F403
from harness.events.schedule import *  # noqa: F403
from harness.events.steering import *  # noqa: F403
from harness.events.tasks import *  # noqa: F403
from harness.events.team import *  # noqa: F403
from harness.events.tool_calls import *  # noqa: F403
from harness.events.worktrees import *  # noqa: F403

__all__: list[str] = []
__all__ += admission.__all__
__all__ += background.__all__
__all__ += breakers.__all__
__all__ += catalogue.__all__
__all__ += codec.__all__
__all__ += hooks.__all__
__all__ += loops.__all__
__all__ += mcp.__all__
__all__ += messages.__all__
__all__ += plan_script.__all__
__all__ += questions.__all__
__all__ += sandbox.__all__
__all__ += schedule.__all__
__all__ += steering.__all__
__all__ += tasks.__all__
__all__ += team.__all__
__all__ += tool_calls.__all__
__all__ += worktrees.__all__
