"""Bytes on the socket: connections, requests, and replies as events or JSON bodies."""
