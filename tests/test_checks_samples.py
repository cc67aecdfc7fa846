"""The check machinery on what later lessons ask for: moving axes, refusing, a whole class.

The exercises here are small ones of the tests' own ("99.…"); the lessons declare theirs in
helpers/checks/lessonNN.py, with fuller catalogues.
"""

import math
import re

import pytest
import torch
import torch.nn.functional as F
from check_probe import NotAModule
from torch import nn

from helpers import attention, texts
from helpers.attention import MultiHeadAttention
from helpers.checks import base, check
from helpers.checks.base import Exercise, Probe, random_tensors
from helpers.checks.case import Finding
from helpers.checks.modules import run_module
from helpers.checks.result import result_of

WORDS = {
    name: {"wanted": "What {call} gives.", "passed": "Right: {name}."}
    for name in (
        "split_heads",
        "merge_heads",
        "head_size",
        "shape_after",
        "tenfold",
        "MultiHeadAttention",
    )
}
KINDS = (
    "tokens_mixed",
    "viewed_straight",
    "no_output_projection",
    "heads_see_slices",
    "scaled",
    "two_added",
    "doubled",
    "squared",
)
WORDS["kinds"] = {
    kind: {"title": kind, "expected": "That.", "got": "This.", "look": "There."} for kind in KINDS
}


def counted(*shape):
    return torch.arange(math.prod(shape), dtype=torch.float32).view(shape)


