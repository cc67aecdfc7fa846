"""Faults that people really met, tried on `helpers.attention`: heads, masks, half precision."""

import math
import pickle

import pytest
import torch
import torch.nn.functional as F
from attention_inputs import generator, normal, torch_layer
from torch import nn

from helpers import lesson
from helpers.attention import (
    ImpossibleHeadsError,
    LoopedMultiHeadAttention,
    MultiHeadAttention,
    WrongInputError,
    head_width,
    legal_heads,
    scaled_dot_product_attention,
    split_heads,
)


@pytest.mark.parametrize(
    ("d_model", "H", "numbers", "below", "above"),
    [
        (64, 5, ["64 = 5 * 12 + 4, remainder 4", "4 or 8"], 4, 8),
        (97, 2, ["97", "2", "remainder 1", "1 or 97"], 1, 97),
        (2, 8, ["2", "8", "works: 2."], 2, None),
        (1, 2, ["num_heads = 2 is more than d_model = 1", "works: 1."], 1, None),
        (64, 0, ["0", "works: 1."], None, 1),
        (64, -3, ["-3", "works: 1."], None, 1),
        (0, 4, ["d_model = 0: a token needs at least 1 feature."], None, None),
    ],
)
def test_c05_impossible_heads_name_the_numbers(d_model, H, numbers, below, above):
    makers = (MultiHeadAttention, LoopedMultiHeadAttention, head_width)
    for make in makers:
        with pytest.raises(ImpossibleHeadsError) as caught:
            make(d_model, H)
        for number in numbers:
            assert number in str(caught.value)
        assert (caught.value.below, caught.value.above) == (below, above)
        assert isinstance(caught.value, ValueError)
    assert caught.value.remainder == (d_model % H if d_model > 0 and H > 0 else None)


def test_c05_the_error_says_the_same_after_a_trip_to_another_process():
    error = ImpossibleHeadsError(d_model=64, num_heads=5)
    arrived = pickle.loads(pickle.dumps(error))
    assert str(arrived) == str(error)
    assert (arrived.below, arrived.above, arrived.remainder) == (4, 8, 4)


def test_c05_splitting_says_it_too():
    with pytest.raises(ImpossibleHeadsError, match="64.*5.*remainder 4"):
        split_heads(normal(1, 4, 64), 5)
    assert legal_heads(64) == [1, 2, 4, 8, 16, 32, 64]
    assert legal_heads(97) == [1, 97]


@pytest.mark.parametrize(
    ("d_model", "H", "spanish"),
    [
        (64, 5, ["H = 5 no divide a d_model = 64", "resto 4", "que sí funcionan: 4 y 8."]),
        (97, 2, ["H = 2 no divide a d_model = 97", "resto 1", "1 y 97."]),
        (2, 8, ["H = 8 cabezas son más que los d_model = 2 componentes", "que sí funcionan: 2."]),
        (64, 0, ["H = 0: hace falta al menos 1 cabeza", "que sí funcionan: 1."]),
    ],
)
def test_c05_spanish_lessons_say_it_in_spanish(d_model, H, spanish):
    lesson.set_language("es")
    with pytest.raises(ImpossibleHeadsError) as caught:
        MultiHeadAttention(d_model, H)
    message = str(caught.value)
    lesson.set_language("en")
    english = str(caught.value)
    for words in spanish:
        assert words in message
    for word in ("remainder", "head", "nearest", "features", "divide d_model"):
        assert word not in message
    assert "earest" in english


def layer() -> MultiHeadAttention:
    return MultiHeadAttention(8, 2, generator=generator())


def from_torch(**options) -> MultiHeadAttention:
    return MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, **options))


