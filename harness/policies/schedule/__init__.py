"""The schedule, pure: which job fires now, what becomes of missed times, and when a job is paused or over.

The caller computes the times of a job (`harness.schedule.recurrence`), asks `look`, carries out what it says and
reports back with `ended`. Nothing here knows a clock or a calendar. See docs/design/schedule.md.
"""
