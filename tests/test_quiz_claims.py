"""What the questions of the quizzes for lesson 01 and for the whole course claim is so.

For the whole course the right answers are worked out and then compared with the key.
"""

import math
from itertools import product

import pytest
import torch

from helpers import texts
from helpers.attention import MultiHeadAttention, merge_heads, split_heads
from helpers.quiz.marking import load_questions


def test_c06_c38_claims_about_the_scale():
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(200, 16, 64, generator=generator) for _ in range(2))
    scores = q @ k.transpose(1, 2)
    assert scores.var().item() == pytest.approx(64, rel=0.05)  # q5
    assert (scores / 8).var().item() == pytest.approx(1, rel=0.05)

    def entropy(divisor):
        weights = torch.softmax(scores / divisor, dim=-1)
        return -(weights * weights.clamp_min(1e-30).log()).sum(-1).mean().item()

    unscaled, by_root, by_model, by_width = (entropy(d) for d in (1, 8, 512**0.5, 64))
    assert unscaled < by_root < by_model < by_width  # q1: sharper; flatter; flatter still


def test_c12_c38_claims_about_softmax_and_masks():
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(1))
    columns = torch.softmax(scores, dim=-2)
    assert columns.sum(-1).max() > 1.05 and columns.sum(-1).min() < 0.95  # q2
    equal = torch.zeros(4, 4)
    assert torch.equal(torch.softmax(equal, 0), torch.softmax(equal, 1))
    late = torch.softmax(scores, dim=-1)
    late[2, 4] = 0
    early = scores.clone()
    early[2, 4] = float("-inf")
    early = torch.softmax(early, dim=-1)
    assert late[2].sum() < 0.999 and early[2].sum() == pytest.approx(1)  # q3
    visible = [0, 1, 2, 3, 5]
    assert (late[2, visible] < early[2, visible]).all()
    assert not late.isnan().any()
    assert torch.full((3,), float("-inf")).softmax(0).isnan().all()


def test_c38_claims_about_the_encoder():
    from helpers.encoder import load_encoder

    encoding = load_encoder().encode("The bank by the river issued a statement.")
    labels, layer = encoding.labels, encoding.weights[0]
    bank, river, issued = (labels.index(word) for word in ("bank", "river", "issued"))
    assert layer.shape[0] == 12
    assert round(layer[4, bank, river].item(), 2) == 0.67
    assert round(layer[3, bank, issued].item(), 2) == 0.25
    mean = layer.mean(0)
    assert round(mean[bank, river].item(), 2) == 0.15
    assert round(mean[bank, issued].item(), 2) == 0.08


# The whole course -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def asked():
    """The questions of quiz 10 in English, by their ids."""
    before = texts.current_language()
    texts.set_language("en")
    found = {question.id: question for question in load_questions("10")}
    texts.set_language(before)
    return found


def numbers(question) -> dict[str, float]:
    assert question.kind == "numeric"
    return {"right": question.right[0], **question.known_wrong}


def chosen(question, is_so) -> bool:
    """Whether the key holds exactly the options whose text `is_so`."""
    return {o for o, text in question.options.items() if is_so(text)} == set(question.right)


def code(text: str) -> str:
    return text.strip("`")


