"""Which task of an agent an event speaks of. It names the agent, which may have been given a newer task meanwhile."""

from harness.events import AgentCreated, AgentEnd, AgentEnded


class AgentTasks:
    """What agents were asked for and have not ended."""

    def __init__(self) -> None:
        self._tasks: dict[str, list[AgentCreated]] = {}
        """Of each agent, the oldest first."""
        self._begun: set[str] = set()
        """Agents that work on the first of their tasks."""

    def created(self, event: AgentCreated) -> None:
        """An agent was given a task."""
        self._tasks.setdefault(event.agent, []).append(event)

    def begun(self, agent: str) -> None:
        """The turn of an agent has come."""
        if agent in self._tasks:
            self._begun.add(agent)

    def of(self, agent: str) -> AgentCreated | None:
        """What the agent works on, or will when its turn comes; None: nothing that is known."""
        tasks = self._tasks.get(agent)
        return tasks[0] if tasks else None

    def ended(self, event: AgentEnded) -> AgentCreated | None:
        """The task that ended, which is forgotten. One that never began stood behind the one that is worked on, and
        was the oldest of those: newer work had taken its place."""
        tasks = self._tasks.get(event.agent)
        if not tasks:
            return None
        waited = event.end is AgentEnd.NOT_STARTED and event.agent in self._begun and len(tasks) > 1
        task = tasks.pop(1 if waited else 0)
        if not waited:
            self._begun.discard(event.agent)
        if not tasks:
            del self._tasks[event.agent]
        return task

    def clear(self) -> None:
        """Forget all of them."""
        self._tasks.clear()
        self._begun.clear()
