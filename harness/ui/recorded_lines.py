"""The events of a journal as lines, with what the person at its keyboard knew without being told."""

from harness.events import Event, PermissionAsked, SessionResumed, SessionStarted, TurnEnded, TurnStarted
from harness.ui.line import Line, Tone
from harness.ui.plain import Plain


class RecordedLines(Plain):
    """Writes recorded events; also the prompts, and the questions that were asked."""

    def show(self, event: Event) -> None:
        """Print what the event has to say."""
        match event:
            case SessionStarted():
                self.line(Line("·", f"{event.session_id} begins with {event.model} in {event.workspace}"))
            case SessionResumed():
                self.line(Line("·", f"resumed with {event.model}"))
            case TurnStarted(prompt=prompt) if prompt:
                self.say(f"> {prompt}")
            case PermissionAsked():
                why = f" ({event.why})" if event.why else ""
                who = f"agent {event.agent}" if event.agent else "it"
                self.line(Line("?", f"may {who} run {event.tool} {event.summary}{why}", Tone.TROUBLE))
        super().show(event)
        if isinstance(event, TurnEnded):
            self.say("")
