"""Our client as the official conformance suite drives it: connect, list, call every tool.

CONTRIBUTING.md says how to run the suite. The browser of a sign-in is played by following the redirect.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult
from mcp.types import ElicitResult

from harness.mcp.config import ServerConfig, parse_entries
from harness.mcp.connection import Callbacks, connected
from harness.mcp.oauth import LoopbackCallback, TokenFile, provider
from harness.processes import Processes

VALUES = {"number": 2, "integer": 2, "boolean": True, "array": [], "object": {}}


async def elicit(server: str, params: Any) -> Any:
    """Accept a form with its defaults."""
    fields = params.requested_schema.get("properties", {}) if params.mode == "form" else {}
    content = {name: field["default"] for name, field in fields.items() if "default" in field}
    return ElicitResult(action="accept", content=content)


def config_of(url: str) -> ServerConfig:
    """The entry that a user would write for a scenario."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    oauth: dict[str, str] = {}
    if "client_id" in context:
        oauth["clientId"] = context["client_id"]
    if "client_secret" in context:
        oauth["clientSecret"] = context["client_secret"]
    if "private_key_pem" in context:
        oauth["privateKey"] = context["private_key_pem"]
        oauth["algorithm"] = context.get("signing_algorithm", "ES256")
    if "client-credentials" in scenario:
        oauth["grantType"] = "client_credentials"
    if "idp_id_token" in context:
        oauth["grantType"] = "identity_assertion"
        oauth["idToken"] = context["idp_id_token"]
        oauth["idpClientId"] = context["idp_client_id"]
        oauth["idpTokenUrl"] = context["idp_token_endpoint"]
        oauth["issuer"] = issuer_of(url)
    if "basic-cimd" in scenario:
        oauth["clientMetadataUrl"] = "https://conformance-test.local/client-metadata.json"
    (config,) = parse_entries({"suite": {"url": url, "oauth": oauth}}, "the suite", own=True).servers
    return config


def issuer_of(url: str) -> str:
    """The authorization server, which a user would know."""
    parts = urlsplit(url)
    address = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    return str(httpx2.get(address).json()["authorization_servers"][0])


async def main(url: str) -> None:
    """Play one scenario."""
    config = config_of(url)
    async with LoopbackCallback() as callback:
        code: list[AuthorizationCodeResult] = []

        async def show(address: str) -> None:
            async with httpx2.AsyncClient() as browser:
                response = await browser.get(address, follow_redirects=False)
            again = LoopbackCallback()
            assert again.give(response.headers["location"])
            code.append(await again.result())

        async def answer() -> AuthorizationCodeResult:
            return code.pop()

        with tempfile.TemporaryDirectory() as state:
            auth = provider(config, TokenFile(config, Path(state)), show, answer, callback.port)
            callbacks = Callbacks(elicit=elicit, roots=tuple, auth=lambda one: auth)
            async with connected(config, Processes(), Path.cwd(), callbacks, connect_s=30.0) as connection:
                tools, _ = await connection.tools()
                for tool in tools:
                    fields = tool.schema.get("properties", {})
                    given = {name: VALUES.get(str(field.get("type")), "x") for name, field in fields.items()}
                    limits: dict[str, Any] = {"idle_s": 30.0, "longest_s": 60.0, "waiting": lambda: False}
                    await connection.call(tool.name, given, **limits, show=lambda *_: None)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
