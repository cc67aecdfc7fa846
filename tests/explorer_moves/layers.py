"""A layer with random weights: heads, shapes, gates, two layers side by side."""

import math

import torch
from hypothesis import strategies as st

from helpers import explorers, toy

from .base import (
    HEADS,
    SENTENCES,
    TOKENS,
    WIDTHS,
    Moves,
    beyond,
    buttons_of,
    choice,
    click,
    head_by_hand,
    indivisible,
    same,
    shown,
)


def agree_multi_head(one):
    H, T, d_model = one.H, one.T, one.d_model
    words = toy.words(one.sentence)[:T]
    assert len(one.tokens) == T and one.tokens[: len(words)] == words
    layer, X = toy.layer(d_model, H, one.seed), toy.embed(one.tokens, d_model, one.seed)[0]
    assert layer.d_k * H == d_model
    causal = torch.ones(T, T, dtype=torch.bool).tril() if one.mask == "causal" else None
    for i in {0, H // 2, H - 1}:
        same(one.weights[i], head_by_hand(layer, X, i, one.temperature, causal))
    if causal is not None:
        assert not one.weights[:, ~causal].any()
    assert one.weights.shape == (H, T, T)
    same(one.weights.sum(-1), torch.ones(H, T))
    assert torch.equal(shown(one.maps), one.weights)
    assert one.maps.frame["queries"] == one.tokens
    facts = one._facts.value
    assert f"<b>{4 * d_model**2:,}</b>" in facts and f"/ {H} = <b>{layer.d_k}</b>" in facts
    assert f"({H}, {T}, {layer.d_k})" in "\n".join(one.shapes.steps_text())
    summary = one._summary()
    assert f"d_model {d_model}, H {H}, d_k {layer.d_k}, T {T};" in summary
    assert one.maps.describe(one.maps.selected) in summary
    assert list(one._H.options) == [h for h in range(1, d_model + 1) if d_model % h == 0]


def wrong_multi_head(one) -> list:
    return [
        *beyond(one.T, 1, 128), *([one.d_model] if one.d_model > 1024 else indivisible(one)),
        *([] if toy.words(one.sentence) else [""]), *beyond(one.seed, 0, 2**31 - 1),
        *([] if 0 < one.temperature < math.inf else [one.temperature]),
        *([] if one.mask in ("none", "causal") else [one.mask]),
    ]  # fmt: skip


MULTI_HEAD = Moves(
    values={
        "sentence": SENTENCES, "T": TOKENS, "d_model": WIDTHS, "H": HEADS,
        "seed": st.sampled_from([0, 7, 12345, -1, 2**31]),
        "mask": st.sampled_from(["none", "causal", "diagonal"]),
        "temperature": st.sampled_from([1.0, 0.5, 4.0, 25.0, 0.01, 0.0, -1.0, math.nan, math.inf]),
    },
    controls={
        "_sentence": "sentence", "_T": "T", "_d_model": "d_model", "_H": "H", "_typed_H": "H",
        "_seed": "seed", "_mask": "mask", "_temperature": "temperature",
    },
    wrong=wrong_multi_head, agree=agree_multi_head, drawn=("trace", "weights"),
    buttons=buttons_of("_fixes"),
)  # fmt: skip


def agree_shapes(one):
    H, T, d_model = one.H, one.T, one.d_model
    assert one.trace.Q_heads.shape == (1, H, T, d_model // H)
    assert one.parameters == 4 * d_model**2
    assert one.flops["projections"] == 8 * T * d_model**2
    lines = "\n".join(one.shapes.steps_text())
    assert f"({H}, {T}, {d_model // H})" in lines and f"({H}, {T}, {T})" in lines
    assert f"<b>{H * T * T:,}</b>" in one._facts.value
    assert (
        f"{4 * d_model**2:,}" in one._summary() and f"H {H}, d_k {d_model // H}" in one._summary()
    )


def agree_gates(one):
    H, T, gates = one.H, one.T, torch.tensor(one.gates)
    assert one.terms.shape == (H, T, one.d_model)
    assert not one.terms[gates == 0].any(), "a closed head still contributes"
    same(one.terms.sum(0), one.trace.output[0])
    layer, X = toy.layer(one.d_model, H, 0), toy.embed(one.tokens, one.d_model, 0)[0]
    V = X @ layer.W_V.weight.T
    for i in {0, H - 1}:
        own = slice(i * layer.d_k, (i + 1) * layer.d_k)
        by_hand = gates[i] * (head_by_hand(layer, X, i) @ V[:, own]) @ layer.W_O.weight[:, own].T
        same(one.terms[i], by_hand)
    same(one.lengths, one.terms.flatten(1).norm(dim=1))
    same(one.shares.sum(), 1.0 if gates.any() else 0.0)
    same(one.bars.frame["series"][0]["values"], one.shares)
    for i, slider in enumerate(one._sliders):
        assert (slider.layout.display == "none") == (i >= H)
        assert i >= H or slider.value == one.gates[i]
    numbers = torch.frombuffer(bytearray(one.heat.frame["numbers"]), dtype=torch.float32)
    before = one.full if one.show == "change" else None
    wanted = [
        getattr(one.trace, name)[0] - (getattr(before, name)[0] if before else 0)
        for name in ("concat", "output")
    ]
    same(numbers.view(one.heat.frame["shape"]), torch.stack(wanted))
    assert f"<b>{one.trace.output.norm():.2f}</b>" in one._facts.value
    assert ", ".join(f"{gate:g}" for gate in one.gates) in one._summary()


def wrong_gates(one) -> list:
    heads_wrong = indivisible(one) or beyond(one.H, 1, 8)
    return [
        *beyond(one.T, 1, 128), *([one.d_model] if one.d_model > 1024 else heads_wrong),
        *(beyond(len(one.gates), one.H, one.H)),
        *(gate for gate in one.gates if not 0 <= gate <= 1),
        *([] if one.show in ("values", "change") else [one.show]),
    ]  # fmt: skip


def page_gates(one):
    def drag(i):
        one._sliders[i].set_state({"value": 0.35 if one._sliders[i].value == 0 else 0.0})

    visible = [i for i, s in enumerate(one._sliders) if s.layout.display != "none"]
    # all presets and gates are always listed, so that a press has the same meaning when replayed
    presets = [b for box in one.children[1].children[0].children[8:] for b in box.children]
    return ([lambda i=i: drag(i) for i in visible] + [lambda b=b: click(b) for b in presets]
            + [lambda b=b: click(b) for b in one._fixes])  # fmt: skip


def agree_playground(one):
    for side in (one.left, one.right):
        if not wrong_multi_head(side):
            agree_multi_head(side)
            assert side.error is None and side._note.kind != "problem"
        else:
            assert side.trace is None and side._note.kind == "problem"
    if one.same_sentence:
        assert one.left.sentence == one.right.sentence
    drawn = [not wrong_multi_head(side) for side in (one.left, one.right)]
    assert (one.comparison is not None) == all(drawn)
    if all(drawn):
        sides = (one.left, one.right)
        assert one.comparison["parameters"] == tuple(4 * side.d_model**2 for side in sides)
        assert one.comparison["maps"] == tuple((side.H, side.T, side.T) for side in sides)
        assert one.pair.frame["rows"][0][:2] == [f"{4 * side.d_model**2:,}" for side in sides]
        for side in sides:
            assert f"d_model {side.d_model}, H {side.H}, T {side.T}" in one._summary()
    else:
        assert all(row == ["–"] * 3 for row in one.pair.frame["rows"])


LAYERS = {
    explorers.MultiHeadExplorer: MULTI_HEAD,
    explorers.ShapeExplorer: Moves(
        {"T": TOKENS, "d_model": WIDTHS, "H": HEADS},
        {"_T": "T", "_d_model": "d_model", "_H": "H", "_typed_H": "H"},
        lambda one: [*beyond(one.T, 1, 128),
                     *([one.d_model] if one.d_model > 1024 else indivisible(one))],
        agree_shapes, ("trace", "parameters", "flops"), buttons_of("_fixes"),
    ),
    explorers.HeadGates: Moves(
        {"T": TOKENS, "d_model": WIDTHS, "H": HEADS,
         "gates": choice([[1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.33, 1.0], [0.5], [0.0, 2.0],
                          [math.nan] * 4, [1.0, 0.0]]),
         "show": choice(["values", "change", "nothing"])},
        {"_T": "T", "_d_model": "d_model", "_H": "H", "_typed_H": "H", "_show": "show"},
        wrong_gates, agree_gates, ("trace", "full", "terms", "lengths", "shares"), page_gates,
    ),
    explorers.Playground: Moves(
        {"same_sentence": st.booleans()}, {"_same": "same_sentence"},
        lambda one: [], agree_playground, (),
        lambda one: [lambda b=b: click(b) for side in one._sides for b in side._fixes],
        lambda same_sentence=True: explorers.Playground(same_sentence=same_sentence),
        after=("pair",),
    ),
}  # fmt: skip
