"""The words of the exercise checks: bold, lists, True and False, and what a message may claim."""

import re

import pytest
import torch
from check_probe import one_language  # noqa: F401

from helpers.checks import base, check, comparing
from helpers.checks.base import Exercise, Probe, random_tensors
from helpers.checks.case import Case
from helpers.checks.diagnosis import diagnose
from helpers.checks.errors import forgot_return, hint
from helpers.checks.matching import matching
from helpers.checks.report import Report
from helpers.checks.result import Result, listed
from helpers.checks.trying import attempt
from helpers.markup import as_html, without_stars
from helpers.texts import t

# --- bold and code ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "page", "words"),
    [
        ("the **best** one", "the <strong>best</strong> one", "the best one"),
        ("**two words**, **x**.", "<strong>two words</strong>, <strong>x</strong>.",
         "two words, x."),
        ("«**máximo**»", "«<strong>máximo</strong>»", "«máximo»"),
        ("`x ** 2 ** 3`", "<code>x ** 2 ** 3</code>", "`x ** 2 ** 3`"),
        ("`**kwargs` and `**more`", "<code>**kwargs</code> and <code>**more</code>",
         "`**kwargs` and `**more`"),
        ("x**2 + y**2", "x**2 + y**2", "x**2 + y**2"),
        ("d_k ** -0.5", "d_k ** -0.5", "d_k ** -0.5"),
        ("one ` alone", "one ` alone", "one ` alone"),
        # hostile: whatever stands between the marks stays text
        ("**a<script>alert(1)</script>**",
         "<strong>a&lt;script&gt;alert(1)&lt;/script&gt;</strong>",
         "a<script>alert(1)</script>"),
        ("**<b>x</b>**", "**&lt;b&gt;x&lt;/b&gt;**", "**<b>x</b>**"),
        ("`<i>` **b\" onclick=\"f()**",
         "<code>&lt;i&gt;</code> <strong>b&quot; onclick=&quot;f()</strong>",
         "`<i>` b\" onclick=\"f()"),
        ("**a `</strong>` b**", "**a <code>&lt;/strong&gt;</code> b**", "**a `</strong>` b**"),
    ],
)  # fmt: skip
def test_stars_are_weight_on_the_page_and_gone_in_plain_text(text, page, words):
    assert as_html(text) == page
    assert without_stars(text) == words


def test_a_result_and_a_report_show_weight_and_leave_quotes_alone():
    said = Result("99.a", False, "kind", "A **title**", look="Take the **largest**.",
                  quotes=(("Your answer", "2 **x** <b>`y`</b>"),))  # fmt: skip
    assert said.message.splitlines()[1:] == [
        "A title",
        "Your answer: 2 **x** <b>`y`</b>",
        "Next: Take the largest.",
    ]
    page = said._repr_html_()
    assert "A <strong>title</strong>" in page and "Take the <strong>largest</strong>." in page
    assert "2 **x** &lt;b&gt;`y`&lt;/b&gt;" in page and "<b>" not in page
    report = Report({"99.a": said})
    assert report.message.endswith("99.a · A title")
    assert "99.a · A <strong>title</strong></li>" in report._repr_html_()


def test_no_star_is_left_in_the_messages_of_lesson_08(language):
    bold = []
    for exercise in (id for id in base.exercises() if id.startswith("08.")):
        for idea in base.find(exercise).misconceptions:
            result = check(exercise, idea.wrong)
            assert "**" not in re.sub("`[^`]*`", "", result.message), result.message
            page = result._repr_html_()
            assert "**" not in re.sub("<code[^>]*>.*?</code>", "", page)
            bold += re.findall("<strong>([^<:]+)</strong>", page)
    assert {"en": "best", "es": "mejor"}[language] in bold


def test_what_came_in_the_place_of_a_class_is_told_in_a_sentence(language):
    words = {"en": "Something else, of the type `{}`.", "es": "Otra cosa, de tipo `{}`."}[language]
    right = base.find("05.MultiHeadAttention").reference
    for answer, name in ((right(6, 2), "MultiHeadAttention"), (len, "builtin_function_or_method")):
        result = check("05.MultiHeadAttention", answer)
        assert (result.kind, result.got) == ("not_a_class", words.format(name))
        assert "`class MultiHeadAttention`" in result.look
    assert check("05.MultiHeadAttention", 3).kind == "not_a_class"


