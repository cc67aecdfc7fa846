"""What ReshapeLab says, from the tensors themselves."""

from torch import Tensor

from ..reshaping.cells import pair_words
from ..reshaping.routes import STEPS, Stop, coincide, differing, merge_rule
from ..texts import t

TX = "explorer_reshape"


def rule_words(stop: Stop) -> str:
    """Can `view` merge the last two axes of this tensor? With its strides; "" for scores."""
    if stop.name == "scores":
        return t(f"{TX}.rule.none")
    rule = merge_rule(stop.symbols, stop.numbers)
    axes = {"left": rule.left, "right": rule.right}
    if len(rule.idle) == 2:
        return t(f"{TX}.rule.idle_both", **axes)
    if rule.idle:
        return t(f"{TX}.rule.idle", axis=rule.idle[0], **axes)
    numbers = {"stride": rule.stride, "size": rule.size, "step": rule.step, "needed": rule.needed}
    return t(f"{TX}.rule.{'equal' if rule.works else 'unequal'}", **axes, **numbers)


def note_words(stops: dict[str, Stop], sizes: dict[str, int], split: str, merge: str) -> list[str]:
    """What each step does on a route with these turns, one sentence per step."""
    keys = {step: step for step in STEPS}
    keys["contiguous"] = "copied" if stops["contiguous"].copied else "not_copied"
    if split == "wrong":
        keys |= {"view": "view_straight", "transpose": "transpose_left_out"}
    if merge == "wrong":
        keys |= {"swap": "swap_left_out", "merge": "merge_straight"}
    values = sizes | {"last": sizes["T"] * sizes["d_model"] - 1}
    return [t(f"{TX}.notes.{keys[step]}", **values) for step in STEPS]


def differ_words(
    right: dict[str, Stop], wrong: dict[str, Stop], sizes: dict[str, int]
) -> list[str]:
    """How the two routes compare, one sentence per step."""
    same = coincide(right, wrong)
    met_others = False
    sentences = []
    for step in STEPS:
        marks = differing(right[step], wrong[step])
        n = 0 if marks is None else int(marks.sum())
        total = right[step].numbers.numel()
        if same:
            sentences.append(_coincide(sizes, total))
        elif marks is None:
            sentences.append(t(f"{TX}.differ.shapes"))
        elif n:
            met_others = True
            counted = "scores" if step == "scores" else "some"
            example = _example(right[step], wrong[step], marks, sizes)
            sentences.append(t(f"{TX}.differ.{counted}", n=n, total=total, example=example))
        else:
            alike = "undone" if met_others else "start" if step == "linear" else "same"
            sentences.append(t(f"{TX}.differ.{alike}", total=total))
    return sentences


def _coincide(sizes: dict[str, int], total: int) -> str:
    ones = [axis for axis in ("T", "H") if sizes[axis] == 1]
    why = t(f"{TX}.differ.why_{'_and_'.join(ones)}")
    return t(f"{TX}.differ.coincide", why=why, total=total)


def _example(right: Stop, wrong: Stop, marks: Tensor, sizes: dict[str, int]) -> str:
    """The first row that differs, in numbers; for scores the first pair."""
    first = [int(i) for i in marks.nonzero()[0]]
    if right.name == "scores":
        _, head, query, key = first
        n = sizes["T"] * sizes["d_model"]
        pairs = [
            pair_words(*divmod(int(stop.numbers[0, head, query, key]), n), sizes["d_k"])
            for stop in (right, wrong)
        ]
        values = {"head": head, "i": query, "j": key, "right": pairs[0], "wrong": pairs[1]}
        return t(f"{TX}.differ.example_scores", **values)
    rows = [_row(stop.numbers[tuple(first[:-1])].tolist()) for stop in (right, wrong)]
    if right.symbols[-1] == "d_model":
        return t(f"{TX}.differ.example_tokens", token=first[1], right=rows[0], wrong=rows[1])
    head, token = first[1:3] if right.symbols[1] == "H" else (first[2], first[1])
    values = {"head": head, "token": token, "right": rows[0], "wrong": rows[1]}
    return t(f"{TX}.differ.example_heads", **values)


def _row(numbers: list[int]) -> str:
    return f"[{', '.join(map(str, numbers[:8]))}{', …' if len(numbers) > 8 else ''}]"


def map_words(name: str, depends: Tensor, ahead: int) -> tuple[str, str]:
    """Count and note of a dependency map. `ahead`: its pairs that look ahead when masked."""
    T = len(depends)
    if name == "leak":
        later = depends.triu(1)
        n = int(later.sum())
        if not n:
            return ahead_words(0), t(f"{TX}.maps.safe")
        output, seen = (int(i) for i in later.nonzero()[0])
        return ahead_words(n), t(f"{TX}.maps.leaks", output=output, input=seen)
    n = int(depends.sum())
    count = t(f"{TX}.maps.count", n=n, total=depends.numel())
    if n < depends.numel():
        output = T // 3 if not depends[T // 3].all() else int((~depends.all(-1)).nonzero()[0])
        inputs = [str(int(j)) for j in depends[output].nonzero()]
        only = "only_one" if len(inputs) == 1 else "only"
        return count, t(f"{TX}.maps.{only}", output=output, inputs=", ".join(inputs))
    if ahead:
        return count, t(f"{TX}.maps.full_but", ahead=ahead_words(ahead))
    return count, t(f"{TX}.maps.every")


def ahead_words(n: int) -> str:
    kind = "none_ahead" if n == 0 else "one_ahead" if n == 1 else "ahead"
    return t(f"{TX}.maps.{kind}", n=n)