def normal(*shape, seed=0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def course_layer(d_model, num_heads, seed=0) -> MultiHeadAttention:
    generator = torch.Generator().manual_seed(seed)
    return MultiHeadAttention(d_model, num_heads, generator=generator).requires_grad_(False)


def test_c38_there_are_three_questions_on_each_lesson(asked):
    lessons = [question.lesson for question in asked.values()]
    assert lessons == [f"{n:02d}" for n in range(1, 10) for _ in range(3)]
    assert list(asked) == [f"q{i}" for i in range(1, 28)]
    kinds = [question.kind for question in asked.values()]
    assert [kinds.count(kind) for kind in ("single", "several", "numeric")] == [14, 6, 7]
    singles = [q for q in asked.values() if q.kind == "single"]
    for places in (
        ["abcd".index(q.right[0]) for q in singles],
        [list(q.options).index(q.right[0]) for q in singles],
    ):
        assert {places.count(i) for i in range(4)} == {3, 4}


def test_c38_claims_about_one_head(asked):
    V = torch.tensor([10.0, 20, 30])
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.3, 0.3, 0.4]])
    output = weights @ V
    mixed = {"right": output[1], "column": weights[:, 1] @ V, "first_row": output[0]}
    mixed |= {"largest": V[weights[1].argmax()], "mean": V.mean()}
    assert numbers(asked["q1"]) == {name: pytest.approx(float(v)) for name, v in mixed.items()}

    row = torch.tensor([1.0, 3, 2])
    before, after = row.softmax(0), (row + 10).softmax(0)
    assert torch.allclose(before, after, atol=1e-6)
    assert [round(w, 2) for w in before.tolist()] == [0.09, 0.67, 0.24]
    assert (10 * row).softmax(0)[1] > 0.99
    assert chosen(asked["q2"], lambda text: "stay exactly" in text)

    lines = [code(text) for text in asked["q3"].options.values()]
    order = ["Q, K, V =", "scores =", "weights =", "output ="]
    lines.sort(key=lambda line: [line.startswith(start) for start in order].index(True))
    found = {"X": normal(9, 512)}
    found |= {f"W_{x}": normal(512, 64, seed=i) / 512**0.5 for i, x in enumerate("QKV", 1)}
    exec("\n".join(lines), found)
    assert [found[x].shape for x in ("Q", "weights", "output")] == [(9, 64), (9, 9), (9, 64)]
    ratio = found["scores"] / (found["Q"] @ found["K"].T / 64**0.5)
    assert torch.allclose(ratio, torch.full((9, 9), 8 / 3), atol=1e-2)  # 2.7 times too far
    assert torch.allclose(found["weights"].sum(-1), torch.ones(9))
    assert chosen(asked["q3"], lambda text: "shape[0]" in text)


def test_c38_claims_about_heads_and_projections(asked):
    X, W = normal(6, 16), normal(4, 16, 4, seed=1)
    changed = X.clone()
    changed[2, 5] += 1
    moved = (X @ W != changed @ W).any(-1)  # (H, T)
    assert moved.all(0).tolist() == moved.any(0).tolist() == [i == 2 for i in range(6)]
    assert chosen(asked["q4"], lambda text: text == "in all four heads, for token 2 only")

    d_model, H = 768, 12
    d_k = d_model // H
    sizes = {"right": d_model * d_k, "slice": d_k * d_k, "all_heads": d_model**2, "width": d_k}
    sizes |= {"heads": d_model * H, "all_three": 3 * d_model * d_k}
    assert numbers(asked["q5"]) == sizes
    assert course_layer(d_model, H).W_Q.weight.numel() == H * sizes["right"]

    few, many = (course_layer(512, H).trace(normal(1, 10, 512)) for H in (8, 16))
    changes = {
        "the shape of one head's scores": few.scores[0, 0].shape != many.scores[0, 0].shape,
        "the shape of one head's queries": few.Q_heads[0, 0].shape != many.Q_heads[0, 0].shape,
        "the number that divides the scores": few.Q_heads.shape[-1] != many.Q_heads.shape[-1],
        "the shape of W_O": few.concat.shape[-1] != many.concat.shape[-1],
    }
    assert chosen(asked["q6"], changes.get)
    assert many.Q_heads[0, 0].shape == (10, 32) and round(32**0.5, 2) == 5.66


def test_c38_claims_about_view_and_transpose(asked):
    linear, X = torch.nn.Linear(512, 512, bias=False).requires_grad_(False), normal(1, 3, 512)
    Q_2 = split_heads(linear(X), 8)[0, 2]  # (T, d_k)

    def makes_head_2(text):
        part = eval(code(text), {"weight": linear.weight})
        return part.shape == (64, 512) and torch.allclose(X[0] @ part.T, Q_2, atol=1e-5)

    assert chosen(asked["q7"], makes_head_2)

    x = torch.zeros(1, 4, 6)
    y = x.view(1, 4, 2, 3).transpose(1, 2)
    y[0, 1, 0, 0] = 100
    assert x.nonzero().tolist() == [[0, 0, 3]] and not y.is_contiguous()
    assert chosen(asked["q8"], lambda text: text.startswith("`x[0, 0, 3]`"))

    x = torch.arange(2 * 10 * 512).view(2, 10, 512)
    y = x.transpose(1, 2)

    def copies(text):
        return eval(code(text), {"y": y}).data_ptr() != x.data_ptr()

    assert chosen(asked["q9"], copies)
    assert y.stride() == (5120, 1, 512) and x.contiguous().data_ptr() == x.data_ptr()
    assert y.view(2, 8, 64, 10).stride()[1:3] == (64, 1)
    with pytest.raises(RuntimeError):
        y.view(2, 5120)