def test_a_tuple_or_a_list_in_the_place_of_a_tensor_is_told(language):
    for answer, said in (
        (lambda x, num_heads: (x,).mT, "`heads, weights = …`"),
        (lambda x, num_heads: [x].view(1), "`torch.stack`"),
        (lambda x, num_heads: [x] @ x, "`torch.stack`"),
    ):
        result = check("03.split_heads", answer)
        assert result.kind == "raised" and said in result.look, result.message


# --- lists, True and False ----------------------------------------------------------------------


def test_lists_are_joined_by_a_word(language):
    and_ = {"en": "and", "es": "y"}[language]
    assert listed(["64"]) == "64"
    assert listed(["64", "5"]) == f"64 {and_} 5"
    assert listed(["X", "W_Q", "mask"]) == f"X, W_Q {and_} mask"


def test_two_inputs_that_changed_are_listed(language):
    right = base.find("01.attention_weights").reference

    def answer(Q, K, mask=None):
        weights = right(Q, K, mask)
        Q.zero_()
        K.zero_()
        return weights

    wanted = {"en": "other numbers in Q and K.", "es": "otros números en Q y K."}[language]
    assert check("01.attention_weights", answer).got.endswith(wanted)


def test_true_and_false_are_told_by_name(language):
    right = base.find("09.reachable").reference
    result = check("09.reachable", lambda a, b: right(a, b).fill_(True))
    wanted = {
        "en": "False was expected, True came.",
        "es": "se esperaba False y se ha obtenido True.",
    }[language]
    assert result.got.endswith(wanted), result.got
    # Numbers in their place: both sides in the reader's own.
    counts = check("09.reachable", lambda a, b: right(a, b).long() * 7).got
    wanted = {"en": "1 was expected, 7 came", "es": "se esperaba 1 y se ha obtenido 7"}[language]
    assert wanted in counts


def test_only_tensors_of_truth_values_are_told_so():
    assert comparing.is_truth(torch.tensor([True]))
    assert not comparing.is_truth(torch.ones(2)) and not comparing.is_truth(1)


# --- None ---------------------------------------------------------------------------------------


class Ends:
    def forward(self, x):
        self.kept = x


class EndsWell(Ends):
    def forward(self, x):
        return x


class Stub(Ends):
    def forward(self, x):
        """A docstring."""
        ...


class Inherits(Ends):
    pass


class Nothing:
    pass


def inner_return(x):
    def helper(y):
        return y

    helper(x)


def return_in_a_loop(x):
    for part in x:
        if part:
            return part


@pytest.mark.parametrize(
    ("answer", "function"),
    [
        (Ends, "forward"),
        (Inherits, "forward"),
        (EndsWell, ""),
        (Stub, ""),
        (Nothing, ""),
        (inner_return, "inner_return"),
        (return_in_a_loop, ""),
        (lambda x: None, ""),
        (len, ""),
        (3, ""),
    ],
)
def test_the_function_that_hands_nothing_back_is_found(answer, function):
    assert forgot_return(answer) == function


def test_none_is_put_down_to_the_mask_only_where_there_can_be_one(language):
    def without_mask(Q, K, mask=None):
        return (Q @ K.T).masked_fill(mask.bool(), 0)

    def with_mask(Q, K, mask=None):
        return [].append(mask).softmax(-1) if mask is not None else right(Q, K)

    right = base.find("01.attention_weights").reference
    assert "`mask`" in check("01.attention_weights", without_mask).look
    assert "`append`" in check("01.attention_weights", with_mask).look
    split = check("03.split_heads", lambda x, num_heads: [].append(x).mT)
    assert "`append`" in split.look and "mask" not in split.look


# --- a mistake that the reader's own trials disprove -------------------------------------------


def double(x, y):
    return x * 2 + y


def half_right(x, y):
    """Right for three numbers, the first misconception for four."""
    return double(x, y) if len(x) == 3 else x + y


