"""The pointer task, its model, how it trains, and what its heads come to do."""

import pytest
import torch

from helpers import training
from helpers.attention import ImpossibleHeadsError
from helpers.training import (
    PointerModel,
    Run,
    band,
    pointer_batch,
    pointer_shares,
    share_right,
    shares_right,
    test_batch,
    train,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def two_heads():
    return Run(num_heads=2, seed=0).finish()


# The task -------------------------------------------------------------------------------


@pytest.mark.parametrize("pointers", [1, 2, 3])
def test_answers_are_the_values_pointed_at_in_order(pointers):
    values, chosen, answers = pointer_batch(300, generator(), pointers)
    assert values.shape == (300, 12) and chosen.shape == answers.shape == (300, pointers)
    for row in range(300):
        assert answers[row].tolist() == [values[row, place].item() for place in chosen[row]]
        assert len(set(chosen[row].tolist())) == pointers
    assert set(values.unique().tolist()) == set(range(10))
    assert all(set(chosen[:, i].tolist()) == set(range(12)) for i in range(pointers))


def test_a_batch_comes_from_its_generator_alone():
    before = torch.get_rng_state()
    first, again, other = (pointer_batch(8, generator(seed)) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.values, other.values)
    PointerModel(2)
    Run(num_heads=2, steps=10).finish()
    assert torch.equal(torch.get_rng_state(), before)


# The model ------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [1, 2, 4, 64])
def test_the_parameters_are_20628_whatever_the_heads(heads):
    assert Run(num_heads=heads).parameters == 20_628
    assert Run(num_heads=heads, d_model=128).parameters == 74_004


def test_an_impossible_number_of_heads_is_said():
    with pytest.raises(ImpossibleHeadsError, match="3"):
        PointerModel(3, d_model=64)


def test_the_answer_token_is_last_and_holds_both_pointers_in_order():
    model = PointerModel(2, seed=3)
    values, pointers, _ = pointer_batch(5, generator())
    X = model.embed(values, pointers)
    assert X.shape == (5, 13, 64)
    for b in range(5):
        wanted = model.pointer[0, pointers[b, 0]] + model.pointer[1, pointers[b, 1]]
        torch.testing.assert_close(X[b, -1], wanted)
        torch.testing.assert_close(X[b, 4], model.value[values[b, 4]] + model.position[4])
    assert not torch.allclose(X[:, -1], model.embed(values, pointers.flip(-1))[:, -1])
    trace = model.trace(values, pointers)
    scores = model(values, pointers)
    assert scores.shape == (5, 2, 10)
    by_hand = (trace.output[:, -1] @ model.readout.weight.T + model.readout.bias).view(5, 2, 10)
    torch.testing.assert_close(scores, by_hand)
    assert torch.equal(model.answer(values, pointers), scores.argmax(-1))


# Training -------------------------------------------------------------------------------


def test_progress_comes_every_twenty_steps_and_the_last_may_be_shorter():
    model = PointerModel(2)
    told = list(train(model, steps=45))
    assert [(p.step, p.steps) for p in told] == [(0, 45), (20, 45), (40, 45), (45, 45)]
    assert told[-1].right == share_right(model, test_batch())


def test_a_run_is_the_same_twice_and_depends_on_its_seed():
    first, again, other = (Run(2, seed=seed, steps=30).finish() for seed in (1, 1, 2))
    assert first.curve == again.curve
    for a, b in zip(first.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.model.value, other.model.value)


def test_a_run_goes_on_where_it_was_left_also_between_others():
    whole = Run(2, seed=1, steps=60).finish()
    pieces, other = Run(2, seed=1, steps=60), Run(1, seed=5, steps=60)
    assert not pieces.done and pieces.right == 0.0
    while pieces.advance():
        other.advance()
        torch.rand(3)
    assert pieces.curve == whole.curve and pieces.done
    assert pieces.advance() is False and len(pieces.curve) == 4


@pytest.mark.parametrize("broken", [KeyboardInterrupt, RuntimeError])
def test_a_run_broken_off_in_a_step_starts_again_from_nothing(broken, monkeypatch):
    whole = Run(2, steps=40).finish()
    run = Run(2, steps=40)
    run.advance(), run.advance()

    def stop(*args, **kwargs):
        raise broken

    with monkeypatch.context() as patch:
        patch.setattr(training.F, "cross_entropy", stop)
        with pytest.raises(broken):
            run.advance()
    assert run.curve == [] and not run.done
    assert run.finish().curve == whole.curve


def test_training_leaves_the_number_of_threads_and_gradient_mode_alone():
    threads = torch.get_num_threads()
    with torch.no_grad():
        run = Run(2, steps=10).finish()
        assert not torch.is_grad_enabled()
    assert torch.get_num_threads() == threads
    assert not torch.equal(run.model.value, PointerModel(2).value)


def test_a_task_of_the_readers_own_is_what_is_trained_and_tested():
    def always_three(size, generator):
        values, pointers, answers = pointer_batch(size, generator, 2)
        return values, pointers, torch.full_like(answers, 3)

    assert Run(1, steps=30, make_batch=always_three).finish().right == 1.0


# What the lesson claims -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))  # the lesson's table has all five
def test_one_head_fails_and_two_succeed_at_equal_size(seed):
    one, two = (Run(heads, seed=seed).finish() for heads in (1, 2))
    assert one.parameters == two.parameters
    assert 0.05 < one.right < 0.3
    assert two.right > 0.995
    assert [share for step, share in two.curve if step >= 160] == pytest.approx([1] * 3, abs=0.01)


def test_one_head_twice_as_wide_fails_too():
    assert Run(1, d_model=128, seed=3).finish().right < 0.3


def test_a_readout_that_is_not_linear_takes_one_mixture_apart():
    run = Run(1, hidden=256, steps=300).finish()
    assert run.parameters == 41_108 and run.right > 0.5


def test_three_pointers_want_three_heads():
    two, three = (Run(heads, d_model=60, pointers=3).finish() for heads in (2, 3))
    assert two.right < 0.8 and three.right > 0.99


def test_each_head_fetches_one_value_and_its_gate_removes_that_one(two_heads):
    model, batch = two_heads.model, test_batch()
    shares = pointer_shares(model.trace(batch.values, batch.pointers).weights, batch.pointers)
    first = int(shares[:, 0].argmax())
    assert shares[first, 0] > 0.8 and shares[1 - first, 1] > 0.8
    assert shares[first, 1] < 0.1 and shares[1 - first, 0] < 0.1
    for head, lost in ((first, 0), (1 - first, 1)):
        gates = torch.ones(2)
        gates[head] = 0.0
        right = shares_right(model, batch, gates)
        assert right[lost] < 0.25 and right[1 - lost] > 0.95
        assert share_right(model, batch, gates) < 0.25


# The measures ---------------------------------------------------------------------------


def test_pointer_shares_of_planted_heads():
    weights = torch.zeros(2, 2, 4, 4)
    weights[:, :, :3] = 0.25  # other rows than the answer's must not matter
    weights[0, 0, 3], weights[1, 0, 3] = torch.tensor([[0.6, 0.1, 0.3, 0.0], [0.2, 0.8, 0.0, 0.0]])
    weights[0, 1, 3], weights[1, 1, 3] = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    pointers = torch.tensor([[0, 2], [1, 0]])
    shares = pointer_shares(weights, pointers)
    torch.testing.assert_close(shares, torch.tensor([[0.7, 0.25], [0.0, 0.5]]))


def test_right_means_every_answer_right(monkeypatch):
    model = PointerModel(2)
    said = torch.tensor([[1, 2], [1, 5], [4, 4], [1, 2]])
    monkeypatch.setattr(model, "answer", lambda *args: said)
    batch = training.pointer_batch(4, torch.Generator())
    batch = batch._replace(answers=torch.tensor([[1, 2]] * 4))
    assert share_right(model, batch) == 0.5
    assert shares_right(model, batch).tolist() == [0.75, 0.5]


def test_bands_are_the_same_for_near_numbers():
    assert [band(x) for x in (0.0, 0.399, 0.4, 0.99, 0.991, 1.0)] == [
        "< 0.4", "< 0.4", "0.4 – 0.99", "0.4 – 0.99", "> 0.99", "> 0.99",
    ]  # fmt: skip
