"""One question each: masks, one row of weights, large scores, view and transpose, training."""

import math
from itertools import chain

import torch

from helpers import explorers, toy
from helpers.reshaping.routes import STEPS

from .base import Moves, beyond, choice, click, head_by_hand, indivisible, same, shown


def agree_masks(one):
    T, b = 6, one.sequence - 1
    lengths = (one.length_1, one.length_2)
    allowed = torch.ones(2, T, T, dtype=torch.bool)
    for n, q, k in torch.cartesian_prod(torch.arange(2), torch.arange(T), torch.arange(T)).tolist():
        real = k < lengths[n] if one.side == "right" else k >= T - lengths[n]
        hidden = one.mask in ("causal", "both") and k > q
        hidden |= one.mask in ("padding", "both") and not real
        allowed[n, q, k] = not (hidden or q == one.empty - 1)
    assert torch.equal(one.allowed, allowed)
    assert one.weights.shape == (2, 3, T, T)
    assert not one.weights.masked_select(~allowed[:, None].expand(2, 3, T, T)).any()
    same(one.weights.sum(-1), allowed.any(-1).float()[:, None].expand(2, 3, T))
    layer, X = toy.layer(12, 3, 0), toy.embed(one.tokens, 12, 0)[0]
    for i in range(3):
        same(one.weights[b, i], head_by_hand(layer, X, i, 1.0, allowed[b]))
    assert torch.equal(shown(one.maps), one.weights[b])
    assert one.tokens.count("[PAD]") == T - lengths[b]
    assert one.grid.frame["allowed"] == allowed[b].int().tolist()
    assert all(torch.equal(way.isnan(), way.isnan()) and way.shape == (T, T)
               for way in one.ways.values())  # fmt: skip
    assert torch.equal(next(iter(one.ways.values())), one.weights[b, one.maps.selected])
    assert f"{int(allowed[b].sum())}" in one.message and one.message in one._summary()


def wrong_masks(one) -> list:
    choices = [c for c, known in ((one.mask, ("none", "causal", "padding", "both")),
                                  (one.side, ("right", "left"))) if c not in known]  # fmt: skip
    bounds = ((one.sequence, 1, 2), (one.length_1, 1, 6), (one.length_2, 1, 6), (one.empty, 0, 6))
    return choices + list(chain.from_iterable(beyond(*bound) for bound in bounds))


def agree_budget(one):
    scores = torch.zeros(9)
    scores[4], scores[5] = one.river, one.issued
    same(one.weights, scores.softmax(-1))
    same(one.bars.frame["series"][0]["values"], one.weights)
    assert f"{one.weights[4]:.2f}" in one.message and f"{one.weights[5]:.2f}" in one.message


def agree_saturation(one):
    generator = torch.Generator().manual_seed(one.seed)
    q = torch.randn(400, 1, 256, generator=generator)[..., : one.d_k]
    k = torch.randn(400, 16, 256, generator=generator)[..., : one.d_k]
    products = (q * k).sum(-1)
    rows = {"scaled": products / one.d_k**0.5, "unscaled": products}
    for name, scores in rows.items():
        w = scores.softmax(-1)
        same(one.entropy[name], -(w * w.clamp(min=1e-30).log()).sum(-1).mean().item())
        assert f"{one.entropy[name]:.2f}" in one.message
    same(one.variance, products.var().item())
    assert f"d_k = {one.d_k}." in one.message
    for series in one.bars.frame["series"]:
        same(sum(series["values"]), 1.0)


def agree_reshape(one):
    T, H, d_k = one.T, one.H, one.d_model // one.H
    start = torch.arange(T * one.d_model)
    right, straight = start.view(T, H, d_k).transpose(0, 1), start.view(H, T, d_k)
    split = right if one.route == "merge" else straight
    merged = [x.reshape(T, -1) if turn else x.transpose(0, 1).reshape(T, -1)
              for x, turn in ((right, False), (split, one.route != "split"))]  # fmt: skip
    wanted = {"linear": 0, "transpose": int((split != right).sum()),
              "heads": int((split != right).sum()),
              "merge": int((merged[0] != merged[1]).sum())}  # fmt: skip
    if one.step in wanted:
        assert one.differ == wanted[one.step], (one.step, one.differ, wanted)
        marked = sum(cell["marked"] for cell in one.cells.frame["panels"][1]["cells"])
        assert marked == one.differ or one.cells.frame["panels"][1]["left_out"]
    size = 16 if one.map_sizes == "lesson" else T
    assert all(depends.shape == (size, size) for depends in one.dependency.values())
    assert one.dependency["right"].all()
    assert len(one.map_view.frame["maps"]) == 4
    for n in (f"{T}", f"{H}", f"{one.d_model}"):
        assert n in one._summary()


