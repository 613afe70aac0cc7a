"""Editors that drive sessions over the Agent Client Protocol, version 1 (https://agentclientprotocol.com)."""
