"""The LiteLLM proxy on loopback, with models that need no network."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.interop.programs import NOWHERE, confined

KEY = "sk-interop-0123456789abcdef0123456789abcdef"
START_S = 90.0
MOCK_REPLY = "This is a mock request"
"""The fixed text of LiteLLM's mock in a stream."""
# `mock_response` is answered without a stream, whatever was asked for. `mock_tool_calls` makes LiteLLM mock the
# completion behind its translation into the Messages API, and that one streams (its text; not the calls).
CONFIG = f"""
model_list:
  - model_name: mock-stream
    litellm_params: {{ model: mistral/mock, api_key: none, api_base: "{NOWHERE}", mock_tool_calls: [{{}}] }}
  - model_name: mock-whole
    litellm_params: {{ model: anthropic/mock, api_key: none, api_base: "{NOWHERE}", mock_response: "Hello." }}
  - model_name: mock-429
    litellm_params:
      model: anthropic/mock
      api_key: none
      api_base: "{NOWHERE}"
      mock_response: litellm.RateLimitError
  - model_name: mock-500
    litellm_params:
      model: anthropic/mock
      api_key: none
      api_base: "{NOWHERE}"
      mock_response: litellm.InternalServerError
  - model_name: mock-too-long
    litellm_params:
      model: anthropic/mock
      api_key: none
      api_base: "{NOWHERE}"
      mock_response: litellm.ContextWindowExceededError
  - model_name: mock-timeout
    litellm_params: {{ model: mistral/mock, api_key: none, api_base: "{NOWHERE}", mock_timeout: true, timeout: 0.1 }}
  - model_name: scripted
    litellm_params: {{ model: scripted/calls-bash-once }}
  - model_name: claude-sonnet-4-6
    litellm_params: {{ model: anthropic/claude-sonnet-4-6, api_key: none, api_base: "http://127.0.0.1:%d" }}
litellm_settings:
  num_retries: 0
  telemetry: false
  disable_hf_tokenizer_download: true
  custom_provider_map: [{{ provider: scripted, custom_handler: scripted_provider.handler }}]
router_settings: {{ num_retries: 0, disable_cooldowns: true }}
"""


@dataclass(frozen=True)
class LiteLLM:
    """A running proxy."""

    base_url: str
    upstream_port: int
    """Where it looks for claude-sonnet-4-6: a test may serve a practice model there."""


@contextmanager
def running(program: str, folder: Path) -> Iterator[LiteLLM]:
    """Start the proxy, wait until it listens, and end it afterwards."""
    port, upstream_port = _free_ports(2)
    (folder / "config.yaml").write_text(CONFIG % upstream_port)
    shutil.copy(Path(__file__).with_name("scripted_provider.py"), folder)
    log = folder / "proxy.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env=confined(folder, LITELLM_MASTER_KEY=KEY, LITELLM_LOCAL_MODEL_COST_MAP="True"),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_it_listens(process, port, log)
        yield LiteLLM(f"http://127.0.0.1:{port}", upstream_port)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    latest = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < latest:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)  # it says when it is ready on a page of log that differs between versions
        else:
            return
    raise RuntimeError(f"the LiteLLM proxy did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
