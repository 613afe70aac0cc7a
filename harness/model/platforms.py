"""Endpoints of Bedrock, Vertex and Foundry, from the settings and the environment variables of the SDK.

The variables are read from the environment of the process only, as the SDK does, never from a file of the workspace.
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from harness.model.endpoint import Endpoint, EndpointError, KeyHeader, Platform, address, secret

SECRETS = ("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_FOUNDRY_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Environment variables with secrets of a platform."""
NAMES = {Platform.BEDROCK: "Amazon Bedrock", Platform.VERTEX: "Google Vertex AI", Platform.FOUNDRY: "Microsoft Foundry"}
_PLACE = re.compile(r"[a-z0-9][a-z0-9-]*")
_VERTEX_HOSTS = {
    "global": "aiplatform.googleapis.com",
    "us": "aiplatform.us.rep.googleapis.com",
    "eu": "aiplatform.eu.rep.googleapis.com",
}


def platform_endpoint(
    platform: Platform,
    environ: Mapping[str, str],
    *,
    region: str | None = None,
    project: str | None = None,
    resource: str | None = None,
) -> Endpoint:
    """The endpoint of a platform. `region`, `project` and `resource` take precedence over the variables of the SDK.

    Credentials that are not in a variable are looked up with the platform's own library, which may query the metadata
    service of the machine and take seconds.

    Raises EndpointError for a missing package, region, project, resource or credential, each with what to do.
    """
    match platform:
        case Platform.BEDROCK:
            return _bedrock(environ, region)
        case Platform.VERTEX:
            return _vertex(environ, region, project)
        case Platform.FOUNDRY:
            return _foundry(environ, resource)
        case Platform.ANTHROPIC:
            raise ValueError("Anthropic's own API is not a platform; use `checked`")


def _bedrock(environ: Mapping[str, str], region: str | None) -> Endpoint:
    _require("botocore", "boto3", platform=Platform.BEDROCK)
    region = region or _first(environ, "AWS_REGION", "AWS_DEFAULT_REGION") or _aws("region", environ)
    if region is None:
        raise EndpointError("region", "is not set, and Bedrock needs one", "set it or AWS_REGION, such as eu-west-1")
    token = secret("AWS_BEARER_TOKEN_BEDROCK", _first(environ, "AWS_BEARER_TOKEN_BEDROCK"))
    in_variables = _first(environ, "AWS_ACCESS_KEY_ID") and _first(environ, "AWS_SECRET_ACCESS_KEY")
    if token is None and not in_variables and _aws("credentials", environ) is None:
        raise EndpointError(
            "endpoint",
            "is bedrock, and no AWS credentials were found",
            "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with the aws "
            "program",
        )
    here = _host_part("region", region)
    url = _first(environ, "ANTHROPIC_BEDROCK_BASE_URL") or f"https://bedrock-runtime.{here}.amazonaws.com"
    return Endpoint(address(url), token, None, NAMES[Platform.BEDROCK], Platform.BEDROCK, region=here)


def _vertex(environ: Mapping[str, str], region: str | None, project: str | None) -> Endpoint:
    _require("google.auth", "requests", platform=Platform.VERTEX)
    region = region or _first(environ, "CLOUD_ML_REGION")
    if region is None:
        raise EndpointError("region", "is not set, and Vertex needs one", "set it or CLOUD_ML_REGION, such as global")
    of_credentials = _google_project()
    project = project or _first(environ, "ANTHROPIC_VERTEX_PROJECT_ID") or of_credentials
    if project is None:
        raise EndpointError(
            "vertex_project",
            "is not set, and Vertex needs one",
            "set it or ANTHROPIC_VERTEX_PROJECT_ID",
        )
    here = _host_part("region", region)
    host = _VERTEX_HOSTS.get(here, f"{here}-aiplatform.googleapis.com")
    url = _first(environ, "ANTHROPIC_VERTEX_BASE_URL") or f"https://{host}/v1"
    made = Endpoint(address(url), None, None, NAMES[Platform.VERTEX], Platform.VERTEX, region=here)
    return replace(made, project=_host_part("vertex_project", project))


def _foundry(environ: Mapping[str, str], resource: str | None) -> Endpoint:
    key = secret("ANTHROPIC_FOUNDRY_API_KEY", _first(environ, "ANTHROPIC_FOUNDRY_API_KEY"))
    if key is None:
        raise EndpointError("endpoint", "is foundry, and no key was found", "set ANTHROPIC_FOUNDRY_API_KEY")
    url = None if resource else _first(environ, "ANTHROPIC_FOUNDRY_BASE_URL")
    if url is None:
        resource = resource or _first(environ, "ANTHROPIC_FOUNDRY_RESOURCE")
        if resource is None:
            raise EndpointError(
                "foundry_resource",
                "is not set, and Foundry needs one",
                "set it or ANTHROPIC_FOUNDRY_RESOURCE, such as example in https://example.services.ai.azure.com",
            )
        url = f"https://{_host_part('foundry_resource', resource)}.services.ai.azure.com/anthropic"
    return Endpoint(address(url), key, None, NAMES[Platform.FOUNDRY], Platform.FOUNDRY, key_header=KeyHeader.X_API_KEY)


def _first(environ: Mapping[str, str], *names: str) -> str | None:
    return next((value for name in names if (value := environ.get(name, "").strip())), None)


def _host_part(setting: str, value: str) -> str:
    """A value that becomes part of a host name. Raises EndpointError for one that would change the rest of it."""
    if not _PLACE.fullmatch(value):
        raise EndpointError(setting, f"is {value!r}", "use lower-case letters, digits and hyphens")
    return value


def _require(*packages: str, platform: Platform) -> None:
    for package in packages:
        try:
            there = find_spec(package) is not None
        except ModuleNotFoundError:  # the package around it is missing
            there = False
        if not there:
            raise EndpointError(
                "endpoint",
                f"is {platform}, and the Python package {package} is missing",
                f"install it with `pip install 'anthropic[{platform}]'`",
            )


def _aws(what: str, environ: Mapping[str, str]) -> Any:
    """The region or the credentials that botocore finds; None: none."""
    session_module = importlib.import_module("botocore.session")
    exceptions = importlib.import_module("botocore.exceptions")
    try:
        session = session_module.Session(profile=_first(environ, "AWS_PROFILE"))
        return session.get_config_variable("region") if what == "region" else session.get_credentials()
    except exceptions.BotoCoreError as error:
        raise EndpointError("endpoint", f"is bedrock, and AWS's library says: {error}", "put this right") from error


def _google_project() -> str | None:
    """The project of Google's application default credentials; None where they have none.

    Raises EndpointError when there are no credentials.
    """
    google_auth: Any = importlib.import_module("google.auth")
    exceptions: Any = importlib.import_module("google.auth.exceptions")
    try:
        project: str | None = google_auth.default()[1]
    except (exceptions.GoogleAuthError, OSError, ValueError) as error:
        raise EndpointError(
            "endpoint",
            "is vertex, and no Google credentials were found",
            "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file",
        ) from error
    return project
