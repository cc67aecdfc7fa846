"""Numbers in the check machinery: compared, written for people, and as an answer."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from helpers.checks import comparing
from helpers.checks.values import NoNumberError, ValueExercise


def test_a_plain_decimal_may_have_been_an_fp32_number_and_a_whole_one_is_exact():
    third = torch.tensor(1 / 3).item()
    assert third != 1 / 3 and comparing.same(third, 1 / 3) and comparing.same([third], (1 / 3,))
    assert not comparing.same(third + 1e-4, 1 / 3)
    assert not comparing.same(1_000_001.0, 1_000_000) and comparing.same(12.0, 12)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((999_999.0,), ["999999"]),
        ((1e6,), ["1e+06"]),
        ((-1_234_567.0,), ["-1.23e+06"]),
        ((1_234_567.5,), ["1.23e+06"]),
        ((0.5, 0.5), ["0.500", "0.500"]),
        ((0.12341, 0.12342), ["0.12341", "0.12342"]),
        ((0.1234561, 0.1234569), ["0.123456", "0.123457"]),
        ((1e-7, 2e-7), ["1e-07", "2e-07"]),
        ((3e-7, 4e-7), ["3e-07", "4e-07"]),
        ((1.2e-6, 4.1e-6), ["0.000001", "0.000004"]),
        ((-1e-7,), ["0.000"]),
        ((math.inf, -math.inf, math.nan), ["inf", "-inf", "NaN"]),
    ],
)
def test_written_takes_the_fewest_digits_that_tell_numbers_apart(values, texts):
    assert comparing.written(*values) == texts


def test_a_row_is_written_up_to_eight_numbers():
    assert comparing.written_row(torch.arange(8.0)) == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert comparing.written_row(torch.arange(9.0)) == "[0, 1, 2, 3, 4, 5, 6, 7, …]"
    assert comparing.written_row(torch.tensor([[0.5, 1.25], [2, 3]])) == "[0.500, 1.250, 2, 3]"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.zeros(2, 3), "Tensor (2, 3) float32"),
        (torch.zeros(4, dtype=torch.int64), "Tensor (4,) int64"),
        ((), "tuple ()"),
        ([1, "a", None, 2.0], "list (int, str, NoneType, float)"),
        ((1, 2, 3, 4, 5), "tuple (int, int, int, int, …)"),
        (np.zeros((5, 5)), "ndarray (5, 5)"),
        (5, "int 5"),
        (0.5, "float 0.5"),
        (Fraction(1, 3), "Fraction 1/3"),
        (True, "bool True"),
        (None, "NoneType"),
        ("long text", "str"),
    ],
)
def test_a_thing_is_described_in_pythons_own_words(value, words):
    assert comparing.described(value) == words


def test_what_holds_numbers_and_what_does_not():
    for value, want in ((2, 2), (Fraction(1, 4), 0.25), (torch.tensor([1, 2]), [1, 2])):
        found = comparing.as_numbers(value)
        assert found.tolist() == want and found.dtype == torch.float64
    assert comparing.as_numbers(torch.eye(2).to_sparse()).tolist() == [[1, 0], [0, 1]]
    for value in (True, "1", None, [1.0], torch.tensor(1j), torch.empty(2, device="meta")):
        assert comparing.as_numbers(value) is None
    with torch.device("meta"):  # a default device of the reader's
        assert comparing.as_numbers(2).item() == 2


def test_the_coarsest_dtype_sets_the_tolerance():
    half, brain = torch.zeros(1).half(), torch.zeros(1).bfloat16()
    single, double, whole = torch.zeros(1), torch.zeros(1).double(), torch.zeros(1).long()
    assert comparing.tolerance(1.0, 2) == comparing.tolerance(double) == 1e-9
    assert comparing.tolerance(double, single) == comparing.tolerance(whole, 1.0) == 1e-5
    assert comparing.tolerance(single, half) == 5e-3
    assert comparing.tolerance(half, brain, double) == 2e-2


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (None, None, True),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ((1, "a"), [1, "a"], True),
        ((1, "a"), (1, "b"), False),
        (True, True, True),
        (True, "True", False),
        ((), (), True),
        ("1", 1, False),
        (("a", "b"), "ab", False),
        ("ab", ["a", "b"], False),
        (object, object, False),
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]), True),
        (torch.tensor([0.0]), torch.tensor([5e-6]), True),
        (torch.tensor([0.0]), torch.tensor([2e-5]), False),
        (torch.tensor([1.0]).half(), torch.tensor([1.004]), True),
        (torch.tensor([1.0]), torch.tensor([1.004]).half(), True),
    ],
)
def test_the_same_things_are_the_same(a, b, alike):
    assert comparing.same(a, b) is alike


def test_where_tensors_differ_in_three_dimensions():
    a = torch.zeros(2, 3, 4, dtype=torch.float64)
    a[1, 0, 0] = math.inf
    b = a.clone()
    b[0, 2, 1], b[1, 1, 3] = 0.1, 0.3
    assert comparing.largest_difference(a, b) == (1, 1, 3)  # inf against inf is no difference
    assert comparing.first_different_row(a, b, 1e-5) == (0, 2)
    assert comparing.first_different_row(a, b, 0.2) == (1, 1)
    a[0, 0, 2] = b[0, 0, 2] = math.nan
    assert comparing.first_different_row(a, b, 1e-5) == (0, 2)
    a, b = torch.tensor([[5.0, 0.0], [0.0, 0.0]]), torch.tensor([[5.5, 0.0], [0.0, -1.0]])
    assert comparing.largest_difference(a, b) == (1, 1)
    assert comparing.first_different_row(a, b, 0.1) == (1,)  # 5.5 is within a tenth of 5


# --- a number as the answer ---------------------------------------------------------------------


def test_a_number_exactly_as_far_off_as_allowed_passes():
    exercise = ValueExercise("98.x", reference=2.0, tolerance=0.5)
    assert exercise.finding(2.5).passed and exercise.finding(1.5).passed
    assert not exercise.finding(2.625).passed


def test_what_is_no_number_is_quoted_up_to_200_signs():
    finding = ValueExercise("98.x").finding("x" * 300)
    assert (finding.kind, finding.quotes) == ("not_a_value", (("value", "'" + "x" * 199),))
    assert str(NoNumberError("not_a_value")) == "not_a_value"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (1.25e10, "1.25e+10"),
        (16384, "16,384"),
        (-16384.5, "-16,384.5"),
        (-0.25, "-0.25"),
        (100, "100"),
        (math.inf, "inf"),
    ],
)
def test_a_predicted_number_is_told_as_a_person_writes_it(answer, shown):
    assert ValueExercise("98.x", reference=7).finding(answer).values == {"got": shown}