def wrong_reshape(one) -> list:
    choices = ((one.step, STEPS), (one.route, ("both", "split", "merge")),
               (one.map_sizes, ("lesson", "present")))  # fmt: skip
    return [
        *beyond(one.T, 1, 8), *([one.d_model] if one.d_model > 12 else indivisible(one)),
        *(choice for choice, known in choices if choice not in known),
    ]  # fmt: skip


def agree_training(one):
    assert [(r.num_heads, r.d_model, r.seed, r.steps) for r in one.runs] == [
        (H, d, seed, one.steps) for seed in range(one.seeds)
        for H, d in ((1, 64), (2, 64), (1, 128))
    ]  # fmt: skip
    results, frame = one.results(), one.curves.frame
    for series, kind in zip(frame["series"], ((1, 64), (2, 64), (1, 128)), strict=True):
        curves = [[[step, round(y, 4)] for step, y in run.curve] for run in results[kind]]
        assert series["curves"] == curves
    taken = sum(run.curve[-1][0] for run in one.runs if run.curve)
    assert frame["done"] == round(taken / one.steps / len(one.runs), 4)
    assert one._button.disabled == one.done and not one.running
    if one.done:
        assert all(f"{run.right:.2f}" in one.message or one.seeds > 2 for run in one.runs)
    assert f"{one.steps}" in one._summary()


TOPICS = {
    explorers.MaskExplorer: Moves(
        {"mask": choice(["none", "causal", "padding", "both", "diagonal"]),
         "sequence": choice([1, 2, 3, 0]), "length_1": choice([1, 4, 6, 0, 7]),
         "length_2": choice([1, 3, 6, -1, 9]), "side": choice(["right", "left", "middle"]),
         "empty": choice([0, 1, 3, 6, 7])},
        {"_mask": "mask", "_sequence": "sequence", "_lengths.0": "length_1",
         "_lengths.1": "length_2", "_side": "side", "_empty": "empty"},
        wrong_masks, agree_masks, ("weights", "mask_tensor", "allowed", "tokens", "ways"),
        lambda one: [lambda i=i: one.maps.set_state({"selected": i}) for i in range(3)],
        after=("grid",),
    ),
    explorers.AttentionBudget: Moves(
        {name: choice([2.0, -4.0, 8.0, 0.0, 30.0, -9.0, math.nan, math.inf])
         for name in ("river", "issued")},
        {"_sliders.river": "river", "_sliders.issued": "issued"},
        lambda one: [x for x in (one.river, one.issued) if not math.isfinite(x)],
        agree_budget, ("weights",),
    ),
    explorers.SoftmaxSaturation: Moves(
        {"d_k": choice([1, 3, 64, 256, 0, -1, 300]), "seed": choice([0, 5, 54321, -1, 2**31])},
        {"_d_k": "d_k", "_seed": "seed"},
        lambda one: [*beyond(one.d_k, 1, 256), *beyond(one.seed, 0, 2**31 - 1)],
        agree_saturation, ("variance", "entropy"),
    ),
    explorers.ReshapeLab: Moves(
        {"T": choice([1, 2, 4, 8, 0, 9]), "d_model": choice([1, 6, 7, 12, 0, 13]),
         "H": choice([1, 2, 3, 4, 7, 0, 5]), "route": choice(["both", "split", "merge", "none"]),
         "step": choice(["linear", "view", "transpose", "scores", "merge", "heads", "nowhere"]),
         "map_sizes": choice(["lesson", "present", "huge"])},
        {"_T": "T", "_d_model": "d_model", "_H": "H", "_typed_H": "H", "_route": "route",
         "_step": "step", "_maps": "map_sizes"},
        wrong_reshape, agree_reshape, ("right", "wrong", "differ", "dependency"),
        lambda one: [lambda b=b: click(b) for b in (one._back, one._next, *one._fixes)],
    ),
    explorers.TrainingRuns: Moves(
        {"seeds": choice([1, 2, 0, 9]), "steps": choice([10, 20, 5, 1001])},
        {"_seeds": "seeds", "_steps": "steps"},
        lambda one: [*beyond(one.seeds, 1, 8), *beyond(one.steps, 10, 1000)],
        agree_training, ("runs",),
        lambda one: [lambda: one.runs and one._work(), lambda: click(one._again),
                     lambda: click(one._button), one.finish],
        lambda **state: explorers.TrainingRuns(**({"seeds": 1, "steps": 10} | state)),
        after=("curves",),
    ),
}  # fmt: skip