ADDING = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1) == 1, -math.inf)
EXTRA_KEYS = (
    "add_bias_kv and add_zero_attn add keys this class does not have.",
    "add_bias_kv y add_zero_attn añaden keys que esta clase no tiene.",
)
# What was given; the message in English, the message in Spanish.
WRONG_INPUTS = {
    "one sequence alone": (
        lambda: layer()(torch.zeros(10, 8)),
        "x of shape (10, 8): (B, T, d_model) is needed. For one sequence alone of shape "
        "(T, d_model), write x[None].",
        "x de forma (10, 8): hace falta (B, T, d_model). Si es una sola secuencia, de forma "
        "(T, d_model), escribe x[None].",
    ),
    "a mask with three axes": (
        lambda: layer()(normal(2, 4, 8), torch.ones(2, 4, 4)),
        "mask of shape (2, 4, 4) for scores (2, 2, 4, 4): is its first axis B or H? "
        "Write mask[:, None] for one mask per sequence, mask[None] for one per head.",
        "máscara de forma (2, 4, 4) para scores de forma (2, 2, 4, 4): ¿su primer eje es B o es "
        "H? Escribe mask[:, None] si hay una máscara por secuencia, mask[None] si hay una por "
        "cabeza.",
    ),
    "a mask of another size": (
        lambda: layer()(normal(2, 4, 8), torch.ones(2, 4)),
        "mask of shape (2, 4) does not fit scores of shape (2, 2, 4, 4): give (T_query, T_key), "
        "or (B, 1, 1, T_key) to hide padding. A (B, T) padding mask is written "
        "mask[:, None, None, :].",
        "la máscara de forma (2, 4) no encaja con scores de forma (2, 2, 4, 4): pasa una "
        "(T_query, T_key), o una (B, 1, 1, T_key) para ocultar el padding. Una máscara de padding "
        "(B, T) se escribe mask[:, None, None, :].",
    ),
    "a mask made for adding": (
        lambda: layer()(normal(1, 4, 8), ADDING),
        "this mask holds numbers other than 0 and 1. Here 1 means 'may attend' and 0 'hidden'; "
        "a mask that is added to the scores (0 and -inf) has the opposite sense: "
        "pass `mask == 0` instead.",
        "esta máscara contiene números distintos de 0 y 1. Aquí 1 significa «puede mirar» y 0, "
        "«oculto»; una máscara que se suma a los scores (0 y -inf) tiene el sentido contrario: "
        "pasa `mask == 0` en su lugar.",
    ),
    "gates for four heads": (
        lambda: layer().trace(normal(1, 4, 8), gates=torch.ones(4)),
        "gates of shape (4,): one number per head, (2,).",
        "gates de forma (4,): hace falta un número por cabeza, (2,).",
    ),
    "kdim and vdim": (
        lambda: from_torch(kdim=4, vdim=6),
        "kdim = 4 and vdim = 6 differ from embed_dim = 8: this class projects queries, keys "
        "and values from the same width.",
        "kdim = 4 y vdim = 6 no coinciden con embed_dim = 8: esta clase proyecta los queries, "
        "keys y values desde la misma anchura.",
    ),
    "add_bias_kv": (lambda: from_torch(add_bias_kv=True), *EXTRA_KEYS),
    "add_zero_attn": (lambda: from_torch(add_zero_attn=True), *EXTRA_KEYS),
    "dropout": (
        lambda: from_torch(dropout=0.5),
        "dropout = 0.5 while training: call layer.eval() first.",
        "dropout = 0.5 durante el entrenamiento: llama antes a layer.eval().",
    ),
}


@pytest.mark.parametrize(
    ("wrong", "english", "spanish"), WRONG_INPUTS.values(), ids=WRONG_INPUTS.keys()
)
def test_what_cannot_be_used_is_refused_in_the_lessons_language(wrong, english, spanish):
    with pytest.raises(WrongInputError) as caught:
        wrong()
    error = caught.value
    assert str(error) == english  # before a lesson chose a language
    for language, words in (("es", spanish), ("en", english)):
        lesson.set_language(language)
        assert str(error) == words
        assert str(pickle.loads(pickle.dumps(error))) == words
    assert error.args == (error.kind, error.words)  # what `repr` shows
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("H", [1, 2, 4, 8, 64])
def test_c08_more_heads_mean_no_more_weights(H):
    layer = MultiHeadAttention(64, H, bias=True)
    assert sum(p.numel() for p in layer.parameters()) == 16_640
    assert sum(p.numel() for p in MultiHeadAttention(64, H).parameters()) == 16_384
    assert layer.d_k == 64 // H


