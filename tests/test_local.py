"""Live: SmolLM2-135M in this process, and the same model behind an OpenAI-style server on loopback."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from cookbook import paths
from cookbook.errors import ContextOverflow, ProviderUnavailable, WeightsError
from cookbook.providers import LLMClient, local, recording
from cookbook.providers.meter import Meter, metered
from cookbook.providers.models import weights_path

pytestmark = pytest.mark.live

MODEL = "local/smollm2-135m"
PROMPT = [{"role": "user", "content": "Is grass green? Answer yes or no."}]
YES_NO = {"relevant": ["yes"], "irrelevant": ["no"]}


class Grade(BaseModel):
    reason: str = Field(max_length=60)
    verdict: Literal["yes", "no"]


class Loose(BaseModel):
    reason: str
    tags: list[str]


def grade(n: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"Passage {n}: grass is green. Grade it as JSON, reason first."}]


def test_a_call_is_metered_and_free():
    with metered(Meter()) as meter:
        reply = LLMClient(MODEL).complete(PROMPT, max_tokens=12)
    assert reply.text
    assert reply.prompt_tokens > 20
    assert (meter.calls, meter.cost) == (1, 0.0)
    assert meter.seconds == reply.seconds > 0
    assert LLMClient(MODEL).describe() == "model local/smollm2-135m (weights b179c952…)"


def test_the_same_call_gives_the_same_reply_whatever_ran_before():
    client = LLMClient(MODEL)
    first = client.decide(PROMPT, YES_NO)
    assert client.decide(PROMPT, YES_NO) == first  # with the whole prompt in a cache, it would differ
    client.complete(grade(1), max_tokens=50)
    client.decide([*PROMPT, {"role": "assistant", "content": "Yes."}, *PROMPT], YES_NO)
    assert client.decide(PROMPT, YES_NO) == first
    assert 0 < first.mass <= 1


def test_structured_replies_always_fit_and_always_end():
    client = LLMClient(MODEL)
    for n in range(8):
        client.ask(grade(n), Grade, max_tokens=120)  # raises if it does not fit, or was cut off
    loose = client.complete(grade(0), max_tokens=400, schema=Loose.model_json_schema())
    assert "\n" not in loose.text


def test_threads_wait_for_each_other_and_keep_their_order():
    client = LLMClient(MODEL)
    alone = [client.complete(grade(n), max_tokens=8).text for n in range(6)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda n: client.complete(grade(n), max_tokens=8).text, range(6)))
    assert together == alone


def test_the_window_is_checked_with_exact_numbers():
    client = LLMClient(MODEL)
    prompt = client.complete(PROMPT, max_tokens=1).prompt_tokens
    room = 4096 - prompt
    with pytest.raises(
        ContextOverflow, match=f"a prompt of {prompt} tokens and max_tokens={room + 1} .* by 1;"
    ):
        client.complete(PROMPT, max_tokens=room + 1)


def test_generation_stops_at_the_timeout_and_the_model_is_free_again():
    with pytest.raises(ProviderUnavailable, match="1 s"):
        LLMClient(MODEL, timeout=1).chat("Write a very long story.", max_tokens=3000)
    assert LLMClient(MODEL).complete(PROMPT, max_tokens=3).text


def test_a_recorded_decision_replays_exactly(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    monkeypatch.setenv("COOKBOOK_RECORD", "live")
    live = LLMClient(MODEL).decide(PROMPT, YES_NO)
    monkeypatch.delenv("COOKBOOK_RECORD")
    assert LLMClient(f"replay/{MODEL}").decide(PROMPT, YES_NO) == live
    (entry,) = map(json.loads, (tmp_path / "live.jsonl").read_text().splitlines())
    assert entry["weights"].startswith("b179c952")
    assert entry["engine"].startswith("xllamacpp 20")
    assert recording.verify(1).agreed == 1


def test_nothing_is_printed():
    code = f"from cookbook.providers import LLMClient; LLMClient({MODEL!r}).complete([{{'role': 'user', 'content': 'hi'}}], max_tokens=5)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---------------------------------------------------------------- the same model, hosted

SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.verbosity = sys.argv[1], 2048, 1, -1
params.api_keys = ["dummy-key"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until the test closes it
"""


@pytest.fixture(scope="module")
def address():
    """An OpenAI-compatible llama.cpp server in a process of its own."""
    command = [sys.executable, "-c", SERVER, str(weights_path("smollm2-135m"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def test_a_local_server_works_like_any_hosted_provider(address, monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", f"{address}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "dummy-key")
    client = LLMClient("openai/smollm2")
    with metered(Meter()) as meter:
        assert client.chat("Say hello.", max_tokens=300)
        served = client.decide(PROMPT, YES_NO)
        assert client.ask(grade(1), Grade, max_tokens=200).verdict in ("yes", "no")
    assert (meter.calls, meter.cost) == (3, None)
    assert served.label == LLMClient(MODEL).decide(PROMPT, YES_NO).label
    assert served.mass > 0
    monkeypatch.setenv("OPENAI_API_KEY", "a-wrong-key")
    with pytest.raises(ProviderUnavailable, match="refused the key"):
        client.chat("Say hello.")


def test_weights_of_the_wrong_bytes_name_the_way_out(tmp_path, monkeypatch):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(bytes(4096))
    monkeypatch.setattr(local, "weights_path", lambda name: broken)
    with pytest.raises(WeightsError, match=r"^the weights of smollm2-135m cannot be loaded; run: .*$"):
        local.Engine("smollm2-135m")
