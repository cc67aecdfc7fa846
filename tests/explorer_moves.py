"""What a reader can do to each explorer, legal or not, and what must then be true of its numbers.

For each class a `Moves`: values for every trait (a reader's, or code's), which control sets which
trait, which state cannot be drawn, and a check of the picture against numbers computed here.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

import torch
from hypothesis import strategies as st

from helpers import explorers, graphs, heads, toy
from helpers.encoder import load_encoder
from helpers.encoder.encoder import Encoder
from helpers.explorers.graphs import words_of
from helpers.treebank import own_sentences

ROUGHLY = {"atol": 1e-5, "rtol": 1e-4}
SENTENCES = st.sampled_from(
    ["The bank by the river issued a statement.", "two words", "a a a", "", "  ",
     "<b>bold</b> $x$ {name}", "Gracias 漢字 😀", "w " * 20]
)  # fmt: skip
WIDTHS = st.sampled_from([16, 64, 97, 6, 1, 12, 0, -3, 2000, 10**6])
HEADS = st.sampled_from([1, 2, 3, 4, 5, 8, 16, 97, 0, -1, 300])
TOKENS = st.sampled_from([1, 2, 5, 9, 12, 0, -2, 129, 4000])


@dataclass(frozen=True)
class Moves:
    values: dict[str, st.SearchStrategy]
    controls: dict[str, str]  # attribute, or attribute.place, of the control -> trait
    wrong: Callable[[object], list]  # what cannot be drawn in this state; [] when all can
    agree: Callable[[object], None]  # asserts about the numbers of a legal state
    drawn: tuple[str, ...]  # attributes that are empty where nothing is drawn
    buttons: Callable[[object], list] = lambda explorer: []  # callables: presses
    make: Callable[..., object] | None = None
    after: tuple[str, ...] = field(default=())  # frames that depend on more than the state


@cache
def small_encoder() -> Encoder:
    """The real encoder's layers and tokenizer, narrow and random: 6 layers of 3 heads."""
    real = load_encoder()
    narrow = replace(real.config, d_model=12, num_heads=3, d_ff=24, init_std=0.6)
    return Encoder(narrow, real.tokenizer).untrained(1)


def with_encoder(cls):
    return lambda **state: cls(encoder=small_encoder(), **state)


def part(explorer, path: str):
    name, _, place = path.partition(".")
    found = getattr(explorer, name)
    return found[int(place) if place.isdigit() else place] if place else found


def shown(view) -> torch.Tensor:
    """The maps as the page gets them, from the bytes that travel."""
    frame = view.frame
    return torch.frombuffer(bytearray(frame["weights"]), dtype=torch.float32).view(*frame["shape"])


def same(one, other) -> None:
    torch.testing.assert_close(torch.as_tensor(one), torch.as_tensor(other), **ROUGHLY)


def click(button):
    """A press as it comes from the page; hidden buttons cannot be pressed."""
    if button.layout.display != "none" and not button.disabled:
        button._handle_custom_msg({"event": "click"}, [])


def buttons_of(*paths):
    return lambda explorer: [
        lambda b=b: click(b)
        for path in paths
        for b in (part(explorer, path) if path.endswith("s") else [part(explorer, path)])
    ]


def indivisible(one) -> list:
    if one.d_model < 1:
        return [one.d_model]
    return [one.H] if one.H < 1 or one.d_model % one.H else []


def beyond(value, low, high) -> list:
    return [] if low <= value <= high else [value]


# Attention by hand, head by head: its own rows of W_Q and W_K, its own softmax ------------


def head_by_hand(layer, X, i, temperature=1.0, allowed=None):
    own = slice(i * layer.d_k, (i + 1) * layer.d_k)
    scores = (X @ layer.W_Q.weight[own].T) @ (X @ layer.W_K.weight[own].T).T
    scores = scores / layer.d_k**0.5 / temperature
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0)


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
    assert f"d_model {d_model}, H {H}, d_k {layer.d_k}, T {T}." in summary
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
    from helpers.reshaping.routes import STEPS

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


def agree_encoder(one):
    encoding = small_encoder().encode(one.sentence, max_tokens=256)
    keep = [i for i, token in enumerate(encoding.tokens)
            if not (one.hide_special and token.is_special)]  # fmt: skip
    assert one.tokens == [encoding.labels[i] for i in keep]
    weights = encoding.weights.flatten(0, 1)[:, keep][:, :, keep]
    same(encoding.weights.sum(-1), torch.ones(encoding.weights.shape[:-1]))
    if one.hide_special and one.rescale:
        weights = weights / weights.sum(-1, keepdim=True)
    same(one.weights, weights)
    assert torch.equal(shown(one.maps), one.weights)
    assert one.maps.selected == (one.layer - 1) * 3 + one.head - 1
    if one.query in one.tokens and one.key in one.tokens:
        assert one.maps.pointed == [one.tokens.index(one.query), one.tokens.index(one.key)]
        assert f"L{one.layer}-H{one.head}" in one._summary()
    assert f"T {len(keep)}" in one._summary() and one._rescale.disabled == (not one.hide_special)