def test_c08_blocks_of_the_packed_matrix_are_q_k_v():
    reference = torch_layer(64, 8)
    X = normal(2, 4, 64)
    wanted, _ = reference(X, X, X)
    ours = MultiHeadAttention(64, 8, bias=True)
    q, k, v = reference.in_proj_weight.detach().chunk(3)
    q_bias, k_bias, v_bias = reference.in_proj_bias.detach().chunk(3)
    right = {"W_Q": (q, q_bias), "W_K": (k, k_bias), "W_V": (v, v_bias)}
    right["W_O"] = (reference.out_proj.weight.detach(), reference.out_proj.bias.detach())

    def output(**changed):
        parts = right | changed
        ours.load_state_dict(
            {f"{part}.weight": weight for part, (weight, _) in parts.items()}
            | {f"{part}.bias": bias for part, (_, bias) in parts.items()}
        )
        return ours(X)

    torch.testing.assert_close(output(), wanted, atol=1e-6, rtol=0)
    # All blocks are 64 × 64, so nothing raises: only the values tell.
    for part, (weight, bias) in right.items():
        assert (output(**{part: (weight.T, bias)}) - wanted).abs().max() > 0.1, part
    assert (output(W_Q=right["W_K"], W_K=right["W_Q"]) - wanted).abs().max() > 0.1


def test_c09_a_query_with_no_keys_gives_zeros_and_spoils_nothing():
    B, T, d_model, H, row = 2, 4, 8, 2, 2
    X = normal(B, T, d_model, seed=1)
    causal = torch.ones(T, T).tril()
    mask = causal.clone()
    mask[row] = 0
    others = [t for t in range(T) if t != row]
    results = []
    for chosen, rows in ((mask, range(T)), (causal, others)):
        layer, x = MultiHeadAttention(d_model, H, generator=generator()), X.clone().requires_grad_()
        with torch.autograd.set_detect_anomaly(True):
            trace = layer.trace(x, chosen)
            (trace.output[:, list(rows)] ** 2).sum().backward()
        results.append((trace, [x.grad, *(p.grad for p in layer.parameters())]))
    (empty, gradients), (full, wanted_gradients) = results
    assert (empty.weights[:, :, row] == 0).all()
    assert (empty.heads[:, :, row] == 0).all()
    assert (empty.output[:, row] == 0).all()
    assert torch.equal(empty.weights[:, :, others], full.weights[:, :, others])
    torch.testing.assert_close(empty.output[:, others], full.output[:, others], atol=1e-6, rtol=0)
    # The row adds nothing, so the gradients are those of the loss without it.
    for gradient, wanted in zip(gradients, wanted_gradients, strict=True):
        torch.testing.assert_close(gradient, wanted, atol=1e-6, rtol=0)


def test_c09_holds_when_every_key_of_a_sequence_is_padding():
    layer = MultiHeadAttention(8, 2, generator=generator())
    X = normal(2, 4, 8).requires_grad_()
    real = torch.tensor([[True] * 4, [False] * 4])
    output = layer(X, real[:, None, None, :])
    output.sum().backward()
    assert (output[1] == 0).all()
    torch.testing.assert_close(output[0], layer(X[:1])[0])
    assert (X.grad[1] == 0).all()
    assert (X.grad[0] != 0).any()


def test_c10_true_means_may_attend():
    Q, K, V = (normal(1, 2, 4, 3, seed=seed) for seed in range(3))
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    output, weights = scaled_dot_product_attention(Q, K, V, causal)
    assert (weights[..., 0, 0] == 1).all()
    assert (weights[..., 0, 3] == 0).all()
    assert (weights.triu(1) == 0).all()
    assert (weights[..., 3, :] > 0).all()
    torch.testing.assert_close(output[..., 0, :], V[..., 0, :])
    inverted, _ = scaled_dot_product_attention(Q, K, V, ~causal)
    assert (inverted[..., 3, :] == 0).all()  # the last token has nothing after it
    assert (inverted - output).abs().max() > 0.1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.long, torch.uint8])
def test_c10_ones_and_zeros_mean_the_same_as_true_and_false(dtype):
    Q, K, V = (normal(1, 2, 4, 3, seed=seed) for seed in range(3))
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    _, wanted = scaled_dot_product_attention(Q, K, V, causal)
    _, weights = scaled_dot_product_attention(Q, K, V, causal.to(dtype))
    assert torch.equal(weights, wanted)
    # What goes wrong elsewhere: torch adds a float mask to the scores, and the future stays.
    eye = torch.eye(4).expand(1, 2, 4, 4)
    added = F.scaled_dot_product_attention(Q, K, eye, attn_mask=causal.float())
    assert added.triu(1).max() > 0.1


