"""No secret gets out: none is committed, and a key that a server says back reaches no output, trace, recording or cache."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from fake_provider import KEY, completion
from standins import CARD, StandInRetriever

from cookbook import paths
from cookbook.errors import CallError
from cookbook.paths import ROOT
from cookbook.providers import LLMClient
from cookbook.show import screen, show
from cookbook.systems.base import Parts
from cookbook.systems.handbook_graph import HandbookGraph

SECRETS = re.compile(
    r"""\b(?: sk-(?:proj-|ant-|or-)?[A-Za-z0-9_-]{20,} | gsk_[A-Za-z0-9]{20,} | hf_[A-Za-z0-9]{30,}
      | gh[pousr]_[A-Za-z0-9]{30,} | AKIA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{35} | xox[abp]-[0-9A-Za-z-]{10,}
      | eyJ[A-Za-z0-9_-]{20,}\.eyJ[A-Za-z0-9_-]{20,} )
      | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----""",
    re.VERBOSE,
)
ALLOWED = {KEY}
"""Made up, so that tests have something to look for."""


def committed() -> list[str]:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
    except FileNotFoundError:
        listed = None
    if listed is None or listed.returncode:
        pytest.skip("not a git clone: there is no list of committed files")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def found_in(text: str) -> list[str]:
    return [match[0] for match in SECRETS.finditer(text) if match[0] not in ALLOWED]


def test_field_case_secrets_no_committed_file_holds_one():
    names = committed()
    assert any(name.startswith("recordings/") for name in names)
    assert any(name.endswith(".ipynb") for name in names)
    leaks = {
        name: found
        for name in names
        if (found := found_in((ROOT / name).read_bytes().decode("utf-8", errors="ignore")))
    }
    assert leaks == {}


@pytest.mark.parametrize(
    "secret",
    ["sk-" + "a1B2" * 8, "sk-ant-" + "x" * 30, "gsk_" + "Z9" * 15, "hf_" + "q" * 34, "AKIA" + "A" * 16, "AIza" + "b" * 35,
     "ghp_" + "0" * 36, "-----BEGIN RSA PRIVATE" + " KEY-----"],
)  # fmt: skip
def test_field_case_secrets_the_scan_sees_every_kind(secret):
    assert found_in(f'{{"Authorization": "Bearer {secret}"}}') == [secret]
    assert found_in("ask-me-anything-about-the-handbook, risk-free") == []


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_field_case_secrets_an_error_that_quotes_the_header_does_not(provider, status):
    provider.replies = [status]  # whose body quotes the header of the request
    with pytest.raises(CallError) as caught:
        LLMClient("openai/m", max_retries=0).chat("Is it?")
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.__cause__)


def test_field_case_secrets_a_key_in_a_reply_is_masked_everywhere(provider, monkeypatch, tmp_path):
    """The worst server: it answers every call with the key that it was sent."""
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setenv("COOKBOOK_RECORD", "leak")
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COOKBOOK_CACHE_LLM", "1")
    said = f"Your key is {KEY} [1]."
    provider.replies = [completion(said, first_token={"search": -0.1})]
    provider.replies += [completion(said, first_token={"Yes": -0.1})] * 2 + [
        completion(said, first_token={"yes": -0.1})
    ]
    answer = HandbookGraph(Parts(LLMClient("openai/gpt-4o-mini"), StandInRetriever(), CARD, 1)).answer(
        "Which key?"
    )
    assert "***" in answer.text
    with (tmp_path / "shown.txt").open("w") as stream:
        show(answer, to=screen(stream))
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"leak.jsonl", "replies.jsonl", "shown.txt"} <= {path.name for path in kept}
    everything = json.dumps(answer.to_dict()) + "".join(path.read_text(errors="ignore") for path in kept)
    assert KEY not in everything
