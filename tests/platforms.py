"""Credentials and addresses for the SDK's clients for Bedrock, Vertex and Foundry and a server on this machine."""

import http.server
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.model.endpoint import Platform

PACKAGES = {Platform.BEDROCK: ("boto3", "botocore"), Platform.VERTEX: ("google", "requests"), Platform.FOUNDRY: ()}
"""What each needs; tests skip without."""
VARIABLES = (
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "CLOUD_ML_REGION"),
    *("ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),
)
MODELS = {
    Platform.BEDROCK: "us.anthropic.{}-20260201-v1:0",
    Platform.VERTEX: "{}@20260201",
    Platform.FOUNDRY: "{}",
}
"""How a model is called there."""
TOKEN = "ya29.a-google-access-token"


def needs(platform: Platform) -> None:
    """Skip a test where the packages of a platform are missing."""
    for package in PACKAGES[platform]:
        if find_spec(package) is None:
            pytest.skip(f"{package} is missing; install `.[{platform}]` to run this")


def without_platforms(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Hide the credentials of this machine."""
    for name in VARIABLES:
        patch.delenv(name, raising=False)
    patch.setenv("HOME", str(folder))
    patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    patch.setenv("NO_GCE_CHECK", "true")


def reach(platform: Platform, base_url: str, google_file: Path | None = None) -> Mapping[str, str]:
    """Variables that make the client of a platform send its requests to `base_url`."""
    match platform:
        case Platform.BEDROCK:
            return {
                "ANTHROPIC_BEDROCK_BASE_URL": base_url,
                "AWS_REGION": "eu-west-1",
                "AWS_ACCESS_KEY_ID": "AKIAPRACTICE1234",
                "AWS_SECRET_ACCESS_KEY": "practice/secret/0123456789abcdef",
            }
        case Platform.VERTEX:
            return {
                "ANTHROPIC_VERTEX_BASE_URL": f"{base_url}/v1",
                "ANTHROPIC_VERTEX_PROJECT_ID": "practice-project",
                "CLOUD_ML_REGION": "global",
                "GOOGLE_APPLICATION_CREDENTIALS": str(google_file),
            }
        case _:
            return {
                "ANTHROPIC_FOUNDRY_BASE_URL": f"{base_url}/anthropic",
                "ANTHROPIC_FOUNDRY_API_KEY": "foundry-key-0123456789",
            }


@contextmanager
def google_credentials(folder: Path) -> Iterator[Path]:
    """The key file of a service account, and the server on this machine that gives tokens for it."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    class Tokens(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = json.dumps({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing goes to stderr."""

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with socketserver.TCPServer(("127.0.0.1", 0), Tokens) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        file = folder / "service-account.json"
        file.write_text(
            json.dumps(
                {
                    "type": "service_account",
                    "project_id": "project-of-the-account",
                    "private_key_id": "1",
                    "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
                    "client_email": "practice@project-of-the-account.iam.gserviceaccount.com",
                    "token_uri": f"http://127.0.0.1:{server.server_address[1]}/token",
                }
            )
        )
        try:
            yield file
        finally:
            server.shutdown()
            thread.join()