def test_c10_a_mask_made_for_adding_does_its_work_turned_as_the_error_says():
    ours, X = layer(), normal(1, 4, 8)
    with pytest.raises(WrongInputError, match="pass `mask == 0`"):
        ours(X, ADDING)
    torch.testing.assert_close(ours(X, ADDING == 0), ours(X, torch.ones(4, 4).tril()))


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((2, 4, 4), r"\(2, 4, 4\).*B or H.*mask\[:, None\].*mask\[None\]"),
        ((2, 4), r"\(2, 4\).*\(2, 2, 4, 4\).*mask\[:, None, None, :\]"),
        ((5, 5), r"\(5, 5\) does not fit scores of shape \(2, 2, 4, 4\)"),
        ((2, 3, 4, 4), r"\(2, 3, 4, 4\) does not fit"),
        ((3, 2, 2, 4, 4), r"does not fit"),
    ],
)
def test_masks_that_do_not_fit_are_refused_in_words(shape, says):
    batched = MultiHeadAttention(8, 2, generator=generator())
    for layer in (batched, LoopedMultiHeadAttention.from_batched(batched)):
        with pytest.raises(ValueError, match=says):
            layer(normal(2, 4, 8), torch.ones(shape))


def test_c13_heads_are_shown_one_by_one_and_their_mean_is_what_torch_shows():
    reference = torch_layer(8, 2)
    reference.dropout = 0.5
    X = normal(1, 4, 8)
    _, mean = reference(X, X, X)
    weights = MultiHeadAttention.from_torch(reference).trace(X).weights
    assert mean.shape == (1, 4, 4)
    assert weights.shape == (1, 2, 4, 4)
    torch.testing.assert_close(weights.mean(dim=1), mean, atol=1e-6, rtol=0)
    assert (weights[:, 0] - weights[:, 1]).abs().max() > 0.05  # two heads, not one mean twice
    with pytest.raises(ValueError, match=r"dropout = 0\.5 while training: call layer\.eval\(\)"):
        MultiHeadAttention.from_torch(reference.train())


@pytest.mark.parametrize(("dtype", "sums"), [(torch.bfloat16, 2e-2), (torch.float16, 2e-3)])
def test_c14_half_precision_agrees_with_full(dtype, sums):
    B, H, T, d_k = 2, 8, 16, 8
    layer = MultiHeadAttention(H * d_k, H, bias=True, generator=generator())
    X, mask = normal(B, T, H * d_k), torch.ones(T, T).tril()
    mask[5] = 0  # and a row with nothing to attend to
    full = layer.trace(X, mask)
    for chosen in (mask, mask.bool(), mask.to(dtype)):
        half = layer.to(dtype).trace(X.to(dtype), chosen)
        assert half.output.dtype == half.weights.dtype == dtype
        for name in ("weights", "heads", "output"):
            have, wanted = getattr(half, name).float(), getattr(full, name)
            torch.testing.assert_close(have, wanted, atol=2e-2, rtol=2e-2)
        rows = half.weights.float().sum(-1)
        assert (rows[:, :, 5] == 0).all()
        torch.testing.assert_close(
            rows[:, :, mask.any(-1)], torch.ones(B, H, T - 1), atol=sums, rtol=0
        )
        assert (half.weights.float().triu(1) == 0).all()


def test_c14_gates_in_full_precision_leave_a_half_layer_in_half():
    layer = MultiHeadAttention(16, 4, generator=generator()).half()
    X, gates = normal(2, 6, 16).half(), torch.tensor([1.0, 0.0, 0.5, 1.0])
    trace = layer.trace(X, gates=gates)
    assert trace.heads.dtype == trace.output.dtype == torch.float16
    assert torch.equal(trace.heads[:, 2], layer.trace(X).heads[:, 2] / 2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_c14_half_precision_keeps_gradients_finite(dtype):
    layer = MultiHeadAttention(16, 4, generator=generator()).to(dtype)
    X = normal(2, 6, 16).to(dtype).requires_grad_()
    mask = torch.ones(6, 6).tril()
    mask[3] = 0
    layer(X, mask).float().pow(2).sum().backward()
    for gradient in (X.grad, *(p.grad for p in layer.parameters())):
        assert gradient.isfinite().all()
        assert (gradient != 0).any()
