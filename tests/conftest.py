"""What every test runs under: no provider chosen, no network, nothing of the user's cache."""

import os

import pytest

# Read when these libraries are imported, so they are set before any test module imports them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["MPLBACKEND"] = "Agg"

pytest_plugins = ["fake_provider"]

SETTINGS = (
    "PROVIDER",
    "COOKBOOK_RECORD",
    "COOKBOOK_RECORD_EMBEDDINGS",
    "COOKBOOK_CACHE_LLM",
    "COOKBOOK_CONTEXT_WINDOW",
    "COOKBOOK_LOCAL_CTX",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)
SERVER = ("QDRANT_URL", "QDRANT_API_KEY")


@pytest.fixture(autouse=True)
def plain_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Settings of the shell do not reach a test; live tests keep the cache with the weights, and the server."""
    live = request.node.get_closest_marker("live") is not None
    for name in SETTINGS if live else (*SETTINGS, *SERVER):
        monkeypatch.delenv(name, raising=False)
    if not live:
        monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