def wrong_encoder(one) -> list:
    return [*beyond(one.layer, 1, 6), *beyond(one.head, 1, 3),
            *([] if one.sentence.strip() else [""])]  # fmt: skip


def press_head(name: str, count: int):
    """The page presses cell `i` of the grid; the second number makes every press another."""

    def presses(one):
        grid = getattr(one, name)
        return [
            lambda i=i: grid.set_state({"pressed": [i, grid.pressed[1] + 1]}) for i in range(count)
        ]

    return presses


@cache
def measured():
    texts = [sentence.text for sentence in few_sentences()]
    return heads.measure(small_encoder().encode_batch(texts))


@cache
def few_sentences():
    return own_sentences()[:6]


def agree_roles(one):
    numbers = measured()[one.measure]
    same(one.measured[one.measure], numbers)
    cells = one.grid.frame["cells"]
    assert [cell["number"] for cell in cells] == [f"{n:.2f}" for n in numbers.flatten().tolist()]
    assert one.grid.frame["selected"] == (one.layer - 1) * 3 + one.head - 1
    number = f"{numbers[one.layer - 1, one.head - 1]:.2f}"
    assert f"L{one.layer}-H{one.head}" in one.reading() and number in one._summary()


def agree_board(one):
    score = one.score
    attended = heads.most_attended(small_encoder(), few_sentences())
    for_relation = heads.relation_score(
        few_sentences(), attended, one.relation, one.direction, attended
    )
    same(score.accuracy, for_relation.accuracy)
    assert score.relation == one.relation and score.count == for_relation.count
    cells = [f"{100 * a:.0f}" for a in score.accuracy.flatten().tolist()]
    assert [cell["number"] for cell in one.grid.frame["cells"]] == cells
    assert all(row[0] in one._table.value for row in one.rows if "−" not in row[0])
    assert f"L{score.best[0] + 1}-H{score.best[1] + 1}" in one._summary()


def wrong_board(one) -> list:
    if one.path:
        return [one.path, one.direction]
    counted = {r.partition(":")[0] for s in few_sentences() for r in s.relations} - {"root"}
    return [
        *([] if one.direction in heads.DIRECTIONS else [one.direction]),
        *([] if one.relation in counted else [one.relation]),
    ]  # fmt: skip


def agree_live_gates(one):
    gates = torch.ones(6, 3)
    for layer, head in one.off:
        gates[layer - 1, head - 1] = 0
    vectors = [
        torch.stack([e.sentence_vector for e in
                     small_encoder().encode_batch([one.first, one.second], g, max_tokens=256)])
        for g in (None, gates)
    ]  # fmt: skip
    same([one.whole, one.similarity], [float(v[0] @ v[1]) for v in vectors])
    same(one.moved, (1 - (vectors[0] * vectors[1]).sum(-1)).clamp(min=0))
    assert [cell["on"] for cell in one.grid.frame["cells"]] == gates.bool().flatten().tolist()
    assert f"<b>{one.similarity:.3f}</b>" in one._facts.value
    assert f"{one.similarity:.3f}" in one._summary()


def wrong_live_gates(one) -> list:
    bad = [pair for pair in one.off
           if len(pair) != 2 or not (1 <= pair[0] <= 6 and 1 <= pair[1] <= 3)]  # fmt: skip
    named = bad[0] if bad and len(bad[0]) == 2 else [0, 0]
    return (named if bad else []) + ([] if one.first.strip() and one.second.strip() else [""])


def agree_graphs(one):
    words = words_of(small_encoder(), one.sentence)
    keep = [i for i, special in enumerate(words.special) if not (special and one.hide_special)]
    for head, graph in zip(one.heads, one.graphs, strict=True):
        weights = words.weights[one.layer - 1, head - 1][keep][:, keep]
        by_hand = {tuple(edge) for edge in ((weights >= one.threshold) & (weights > 0))
                   .nonzero().tolist()}  # fmt: skip
        assert set(graph.edges) == by_hand
    edges = set(chain.from_iterable(graph.edges for graph in one.graphs))
    assert set(one.union.edges) == edges
    assert [line[0] for line in one.view.frame["table"][1:]] == [words.labels[i] for i in keep]
    assert graphs.out_degrees(one.union) == [int(line[1]) for line in one.view.frame["table"][1:]]
    assert f"{one.threshold:.2f}" in one._summary() and f"<b>{len(edges)}</b>" in one._facts.value


