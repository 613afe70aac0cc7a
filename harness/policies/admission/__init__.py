"""Admission: whether work may start now, waits, is deferred or rejected (docs/design/admission.md).

Read `controller` for the whole; `slot_queue` holds slots and queue, `conversations` the breakers, and which
conversations a scan looks at.
"""