def split_exercise():
    def probe(B, T, H, d_k, condition=""):
        inputs = {"x": counted(B, T, H * d_k), "num_heads": H}
        return Probe(inputs, {"B": B, "T": T, "H": H, "d_k": d_k, "d_model": H * d_k}, condition)

    exercise = Exercise(
        id="99.split_heads",
        call="split_heads(x, num_heads)",
        axes=("B", "H", "T", "d_k"),
        reference=attention.split_heads,
        make_probes=lambda: [probe(2, 5, 3, 4), probe(3, 4, 2, 5)],
        make_easier=lambda: [probe(1, 5, 3, 4, "B = 1"), probe(2, 5, 1, 12, "H = 1")],
        rows=True,
    )
    exercise.misconception(
        "viewed_straight", lambda x, H: x.reshape(len(x), H, x.shape[1], x.shape[2] // H)
    )
    return exercise


def merge_exercise():
    def probe(B, H, T, d_k, condition=""):
        sizes = {"B": B, "H": H, "T": T, "d_k": d_k, "d_model": H * d_k}
        return Probe({"x": counted(B, H, T, d_k)}, sizes, condition)

    exercise = Exercise(
        id="99.merge_heads",
        call="merge_heads(x)",
        axes=("B", "T", "d_model"),
        reference=attention.merge_heads,
        make_probes=lambda: [probe(1, 2, 2, 2), probe(2, 3, 5, 4)],
        rows=True,
    )
    exercise.misconception("tokens_mixed", lambda x: x.reshape(len(x), x.shape[2], -1))
    return exercise


def head_size_exercise():
    def head_size(d_model, num_heads):
        return attention.head_width(d_model, num_heads)

    def probe(d_model, H, raises=()):
        mention = (str(d_model), str(H)) if raises else ()
        sizes = {"d_model": d_model, "H": H}
        return Probe({"d_model": d_model, "num_heads": H}, sizes, raises=raises, mention=mention)

    return Exercise(
        id="99.head_size",
        call="head_size(d_model, num_heads)",
        axes=(),
        reference=head_size,
        make_probes=lambda: [
            probe(64, 8),
            probe(12, 3),
            probe(64, 5, raises=(ValueError, AssertionError)),
        ],  # fmt: skip
    )


def shape_exercise():
    return Exercise(
        id="99.shape_after",
        call="shape_after(B, T)",
        axes=(),
        reference=lambda B, T: (B, T),
        make_probes=lambda: [Probe({"B": 2, "T": 5}, {"B": 2, "T": 5})],
    )


def tenfold_exercise():
    """Two misconceptions that agree on the first trial: 2 + 2 = 2 · 2."""
    exercise = Exercise(
        id="99.tenfold",
        call="tenfold(x)",
        axes=(),
        reference=lambda x: 10 * x,
        make_probes=lambda: [Probe({"x": x}, {"x": x}) for x in (2, 3, 5)],
    )
    exercise.misconception("two_added", lambda x: x + 2)
    exercise.misconception("doubled", lambda x: x * 2)
    exercise.misconception("squared", lambda x: x * x)
    return exercise


class NoOutputProjection(MultiHeadAttention):
    def forward(self, X, mask=None):
        return self.trace(X, mask).concat


class HeadsSeeSlices(MultiHeadAttention):
    """Each head projects its own d_k features only."""

    def forward(self, X, mask=None):
        blocks = torch.block_diag(*[torch.ones(self.d_k, self.d_k)] * self.num_heads)
        for part in (self.W_Q, self.W_K, self.W_V):
            part.weight.data *= blocks
        return super().forward(X, mask)


class ScaledByModel(MultiHeadAttention):
    def forward(self, X, mask=None):
        self.W_Q.weight.data *= (self.d_k / self.d_model) ** 0.5
        return super().forward(X, mask)


class Unscaled(MultiHeadAttention):
    def forward(self, X, mask=None):
        self.W_Q.weight.data *= self.d_k**0.5
        return super().forward(X, mask)


def class_exercise():
    def probe(seed, B, T, d_model, H, mask=None, condition=""):
        names = ("W_Q", "W_K", "W_V", "W_O")
        made = random_tensors(seed, *[(d_model, d_model)] * 4, scale=1.5 / d_model**0.5)
        (X,) = random_tensors(seed + 50, (B, T, d_model))
        inputs = {
            "d_model": d_model,
            "num_heads": H,
            "weights": dict(zip(names, made, strict=True)),
        }
        inputs["X"] = X
        if mask is not None:
            inputs["mask"] = mask
        sizes = {"B": B, "T": T, "d_model": d_model, "H": H, "d_k": d_model // H}
        return Probe(inputs, sizes, condition)

    exercise = Exercise(
        id="99.MultiHeadAttention",
        call="MultiHeadAttention(d_model, num_heads)",
        axes=("B", "T", "d_model"),
        reference=MultiHeadAttention,
        make_probes=lambda: [
            probe(1, 2, 4, 6, 2),
            probe(2, 2, 5, 64, 8),
            probe(3, 2, 4, 6, 2, torch.ones(4, 4).tril().bool()),
        ],
        make_easier=lambda: [probe(4, 1, 4, 6, 2, condition="B = 1")],
        run=run_module("d_model", "num_heads"),
        first_of_tuple=True,
        differentiable=True,
    )
    exercise.misconception("no_output_projection", NoOutputProjection)
    exercise.misconception("heads_see_slices", HeadsSeeSlices)
    exercise.misconception("scaled", ScaledByModel, Unscaled)
    return exercise


MAKERS = (
    split_exercise,
    merge_exercise,
    head_size_exercise,
    shape_exercise,
    tenfold_exercise,
    class_exercise,
)


@pytest.fixture(autouse=True)
def samples(monkeypatch):
    """The sample exercises and their words, for the length of one test."""
    made = {exercise.id: exercise for exercise in (make() for make in MAKERS)}
    monkeypatch.setattr(base, "_exercises", {**base._exercises, **made})
    real = texts._texts
    monkeypatch.setattr(
        texts, "_texts", lambda lang, topic: WORDS if topic == "check_99" else real(lang, topic)
    )
    texts.set_language("en")


def kind_of(id, answer):
    return check(f"99.{id}", answer).kind


# --- moving axes ------------------------------------------------------------------------------


def test_c01_viewing_straight_to_the_shape_is_named_with_its_numbers():
    def answer(x, num_heads):
        B, T, d_model = x.shape
        return x.view(B, num_heads, T, d_model // num_heads)

    result = check("99.split_heads", answer)
    assert (result.passed, result.kind) == (False, "viewed_straight")
    # Head 0 of token 1 holds features 0-3 of token 1, which are numbers 12-15.
    assert "at [0, 0, 1] (counted from 0): [12, 13, 14, 15] was expected, [4, 5, 6, 7] came" in (
        result.got
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, H: x.view(*x.shape[:2], H, -1).transpose(1, 2),
        lambda x, H: x.reshape(x.shape[0], x.shape[1], H, x.shape[2] // H).permute(0, 2, 1, 3),
        lambda x, H: torch.stack(x.chunk(H, dim=-1), dim=1),
        lambda x, H: x.unflatten(-1, (H, -1)).movedim(2, 1).contiguous(),
        lambda x, H: torch.einsum("bthd->bhtd", x.view(x.shape[0], x.shape[1], H, -1)),
    ],
)
def test_c15_other_right_splits_pass(answer):
    assert check("99.split_heads", answer).passed


def test_c15_axes_in_another_order_are_named():
    result = check("99.split_heads", lambda x, H: x.unflatten(-1, (H, -1)).permute(1, 2, 0, 3))
    assert result.kind == "wrong_axis_order"
    assert "(B, H, T, d_k)" in result.expected and "(T, H, B, d_k)" in result.got
    assert "shape (2, 3, 5, 4) was expected, shape (5, 3, 2, 4) came" in result.got


def test_works_for_one_sequence_only():
    def answer(x, H):
        return x[0].unflatten(-1, (H, -1)).movedim(1, 0)[None]

    result = check("99.split_heads", answer)
    assert result.kind == "works_only_when" and "when B = 1" in result.got

    def squeezing(x, H):
        T = x.shape[1]
        return x.reshape(T, H, x.shape[2] // H).transpose(0, 1)[None]

    result = check("99.split_heads", squeezing)
    assert result.kind == "works_only_when" and result.quotes[0][1].endswith(
        "return x.reshape(T, H, x.shape[2] // H).transpose(0, 1)[None]"
    )


def test_size_written_by_hand():
    """120 numbers in both trials: the wrong size raises nothing. With d_k alone, it does."""
    result = check("99.split_heads", lambda x, H: x.view(2, 5, 3, 4).transpose(1, 2))
    assert result.kind == "hard_coded_size"
    assert "B = 2, T = 5, H = 3" in result.got and not result.quotes
    result = check("99.split_heads", lambda x, H: x.unflatten(-1, (H, 4)).transpose(1, 2))
    assert result.kind == "hard_coded_size" and result.quotes


def test_c02_merge_without_the_swap_is_rejected_with_token_0():
    def answer(x):
        B, H, T, d_k = x.shape
        return x.contiguous().view(B, T, H * d_k)

    result = check("99.merge_heads", answer)
    assert (result.passed, result.kind) == (False, "tokens_mixed")
    assert "at [0, 0] (counted from 0): [0, 1, 4, 5] was expected, [0, 1, 2, 3] came" in result.got
    assert check("99.merge_heads", lambda x: x.transpose(1, 2).flatten(2)).passed
    assert check("99.merge_heads", lambda x: torch.cat(tuple(x.unbind(1)), -1)).passed


def test_view_after_the_swap_gets_a_hint_about_memory():
    result = check("99.merge_heads", lambda x: x.transpose(1, 2).view(len(x), x.shape[2], -1))
    assert result.kind == "raised" and "copies the numbers" in result.look


# --- numbers, refusals, plain things ----------------------------------------------------------


def refusing(words, error=ValueError):
    def head_size(d_model, num_heads):
        if d_model % num_heads:
            raise error(words.format(d_model=d_model, H=num_heads))
        return d_model // num_heads

    return head_size


def test_a_refusal_must_come_and_name_the_numbers():
    assert check("99.head_size", refusing("{d_model} over {H}")).passed
    assert check("99.head_size", refusing("{d_model} over {H}", AssertionError)).passed
    assert kind_of("head_size", lambda d_model, num_heads: d_model // num_heads) == "should_raise"
    nameless = check("99.head_size", refusing("it does not divide"))
    assert nameless.kind == "error_without_numbers" and "64 and 5" in nameless.expected
    half = check("99.head_size", refusing("640 over {H}"))
    assert "without 64." in half.got, "640 is not 64"
    assert kind_of("head_size", refusing("{d_model} {H}", KeyError)) == "raised"


def test_numbers_and_plain_things():
    wrong = check("99.head_size", lambda d_model, num_heads: d_model / num_heads + 1)
    assert wrong.kind == "wrong_number" and "8 was expected, 9 came" in wrong.got
    assert kind_of("head_size", lambda d_model, num_heads: "8") == "not_a_number"
    assert kind_of("head_size", lambda d_model, num_heads: torch.zeros(2)) == "not_a_number"
    assert check("99.shape_after", lambda B, T: torch.Size([B, T])).passed
    other = check("99.shape_after", lambda B, T: (T, "<b>"))
    assert other.kind == "wrong_answer" and other.quotes == (("Your answer", "(5, '<b>')"),)
    assert "(2, 5)" not in other.message, "the answer is not given away"


def test_the_words_of_an_exercise_are_filled():
    assert check("99.shape_after", lambda B, T: (B, T)).title == "Right: shape_after."
    assert "What shape_after(B, T) gives." in check("99.shape_after", lambda B, T: None).expected
    numbers = "With x = 2: 20 was expected, 4 came."
    assert check("99.tenfold", lambda x: x + x).got == f"This. {numbers}"


def test_a_kind_without_words_is_an_error_that_says_where_they_belong():
    exercise, finding = base.find("99.tenfold"), Finding("nowhere", own=True)
    with pytest.raises(KeyError, match="check_99.kinds.nowhere"):
        result_of(exercise, finding)


def test_of_misconceptions_that_agree_at_first_the_one_that_fits_most_is_named():
    assert kind_of("tenfold", lambda x: x + 2) == "two_added"
    assert kind_of("tenfold", lambda x: x + x) == "doubled"
    assert kind_of("tenfold", lambda x: x**2) == "squared"


# --- a whole class ----------------------------------------------------------------------------


class Own(nn.Module):
    """A reader's class, right, with a part to exchange."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.H, self.d_k = num_heads, d_model // num_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:2], self.H, self.d_k).transpose(1, 2)

    def weights(self, Q, K, mask):
        scores = Q @ K.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return scores.softmax(-1)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def forward(self, X, mask=None):
        Q, K, V = self.split(self.W_Q(X)), self.split(self.W_K(X)), self.split(self.W_V(X))
        return self.W_O(self.merge(self.weights(Q, K, mask) @ V))


def own(**changes):
    return type("Own", (Own,), changes)


class WithParameters(Own):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            delattr(self, name)
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_model)))

    def forward(self, X, mask=None):
        Q, K, V = (self.split(X @ W) for W in (self.W_Q, self.W_K, self.W_V))
        weights = self.weights(Q, K, mask)
        return self.merge(weights @ V) @ self.W_O, weights


class WithFused(Own):
    def forward(self, X, mask=None):
        Q, K, V = self.split(self.W_Q(X)), self.split(self.W_K(X)), self.split(self.W_V(X))
        return self.W_O(self.merge(F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)))


class QueryScaledFirst(Own):
    def weights(self, Q, K, mask):
        return super().weights(Q / self.d_k**0.5, K * self.d_k**0.5, mask)


class DropoutInEval(Own):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.dropout = nn.Dropout(0.5)

    def merge(self, x):
        return self.dropout(super().merge(x))


@pytest.mark.parametrize(
    "cls", [Own, MultiHeadAttention, WithParameters, WithFused, QueryScaledFirst, DropoutInEval]
)
def test_c06_c15_right_classes_pass(cls):
    state = torch.get_rng_state()
    result = check("99.MultiHeadAttention", cls)
    assert result.passed, result.message
    assert torch.equal(torch.get_rng_state(), state)


def scaled(power):
    return own(weights=lambda self, Q, K, mask: Own.weights(
        self, Q * self.d_k**0.5 * (self.H * self.d_k) ** -power, K, mask))  # fmt: skip


def forward_by_slices(self, X, mask=None):
    """Each head cuts its slice from the raw embedding and projects that slice."""
    parts = []
    for name in ("W_Q", "W_K", "W_V"):
        weight = getattr(self, name).weight
        slices = X.split(self.d_k, dim=-1)
        cut = [slice(h * self.d_k, (h + 1) * self.d_k) for h in range(self.H)]
        heads = [x @ weight[c, c].T for x, c in zip(slices, cut, strict=True)]
        parts.append(torch.stack(heads, dim=1))
    Q, K, V = parts
    return self.W_O(self.merge(self.weights(Q, K, mask) @ V))


def forward_without_output(self, X, mask=None):
    self.W_O = nn.Identity()
    return Own.forward(self, X, mask)


def narrow(self, d_model, num_heads):
    Own.__init__(self, d_model, num_heads)
    self.W_Q = nn.Linear(d_model, d_model // num_heads)


def nameless(self, d_model, num_heads):
    Own.__init__(self, d_model, num_heads)
    del self.W_O


def listed(self, d_model, num_heads):
    Own.__init__(self, d_model, num_heads)
    self.W_Q = nn.ModuleList([nn.Linear(d_model, d_model)])


def unbuilt(self, d_model, num_heads):
    self.W_Q = nn.Linear(d_model, d_model)


WRONG = [
    (scaled(0.5), "scaled"),
    (own(weights=lambda self, Q, K, mask: Own.weights(self, Q * self.d_k**0.5, K, mask)), "scaled"),
    (own(forward=forward_without_output), "no_output_projection"),
    (own(forward=forward_by_slices), "heads_see_slices"),
    (own(weights=lambda self, Q, K, mask: Own.weights(self, Q, K, None)), "mask_ignored"),
    (own(merge=lambda self, x: x.reshape(len(x), x.shape[2], -1)), "wrong_values"),
    (own(merge=lambda self, x: F.dropout(Own.merge(self, x))), "random"),
    (own(merge=lambda self, x: Own.merge(self, x).detach()), "detached"),
    (own(forward=lambda self, X, mask=None: Own.forward(self, X, mask).mT), "wrong_axis_order"),
    (own(forward=lambda self, X: Own.forward(self, X)), "wrong_arguments"),
    (own(__init__=narrow), "wrong_weight_shape"),
    (own(__init__=nameless), "missing_attribute"),
    (own(__init__=listed), "wrong_attribute"),
    (own(__init__=unbuilt), "raised"),
    (NotAModule, "not_a_module"),
    (Own(6, 2), "not_a_class"),
]


@pytest.mark.parametrize(("cls", "kind"), WRONG, ids=[kind for _, kind in WRONG])
def test_c06_c07_wrong_classes_are_named(cls, kind):
    messages = set()
    for language in texts.LANGUAGES:
        texts.set_language(language)
        result = check("99.MultiHeadAttention", cls)
        assert (result.passed, result.kind) == (False, kind), result.message
        assert result.expected and result.got and result.look
        if kind not in ("not_a_module", "not_a_class"):
            assert re.search(r"\d|W_|X", result.message.split("\n", 1)[1])
        messages.add(result.message)
    texts.set_language("en")
    assert len(messages) == 2


def test_c07_the_output_matrix_of_the_trial_is_no_identity():
    probe = base._exercises["99.MultiHeadAttention"].probes[0]
    assert probe.sizes["d_model"] == 6 and probe.sizes["H"] == 2
    assert (probe.inputs["weights"]["W_O"] - torch.eye(6)).abs().max() > 0.5


def test_stubs_of_a_class_are_not_yet():
    class Empty(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()

        def forward(self, X, mask=None):
            return None

    def not_written(self, X, mask=None):
        raise NotImplementedError

    stubs = [Empty, own(forward=lambda self, X, mask=None: None), own(forward=not_written)]
    for cls in stubs:
        result = check("99.MultiHeadAttention", cls)
        assert (result.passed, result.kind) == (None, "not_yet"), result.message
