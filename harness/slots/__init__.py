"""Slots that all sessions of a user share (docs/design/admission.md#shared-slots).

`shared` asks, waits and renews for a session; a store keeps the claims in one file (`sqlite`).
"""