def test_c38_claims_about_the_output_projection(asked):
    W_O, d_k = torch.empty(512, 512), 512 // 8
    met = {"right": W_O[3 * d_k : 4 * d_k].numel(), "own_columns": d_k * d_k}
    met |= {"whole": W_O.numel(), "rows": d_k, "one_row": W_O[0].numel()}
    assert numbers(asked["q10"]) == met

    layer, X = course_layer(16, 4), normal(1, 6, 16)
    blocks = layer.W_O.weight.T.view(4, 4, 16)
    full, gated = layer.trace(X), layer.trace(X, gates=torch.tensor([1, 0.5, 1, 1]))
    terms, now = (trace.heads[0] @ blocks for trace in (full, gated))  # (H, T, d_model)
    halves = torch.tensor([1, 0.5, 1, 1])[:, None, None]
    assert torch.equal(full.weights, gated.weights) and torch.allclose(now, terms * halves)
    assert gated.output.norm() > 0.6 * full.output.norm()
    assert torch.allclose(full.output - gated.output, terms[1] / 2, atol=1e-6)
    assert chosen(asked["q11"], lambda text: "map stays" in text)

    W_O, reverse = layer.W_O.weight.T, merge_heads(full.heads.flip(1))
    ways = {
        "Put its four blocks of rows in reverse order.": blocks.flip(0).reshape(16, 16),
        "Put its four blocks of columns in reverse order.": W_O.view(16, 4, 4)
        .flip(1)
        .reshape(16, 16),
        "Put all of its rows in reverse order, one by one.": W_O.flip(0),
        "Nothing: the order of the terms of a sum is free.": W_O,
    }
    same = {text: torch.allclose(reverse @ W, full.output, atol=1e-5) for text, W in ways.items()}
    assert chosen(asked["q12"], same.get)


def test_c38_claims_about_the_batched_layer(asked):
    weights = normal(2, 8, 16, 16).softmax(dim=1)
    assert weights.shape == (2, 8, 16, 16)
    assert torch.allclose(weights.sum(1), torch.ones(2, 16, 16))
    assert weights.sum(-1).mean().item() == pytest.approx(2)
    assert not torch.allclose(weights.sum(-1), torch.full((2, 8, 16), 2.0), atol=0.1)
    assert chosen(asked["q13"], lambda text: text.startswith("the H weights"))

    layer, X = torch.nn.MultiheadAttention(64, 8, batch_first=True), normal(2, 10, 64)
    mean, each = (layer(X, X, X, average_attn_weights=a)[1] for a in (True, False))
    assert torch.equal(layer(X, X, X)[1], mean)
    assert mean.shape == (2, 10, 10) and each.shape == (2, 8, 10, 10)
    assert torch.allclose(mean[0], each[0].mean(0), atol=1e-6)
    assert chosen(asked["q14"], lambda text: text == "the mean of all 8 heads, first sequence")


def test_c10_c38_claims_about_masks_of_two_layers(asked):
    from helpers.reshaping.dependency import dependency_map

    causal = torch.ones(5, 5).tril()

    def looks_ahead(first, second, num_heads=1):
        below, above = (course_layer(16, num_heads, seed) for seed in (1, 2))
        depends = dependency_map(lambda X: above(below(X.float(), first), second), 5, 16)
        return depends[0, 4].item()

    ahead = {
        "first layer causal, second layer causal": looks_ahead(causal, causal),
        "first layer without a mask, second layer causal": looks_ahead(None, causal),
        "first layer causal, second layer without a mask": looks_ahead(causal, None),
        "both layers causal, each with 4 heads instead of 1": looks_ahead(causal, causal, 4),
    }
    assert chosen(asked["q15"], ahead.get)


