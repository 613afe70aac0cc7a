"""The events of a journal as lines, with what the person at its keyboard knew without being told."""

from harness.events import (
    Event,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
    SessionResumed,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from harness.ui.lines.line import Line, Tone
from harness.ui.plain.plain import Plain


def answered(event: QuestionAnswered) -> str:
    """The end of a question in one line."""
    if event.how == "declined":
        return "declined" if event.by == "user" else "not answered: no user is present"
    return f"answered{'' if event.by == 'user' else ' by the settings'}: {event.answer}"


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
            case QuestionAsked():
                labels = " | ".join(option.label for option in event.options)
                self.line(Line("?", f"{event.question}{f' [{labels}]' if labels else ''}", Tone.TROUBLE))
            case QuestionAnswered():
                self.line(Line("?", answered(event)))
        super().show(event)
        if isinstance(event, TurnEnded):
            self.say("")
