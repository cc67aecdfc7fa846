"""Lesson 02, heads and projections: `head_size` and `project_one_head`.

The words of every kind below are in texts/<language>/check_02.json. `looped_multi_head`
is in `loop`.
"""

from collections.abc import Callable
from math import ceil, sqrt

from torch import Tensor

from . import comparing
from .base import Exercise, Probe, random_tensors, register
from .case import Case
from .loop import loop_exercise
from .trying import attempt

# 02.head_size


def head_size(d_model: int, num_heads: int) -> int:
    if num_heads < 1 or d_model < num_heads or d_model % num_heads:
        raise ValueError(f"d_model = {d_model} cannot be split into num_heads = {num_heads}")
    return d_model // num_heads


def _ask(answer: Callable, d_model: int, num_heads: int, **kind):
    """The answer's d_k. In a trial of the kind "impossible" also the name of its refusal."""
    if "words" in kind:
        return answer(d_model, num_heads)
    try:
        size = answer(d_model, num_heads)
    except ValueError:
        return "ValueError"
    except Exception as error:
        plain = (AssertionError, ZeroDivisionError, RuntimeError)
        if "impossible" in kind and (isinstance(error, plain) or type(error) is Exception):
            return type(error).__name__
        raise
    if "impossible" not in kind:
        return comparing.whole(size, d_model // num_heads)
    if isinstance(size, (str, Exception)):
        return "words"
    return "None" if size is None else size


def _possible(d_model: int, H: int) -> Probe:
    sizes = {"d_model": d_model, "H": H, "d_k": d_model // H}
    return Probe({"d_model": d_model, "num_heads": H}, sizes)


def _impossible(d_model: int, H: int) -> Probe:
    return Probe({"d_model": d_model, "num_heads": H, "impossible": {}}, {})


def _words(d_model: int, H: int) -> Probe:
    inputs = {"d_model": d_model, "num_heads": H, "words": {}}
    mention = (str(d_model), str(H)) if H > 0 else (str(H),)
    return Probe(inputs, {}, raises=(ValueError,), mention=mention)


size_exercise = register(
    Exercise(
        id="02.head_size",
        call="head_size(d_model, num_heads)",
        axes=(),
        reference=head_size,
        run=_ask,
        make_probes=lambda: [
            *(_possible(*pair) for pair in ((60, 5), (512, 8), (7, 7), (97, 1))),
            *(_impossible(*pair) for pair in ((512, 6), (4, 12), (64, 0), (64, -8))),
            *(_words(*pair) for pair in ((512, 6), (4, 12), (64, 0))),
        ],
    )
)


def _refuses_when(test: Callable) -> Callable:
    """A way that refuses by another test."""

    def wrong(d_model, num_heads):
        if test(d_model, num_heads):
            raise ValueError
        return d_model // num_heads

    return wrong


# All impossible pairs, or those of the later trials alone: a reader may refuse the others.
_IMPOSSIBLE = (
    lambda d, h: h < 1 or d % h,
    lambda d, h: h < 1 or h > d,
    lambda d, h: h < 1,
    lambda d, h: h < 0,
)


def _instead(value: object) -> list[Callable]:
    """Ways that hand this back, or raise it, where they should refuse: always or for some pairs."""

    def way(impossible: Callable) -> Callable:
        def wrong(d_model, num_heads):
            if not impossible(d_model, num_heads):
                return head_size(d_model, num_heads)
            if isinstance(value, Exception):
                raise value
            return value

        return wrong

    return [way(impossible) for impossible in _IMPOSSIBLE]


size_exercise.misconception("decimal_number", lambda d, h: d / h)
size_exercise.misconception(
    "arguments_exchanged", lambda d, h: head_size(h, d), lambda d, h: h // d, lambda d, h: h / d
)
size_exercise.misconception("remainder_returned", lambda d, h: d % h)
size_exercise.misconception(
    "example_written_in", lambda d, h: 64, lambda d, h: d // 8, lambda d, h: 512 // h
)
size_exercise.misconception("multiplied", lambda d, h: d * h)
size_exercise.misconception("model_width_returned", lambda d, h: d)
size_exercise.misconception("heads_returned", lambda d, h: h)
size_exercise.misconception("root_taken", lambda d, h: sqrt(abs(d / h)))
size_exercise.misconception(
    "remainder_upside_down",
    _refuses_when(lambda d, h: h < 1 or h % d),
    _refuses_when(lambda d, h: h % d),
)
size_exercise.misconception(
    "too_strict",
    _refuses_when(lambda d, h: True),
    _refuses_when(lambda d, h: h < 1 or d % h or h >= d),
    _refuses_when(lambda d, h: h <= 1 or d % h),
    _refuses_when(lambda d, h: h < 1 or d % h or d & (d - 1)),
)
size_exercise.misconception(
    "impossible_rounded",
    lambda d, h: d // h,
    lambda d, h: d / h if d % h else d // h,
    lambda d, h: round(d / h),
    lambda d, h: ceil(d / h),
    lambda d, h: max(1, d // h),
)
size_exercise.misconception(
    "too_many_heads_allowed",
    _refuses_when(lambda d, h: h < 1 or (h <= d and d % h)),
    *_instead(1)[:2],  # the other two are no cases of too many
)
size_exercise.misconception("negative_heads_allowed", _refuses_when(lambda d, h: h == 0 or d % h))
size_exercise.misconception("zero_heads_divided", _refuses_when(lambda d, h: d % h))
size_exercise.misconception("zero_heads_allowed", *_instead(0))
size_exercise.misconception("none_instead_of_error", *_instead(None))
size_exercise.misconception("error_returned", *_instead("words"))
size_exercise.misconception("assert_instead_of_error", *_instead(AssertionError()))
size_exercise.misconception("other_error", *_instead(RuntimeError()), *_instead(Exception()))


# 02.project_one_head


def project_one_head(X: Tensor, W: Tensor, head: int) -> Tensor:
    return X @ W[head]


def _head_probe(seed, T, d_model, H, d_k, head, condition: str = "") -> Probe:
    X, W = random_tensors(seed, (T, d_model), (H, d_model, d_k))
    sizes = {"T": T, "d_model": d_model, "H": H, "d_k": d_k}
    return Probe({"X": X, "W": W, "head": head}, sizes, condition)


project_exercise = register(
    Exercise(
        id="02.project_one_head",
        call="project_one_head(X, W, head)",
        axes=("T", "d_k"),
        reference=project_one_head,
        make_probes=lambda: [
            _head_probe(1, 5, 12, 4, 3, head=2),
            _head_probe(2, 7, 6, 3, 2, head=0),
            _head_probe(3, 6, 20, 4, 5, head=3),
        ],
        make_easier=lambda: [_head_probe(4, 5, 4, 3, 4, head=1, condition="d_model = d_k")],
        differentiable=True,
    )
)


def _cut(W: Tensor, head: int) -> slice:
    """The d_k columns that head `head` would own if the token were cut into slices."""
    d_k = W.shape[-1]
    return slice(head * d_k, (head + 1) * d_k)


project_exercise.misconception(
    "slice_of_token",
    lambda X, W, head: X[:, _cut(W, head)] @ W[head][_cut(W, head)],
    lambda X, W, head: X[:, _cut(W, head)] @ W[head][: W.shape[-1]],
    lambda X, W, head: X[:, : W.shape[-1]] @ W[head][: W.shape[-1]],
)
project_exercise.misconception("slice_alone", lambda X, W, head: X[:, _cut(W, head)])
project_exercise.misconception("matrix_transposed", lambda X, W, head: X @ W[head].T)
project_exercise.misconception(
    "head_counted_from_1", lambda X, W, head: X @ W[head - 1], lambda X, W, head: X @ W[head + 1]
)
project_exercise.misconception(
    "always_the_same_head", lambda X, W, head: X @ W[0], lambda X, W, head: X @ W[-1]
)
project_exercise.misconception(
    "heads_averaged", lambda X, W, head: (X @ W).mean(0), lambda X, W, head: (X @ W).sum(0)
)
project_exercise.misconception(
    "all_heads_at_once",
    lambda X, W, head: X @ W,
    lambda X, W, head: (X @ W).transpose(0, 1),
    lambda X, W, head: (X @ W).transpose(0, 1).flatten(1),
)
project_exercise.misconception("token_instead_of_head", lambda X, W, head: X[head] @ W[head])
# Other wrong axes do not fit X at all: torch's own words name those.
project_exercise.misconception("wrong_axis_of_W", lambda X, W, head: X @ W[..., head].T)
project_exercise.misconception(
    "heads_mixed_by_reshape",
    lambda X, W, head: X @ W.reshape(W.shape[1], -1)[:, _cut(W, head)],
    lambda X, W, head: (X @ W.reshape(W.shape[1], -1)).view(len(X), len(W), -1)[:, head],
)
project_exercise.misconception("projection_forgotten", lambda X, W, head: W[head])
project_exercise.misconception("output_transposed", lambda X, W, head: (X @ W[head]).T)
project_exercise.misconception(
    "scaled_too_early", lambda X, W, head: X @ W[head] / W.shape[-1] ** 0.5
)
project_exercise.misconception(
    "softmax_too_early",
    lambda X, W, head: (X @ W[head]).softmax(-1),
    lambda X, W, head: (X @ W[head]).softmax(0),
)


def deaf_to_a_feature(case: Case):
    """A fact beside a wrong projection: a feature of the input that changes nothing in it (C07)."""
    X = case.probe.inputs["X"]
    for feature in sorted(range(X.shape[1]), key=lambda feature: feature != 5):  # 5 first
        moved = X.clone()
        moved[0, feature] += 1.0
        inputs = {**case.probe.inputs, "X": moved}
        there = attempt(case.exercise, case.answer, Probe(inputs, case.probe.sizes))
        if there.error is None and comparing.same(there.output, case.got):
            return "check_02.facts.deaf", {"feature": feature, "head": case.probe.inputs["head"]}
    return None


project_exercise.facts += [deaf_to_a_feature]


# 02.looped_multi_head

register(loop_exercise)