def test_c38_claims_about_what_a_change_does(asked):
    layer, X = course_layer(64, 8), normal(1, 6, 64)
    changed = X.clone()
    changed[0, 2] = normal(64, seed=7)
    before, after = layer.trace(X), layer.trace(changed)
    scores = int(((before.scores - after.scores).abs() > 1e-5)[0, 0].sum())
    weights = int(((before.weights - after.weights).abs() > 1e-7)[0, 0].sum())
    cells = {"right": scores, "row": 6, "twice": 12, "all_cells": weights}
    assert numbers(asked["q16"]) == cells | {"unchanged": 36 - scores, "diagonal": 1}

    turned = layer.trace(X.flip(1))
    assert torch.allclose(turned.output, before.output.flip(1), atol=1e-5)
    assert torch.allclose(turned.weights, before.weights.flip(2, 3), atol=1e-6)
    assert not torch.allclose(turned.output, before.output, atol=0.1)
    assert chosen(asked["q17"], lambda text: "same rows as before" in text)

    layers = [course_layer(64, 16, seed) for seed in range(3)]
    mask = torch.ones(9, 9).tril()
    maps = torch.stack([one.trace(normal(1, 9, 64), mask).weights[0] for one in layers])
    counts = {sum(p.numel() for p in one.parameters()) for one in layers}
    assert counts == {16384} and (maps[:, :, 0, 0] == 1).all()
    spread = torch.special.entr(maps[:, :, -1]).sum(-1)  # (layers, H)
    assert spread.max() < math.log(9) and spread.std() > 0.01 and round(math.log(9), 2) == 2.2
    assert len({int(one[:, -1, -2].argmax()) for one in maps}) > 1
    assert chosen(asked["q18"], lambda text: "first token" in text or "how many" in text)


def test_c38_claims_about_the_two_pointers(asked):
    from helpers.training import PointerModel

    model = PointerModel(1).requires_grad_(False)
    values = torch.randint(10, (1, 12), generator=torch.Generator().manual_seed(0))
    A, B = values.clone(), values.clone()
    A[0, [2, 8]], B[0, [2, 8]] = torch.tensor([3, 7]), torch.tensor([7, 3])
    pointers = torch.tensor([[2, 8]])

    def brought(values, weights):
        V = model.attention.W_V(model.embed(values, pointers))[0]
        return weights[0] * V[2] + weights[1] * V[8]

    assert torch.allclose(brought(A, (0.5, 0.5)), brought(B, (0.5, 0.5)), atol=1e-5)
    assert not torch.allclose(brought(A, (0.6, 0.3)), brought(B, (0.6, 0.3)), atol=0.01)
    assert chosen(asked["q19"], lambda text: text.startswith("the same vector"))

    # the first value always right, the second guessed: all pairs of (guess, value)
    first, second = 1, sum(a == b for a, b in product(range(10), repeat=2)) / 100
    shares = {"right": first * second, "both_guessed": second**2, "half": 0.5, "none": 0}
    shares |= {"of_values": (first + second) / 2, "taken_over": 1}
    assert numbers(asked["q20"]) == {name: pytest.approx(v) for name, v in shares.items()}

    def differs_in_one(text):  # from both runs of the question, by heads or by width alone
        H, d_model = (int(part.split(" = ")[1]) for part in text.split(", ")[:2])
        return (H == 2) != (d_model == 128) and H <= 2

    assert chosen(asked["q21"], differs_in_one)
    assert sum(p.numel() for p in PointerModel(2).parameters()) == 20628