def wrong_graphs(one) -> list:
    heads_wrong = [head for head in one.heads if not 1 <= head <= 3]
    twice = [head for head in one.heads if one.heads.count(head) > 1]
    long = len(one.sentence.split()) > 22 or one.sentence.startswith("w w")
    nothing = not one.heads or not one.sentence.strip()
    return [*heads_wrong, *twice, *beyond(one.layer, 1, 6),
            *([] if 0 <= one.threshold <= 1 else [f"{one.threshold:g}"]),
            *([""] if nothing or long and len(one.sentence.split()) > 22 else [])]  # fmt: skip


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


choice = st.sampled_from
MOVES = {
    explorers.MultiHeadExplorer: MULTI_HEAD,
    explorers.ShapeExplorer: Moves(
        {"T": TOKENS, "d_model": WIDTHS, "H": HEADS},
        {"_T": "T", "_d_model": "d_model", "_H": "H", "_typed_H": "H"},
        lambda one: [*beyond(one.T, 1, 128),
                     *([one.d_model] if one.d_model > 1024 else indivisible(one))],
        agree_shapes, ("trace", "parameters", "flops"), buttons_of("_fixes"),
    ),
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
    explorers.HeadGates: Moves(
        {"T": TOKENS, "d_model": WIDTHS, "H": HEADS,
         "gates": choice([[1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.33, 1.0], [0.5], [0.0, 2.0],
                          [math.nan] * 4, [1.0, 0.0]]),
         "show": choice(["values", "change", "nothing"])},
        {"_T": "T", "_d_model": "d_model", "_H": "H", "_typed_H": "H", "_show": "show"},
        wrong_gates, agree_gates, ("trace", "full", "terms", "lengths", "shares"), page_gates,
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
    explorers.EncoderExplorer: Moves(
        {"sentence": SENTENCES, "layer": choice([1, 6, 0, 7]), "head": choice([1, 3, 0, 4]),
         "hide_special": st.booleans(), "rescale": st.booleans(),
         "query": choice(["", "bank", "words", "no such"]), "key": choice(["", "river", "two"])},
        {"_sentence": "sentence", "_hide": "hide_special", "_rescale": "rescale"},
        wrong_encoder, agree_encoder, ("weights", "encoding"),
        lambda one: [lambda i=i: one.maps.set_state({"selected": i}) for i in (0, 5, 17)],
        with_encoder(explorers.EncoderExplorer),
    ),
    explorers.HeadRoles: Moves(
        {"measure": choice([*heads.MEASURES, "no such"]), "layer": choice([1, 6, 0, 7]),
         "head": choice([1, 3, 0, 4])},
        {"_measure": "measure"},
        lambda one: [*beyond(one.layer, 1, 6), *beyond(one.head, 1, 3),
                     *([] if one.measure in heads.MEASURES else [one.measure])],
        agree_roles, ("measured",), press_head("grid", 18), with_encoder(explorers.HeadRoles),
    ),
    explorers.RelationBoard: Moves(
        {"relation": choice(["obj", "det", "nsubj", "nothing"]),
         "direction": choice([*heads.DIRECTIONS, "up"]),
         "path": choice(["", "", "no such file.conllu"])},
        {"_relation": "relation", "_direction": "direction", "_path": "path"},
        wrong_board, agree_board, ("score",), press_head("grid", 18),
        with_encoder(explorers.RelationBoard), after=("grid",),
    ),
    explorers.LiveGates: Moves(
        {"first": SENTENCES, "second": SENTENCES,
         "off": choice([[], [[1, 3]], [[1, 1], [1, 2], [1, 3]], [[7, 1]], [[1, 9]], [[2]]])},
        {"_first": "first", "_second": "second"},
        wrong_live_gates, agree_live_gates, ("similarity", "whole", "moved"),
        lambda one: press_head("grid", 18)(one) + [
            lambda b=b: click(b) for b in (one._all, *one._layers)],
        with_encoder(explorers.LiveGates),
    ),
    explorers.HeadGraphExplorer: Moves(
        {"sentence": st.one_of(SENTENCES, choice(["word " * 30])), "layer": choice([1, 6, 0, 7]),
         "heads": choice([[1], [1, 2], [1, 2, 3], [], [2, 2], [9]]),
         "threshold": choice([0.0, 0.1, 0.5, 1.0, 1.5, -0.1, math.nan]),
         "hide_special": st.booleans()},
        {"_typed": "sentence", "_layer": "layer", "_threshold": "threshold",
         "_hide": "hide_special"},
        wrong_graphs, agree_graphs, ("graphs", "union", "overlap", "match"),
        press_head("view", 3),
        lambda **state: explorers.HeadGraphExplorer(
            encoder=small_encoder(), **({"heads": [1, 2]} | state)),
    ),
    explorers.Playground: Moves(
        {"same_sentence": st.booleans()}, {"_same": "same_sentence"},
        lambda one: [], agree_playground, (),
        lambda one: [lambda b=b: click(b) for side in one._sides for b in side._fixes],
        lambda same_sentence=True: explorers.Playground(same_sentence=same_sentence),
        after=("pair",),
    ),
}  # fmt: skip