def doubling(wrong) -> Exercise:
    def probe(seed, T):
        x, y = random_tensors(seed, (T,), (T,))
        return Probe({"x": x, "y": y}, {"T": T})

    exercise = Exercise(id="99.double", call="double(x, y)", axes=("T",), reference=double,
                        make_probes=lambda: [probe(1, 3), probe(2, 4)])  # fmt: skip
    exercise.misconception("not_doubled", wrong)
    return exercise


def failed_trial(exercise, answer) -> Case:
    first, second = exercise.probes
    return Case(exercise, answer, second, attempt(exercise, answer, second), (first,))


def test_a_mistake_that_an_earlier_trial_disproves_is_not_named():
    exercise = doubling(lambda x, y: x + y)
    assert matching(failed_trial(exercise, half_right)) is None
    assert diagnose(exercise, half_right).kind == "hard_coded_size"
    # The same numbers, and no trial speaks against it: named.
    exercise = doubling(lambda x, y: half_right(x, y))
    assert matching(failed_trial(exercise, half_right)).kind == "not_doubled"
    # A way that fails at its first trial is named as before.
    assert diagnose(doubling(lambda x, y: x + y), lambda x, y: y + x).kind == "not_doubled"


def test_a_refusal_that_came_right_speaks_against_no_mistake():
    exercise = doubling(half_right)
    refused = Probe({"x": torch.ones(1), "y": torch.ones(1)}, {}, raises=(ValueError,))
    case = failed_trial(exercise, half_right)
    with_refusal = Case(exercise, half_right, case.probe, case.outcome, (refused, *case.earlier))
    assert matching(with_refusal).kind == "not_doubled"


def test_a_mistake_with_a_mask_alone_is_named_and_its_lines_pointed_at(language):
    """Trials without a mask say nothing about the lines for masks; the message says they pass."""

    def answer(Q, K, mask=None):
        if mask is None:
            return (Q @ K.T / Q.shape[-1] ** 0.5).softmax(-1)
        return (Q @ K.T).masked_fill(mask == 0, float("-inf")).softmax(-1)

    def sharpened(Q, K, mask=None):
        cubes = answer(Q, K, mask) ** 3
        return answer(Q, K) if mask is None else cubes / cubes.sum(-1, keepdim=True)

    def always(Q, K, mask=None):
        scores = Q @ K.T
        return (scores if mask is None else scores.masked_fill(mask == 0, -1e9)).softmax(-1)

    def added(Q, K, mask=None):
        scores = Q @ K.T / Q.shape[-1] ** 0.5
        return (scores if mask is None else scores + mask).softmax(-1)

    words = {"en": "Without a mask your answer was right.",
             "es": "Sin máscara tu respuesta era correcta."}[language]  # fmt: skip
    for way, kind, said in (
        (answer, "no_scale", True),
        (sharpened, "wrong_values", True),
        (always, "no_scale", False),
        (added, "mask_added", False),  # a mistake with masks: nothing else to be said
    ):
        result = check("01.attention_weights", way)
        assert (result.kind, words in result.look) == (kind, said), result.message


def test_a_hint_without_sizes_does_not_point_at_shapes():
    exercise = Exercise(
        id="99.two",
        call="two()",
        axes=(),
        reference=lambda: 2,
        make_probes=lambda: [Probe({}, {})],
    )

    def answer():
        raise RuntimeError("out of luck")

    outcome = attempt(exercise, answer, Probe({}, {}))
    key, values = hint(Case(exercise, answer, Probe({}, {}), outcome))
    assert key == "checks.hints.other_without_sizes"
    assert t(key, **values) == "Look at that line, and print what goes into it right before it."
    sized = Probe({}, {"H": 2})
    key, values = hint(Case(exercise, answer, sized, attempt(exercise, answer, sized)))
    assert t(key, **values).endswith("print the shapes right before it. Here H = 2.")


def test_nan_where_nan_is_wanted_is_not_the_furthest_number():
    wanted = torch.tensor([float("nan"), 1.0, 2.0])
    assert comparing.largest_difference(wanted, torch.tensor([float("nan"), 1.0, 2.5])) == (2,)
    assert comparing.largest_difference(wanted, torch.tensor([0.0, 1.0, 9.0])) == (0,)
