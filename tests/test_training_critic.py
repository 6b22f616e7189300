"""The training loop on a random network of a few hundred weights: it learns, stops, goes on, and ends the same."""

from __future__ import annotations

import numpy as np
import pytest
from test_critic import PIECES, SIZES

from cookbook.errors import ConfigError
from cookbook.reflect.critic.network import build_network, build_tokenizer
from cookbook.training.critic import Schedule, batches, examples, loss_of, train
from cookbook.training.critic_scores import fit_temperature, store_critic
from cookbook.training.pair import Pair

PAIRS = [
    Pair("relevance", "who owns it", "the owner owns it", "relevant", "made up", "a"),
    Pair("relevance", "who owns it", "a guest", "irrelevant", "made up", "b"),
    Pair("support", "the owner owns it", "the owner owns it", "supported", "made up", "c"),
    Pair("support", "the owner owns it", "a guest owns it", "contradicted", "made up", "d"),
    Pair("support", "the owner owns it", "a guest", "not_stated", "made up", "e"),
    Pair("support", "a guest owns it", "the owner owns it", "unsupported", "made up", "f"),
] * 4
SCHEDULE = Schedule(epochs=12, tokens=64, rate=2e-2, head_rate=2e-2, checkpoint_every=5)


def network():
    import torch

    torch.manual_seed(0)
    return build_network(SIZES)


@pytest.fixture(scope="module")
def encoded():
    return examples(PAIRS, build_tokenizer(PIECES))


def test_a_batch_holds_no_more_than_it_may_and_nothing_is_lost(encoded):
    from random import Random

    made = batches(encoded, 64, Random(0))
    assert sum(len(batch) for batch in made) == len(encoded)
    assert all(max(len(e.encoding.ids) for e in batch) * len(batch) <= 64 for batch in made)
    assert made != batches(encoded, 64, Random(1))


def test_an_open_label_allows_either_outcome(encoded):
    import torch

    critic = network().eval()
    one = {pair.label: example for pair, example in zip(PAIRS, encoded, strict=True)}
    with torch.no_grad():
        open_label = loss_of(critic, [one["unsupported"]]).exp().reciprocal()
        example = one["unsupported"]
        shares = [
            loss_of(critic, [type(example)(example.task, example.encoding, (n,))]).exp().reciprocal()
            for n in (1, 2)
        ]
    assert float(open_label) == pytest.approx(float(sum(shares)), abs=1e-5)


def test_it_learns(encoded, tmp_path):
    run = train(network(), encoded, SCHEDULE, tmp_path / "c.pt")
    assert run.step == run.steps
    assert run.losses[-1]["loss"] < 0.7 * run.losses[0]["loss"]


def test_a_run_that_was_stopped_ends_like_one_that_was_not(encoded, tmp_path):
    whole, broken = network(), network()
    expected = train(whole, encoded, SCHEDULE, tmp_path / "whole.pt")
    train(broken, encoded, SCHEDULE, tmp_path / "broken.pt", stop_after=7)
    fresh = network()  # a new process knows nothing but the file
    again = train(fresh, encoded, SCHEDULE, tmp_path / "broken.pt")
    assert (again.step, again.losses[-1]) == (expected.step, expected.losses[-1])
    for name, weight in fresh.state_dict().items():
        assert np.allclose(weight, whole.state_dict()[name], atol=1e-6), name


def test_a_checkpoint_of_another_schedule_is_refused(encoded, tmp_path):
    train(network(), encoded, SCHEDULE, tmp_path / "c.pt", stop_after=1)
    with pytest.raises(ConfigError, match="another schedule"):
        train(network(), encoded, Schedule(), tmp_path / "c.pt")


def test_the_temperature_undoes_a_scale():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, 3)) * 2
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = [[int(rng.choice(3, p=row))] for row in shares]
    assert fit_temperature((logits * 3).astype(np.float32), labels) == pytest.approx(3.0, rel=0.08)


def test_what_is_stored_can_be_loaded(encoded, tmp_path):
    from cookbook.reflect.critic import load_critic

    net, tokenizer = network(), build_tokenizer(PIECES)
    run = train(net, encoded, SCHEDULE, tmp_path / "c.pt")
    card = store_critic(net, tokenizer, SCHEDULE, run, PAIRS, PAIRS, tmp_path)
    critic = load_critic.__wrapped__(tmp_path)
    assert critic.temperatures == card["temperatures"]
    assert np.allclose(critic.scores([("who", "a guest")]), _scores(net, tokenizer, critic), atol=1e-4)


def _scores(net, tokenizer, critic):
    from cookbook.reflect.critic import Critic

    return Critic(net, tokenizer, critic.temperatures).scores([("who", "a guest")])
