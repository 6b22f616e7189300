"""A hosted provider on loopback that speaks OpenAI's protocol and misbehaves on request."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

KEY = "sk-a-secret-nobody-may-see"


def completion(
    text: str, finish_reason: str = "stop", first_token: dict[str, float] | None = None
) -> dict[str, Any]:
    """The body of a chat reply; ``first_token`` maps alternatives to log-probabilities."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish_reason,
    }
    if first_token:
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in first_token.items()]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


class FakeProvider(ThreadingHTTPServer):
    """Answers with ``replies`` in turn, the last one for ever.

    A reply is a body (dict), raw text, an HTTP status (int), ``"hang"``, ``"drip"`` or ``"half"``.
    ``requests`` keeps the bodies that came in.
    """

    daemon_threads = False  # closing the server waits for its threads

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[Any] = [completion("hello")]
        self.requests: list[dict[str, Any]] = []
        self.closing = Event()


class _Handler(BaseHTTPRequestHandler):
    server: FakeProvider

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        replies = self.server.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        try:
            self._answer(reply)
        except ConnectionError:  # the client stopped waiting
            self.close_connection = True

    def _answer(self, reply: Any) -> None:
        if reply == "hang":
            self.server.closing.wait(2)
        elif reply == "drip":  # a byte now and then keeps a socket's own timeout from firing
            self._send(200, b"", length=1000)
            for _ in range(20):
                self.wfile.write(b" ")
                if self.server.closing.wait(0.1):
                    break
        elif reply == "half":
            data = json.dumps(completion("hello")).encode()
            self._send(200, data[:40], length=len(data))
            self.close_connection = True
        elif isinstance(reply, int):
            message = f"no, and your header was {self.headers['Authorization']}"
            self._send(reply, json.dumps({"error": {"message": message}}).encode())
        else:
            self._send(200, (reply if isinstance(reply, str) else json.dumps(reply)).encode())

    def _send(self, status: int, data: bytes, *, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    """The provider behind ``openai/<anything>`` for the time of a test."""
    server = FakeProvider()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("cookbook.providers.client.PAUSE", 0.01)
    monkeypatch.setattr("cookbook.providers.client._without_logprobs", set())
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