def test_c38_claims_about_real_heads(asked):
    from helpers import heads
    from helpers.encoder import load_encoder
    from helpers.treebank import own_sentences

    pieces = torch.tensor([[0.0, 0.4, 0.6], [0.3, 0.4, 0.3], [0.1, 0.1, 0.8]])
    word = heads.merge_pieces(pieces, torch.tensor([0, 0, 1]), 2)[0, 1]
    given = {"right": word, "summed": pieces[:2, 2].sum()}
    given |= {"first": pieces[0, 2], "second": pieces[1, 2]}
    assert numbers(asked["q22"]) == {name: pytest.approx(float(v)) for name, v in given.items()}

    sentences = own_sentences()
    attended = heads.most_attended(load_encoder(), sentences)
    above = {}
    for relation in ("amod", "obl", "aux", "nmod"):
        score = heads.relation_score(sentences, attended, relation)
        best = score.best
        said = (score.accuracy[best], score.low[best], score.high[best], score.baseline)
        accuracy, low, high, distance = (f"{100 * float(v):.1f}" for v in said)
        line = f"`{relation}`: {accuracy} ({low} to {high}), distance {distance}"
        above[line] = bool(score.low[best] > score.baseline)
        assert score.count == {"amod": 70, "obl": 60, "aux": 47, "nmod": 64}[relation]
    assert set(above) == set(asked["q23"].options.values())
    assert chosen(asked["q23"], above.get)

    row = {"[CLS]": 0.8, "flowers": 0.1, "sells": 0.06, "She": 0.04}
    others = {word: weight for word, weight in row.items() if word in ("She", "sells")}
    assert sum(row.values()) == pytest.approx(1) and max(others, key=others.get) == "sells"
    assert chosen(asked["q24"], lambda text: text.startswith("Yes: of the other words"))


def test_c38_claims_about_graphs(asked):
    from helpers import graphs

    rows = torch.zeros(9, 9)
    rows[:, 0], rows[:, 1] = 0.5, 0.5
    graph = graphs.head_graph(rows, 0.4)
    leave, arrive = max(graphs.out_degrees(graph)), max(graphs.in_degrees(graph))
    assert leave == math.floor(1 / 0.4) and 9 * 0.4 == pytest.approx(3.6)
    assert chosen(asked["q25"], lambda text: text == f"{leave} can leave, {arrive} can arrive")

    words = ["bank", "by", "river", "issued", "statement"]

    def graph_of(*edges):
        weights = torch.zeros(5, 5)
        for edge in edges:
            query, key = edge.split(" → ")
            weights[words.index(query), words.index(key)] = 0.5
        return graphs.head_graph(weights, 0.4, words)

    A = graph_of("bank → river", "by → river", "issued → bank")
    B = graph_of("bank → river", "issued → bank", "river → by", "statement → issued")
    a, b = (set(graph.edges) for graph in (A, B))
    either_way = [{frozenset(edge) for edge in edges} for edges in (a, b)]
    shared = len(a & b)
    alike = {"right": graphs.overlap(A, B), "of_first": shared / len(a), "count": shared}
    alike |= {"of_second": shared / len(b), "added": shared / (len(a) + len(b))}
    alike["undirected"] = len(set.intersection(*either_way)) / len(set.union(*either_way))
    assert numbers(asked["q26"]) == {n: pytest.approx(v, abs=1e-3) for n, v in alike.items()}


def test_c38_claims_about_a_path_through_two_heads(asked):
    from helpers import graphs

    bank, river, issued = range(3)
    maps = torch.eye(3).repeat(2, 1, 1)  # words without an edge look at themselves
    maps[0, issued] = torch.tensor([1.0, 0, 0])
    maps[1, bank] = torch.tensor([0, 1.0, 0])
    W = normal(2, 6, 6)  # W_V and the block of W_O of each head, as one matrix

    def layer(X):
        return (maps @ X @ W).sum(0)

    X, other = normal(3, 6, seed=1), normal(3, 6, seed=1)
    other[river] += 1
    once, twice = (layer(X), layer(other)), (layer(layer(X)), layer(layer(other)))
    assert torch.equal(once[0][issued], once[1][issued])
    assert not torch.allclose(once[0][bank], once[1][bank], atol=0.01)
    assert not torch.allclose(twice[0][issued], twice[1][issued], atol=0.01)
    whole = graphs.union(graphs.head_graphs(maps, 0.4))
    assert not graphs.reachable([whole])[issued, river]
    assert graphs.reachable([whole, whole])[issued, river]
    assert not graphs.reachable([whole, whole])[river, issued]  # arrows go to what is looked at
    assert chosen(asked["q27"], lambda text: "two layers" in text)
