"""What becomes of each caller of admission, as naive as can be, by the oracle of the controller."""

from harness.policies.admission.controller import AdmissionLimits
from tests.policies.admission.oracle import Oracle


class NaiveAdmission:
    """Callers with numbers from 1, as in `Callers`, on a clock that the test sets."""

    def __init__(self, limits: AdmissionLimits) -> None:
        self.oracle = Oracle(limits)
        self.keys: list[str] = []
        self.fates: list[str] = []
        """Of each caller: waits, runs, done, failed, cancelled, or why he was not admitted."""
        self.caller: list[int] = []
        """Of each work of the oracle."""

    def ask(self, key: str) -> None:
        self.keys.append(key)
        self.fates.append("waits")
        number = len(self.fates)
        if not self.oracle.limits.max_concurrent:
            self.fates[number - 1] = "none_allowed"
        elif not self.oracle.open(key):
            self.fates[number - 1] = "shutting_down" if self.oracle.closed else "not_known"
        else:
            for older in self.who("waits", key)[:-1]:
                self.fates[older - 1] = "replaced"
            self._ask(number)
            self._settle()

    def who(self, fate: str, key: str | None = None) -> list[int]:
        return [
            number
            for number, (asked, one) in enumerate(zip(self.keys, self.fates, strict=True), 1)
            if one == fate and key in (None, asked)
        ]

    def finish(self, number: int, ending: str) -> None:
        self.fates[number - 1] = {"succeeded": "done"}.get(ending, ending)
        self.oracle.finish(self._last_work(number) + 1, ending)
        self._settle()

    def cancel(self, number: int) -> None:
        if self.fates[number - 1] == "runs":
            self.finish(number, "cancelled")
        else:
            self.fates[number - 1] = "cancelled"
            self.oracle.withdraw(self.keys[number - 1])
            self._settle()

    def end(self, key: str) -> None:
        self.oracle.end(key)
        self._settle()

    def configure(self, limits: AdmissionLimits) -> None:
        self.oracle.set(limits)
        for number in self.who("waits"):
            marked = self.keys[number - 1] in self.oracle.marked
            if not limits.max_concurrent or (marked and not limits.max_queue_size):
                self._turn_away(number, "queue_full" if limits.max_concurrent else "none_allowed")
        self._settle()

    def close(self) -> None:
        self.oracle.close()
        self._settle()

    def _settle(self) -> None:
        while True:
            for number in self.who("waits"):
                key, work = self.keys[number - 1], self.oracle.works[self._last_work(number)]
                if work["fate"] == "running":
                    self.fates[number - 1] = "runs"
                elif key not in self.oracle.talks:
                    self._turn_away(number, "shutting_down" if self.oracle.closed else "ended")
                elif work["fate"] == "dropped" and self.oracle.rests(key):
                    self._turn_away(number, "paused")
                elif work["fate"] == "dropped" and not self.oracle.limits.max_queue_size:
                    self._turn_away(number, "queue_full")
            again = self.oracle.again()
            for key in again:
                self._ask(self.who("waits", key)[0])
            if not again:
                return

    def _ask(self, number: int) -> None:
        self.caller.append(number)
        self.oracle.ask(self.keys[number - 1])

    def _last_work(self, number: int) -> int:
        return max(at for at, caller in enumerate(self.caller) if caller == number)

    def _turn_away(self, number: int, why: str) -> None:
        self.fates[number - 1] = why
        self.oracle.withdraw(self.keys[number - 1])
