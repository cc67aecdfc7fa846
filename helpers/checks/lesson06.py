"""Lesson 06, explore: five numbers that the reader predicts before looking.

The words of every kind below are in texts/<language>/check_06.json.
"""

import math

from .base import register
from .values import ValueExercise

# H = 2 beside H = 16 at d_model = 64: the same four matrices, cut differently.
parameters = register(ValueExercise("06.parameter_factor", reference=1))
parameters.misconception("more_heads_more_weights", 16 / 2)
parameters.misconception("narrower_heads_fewer_weights", 2 / 16, (2 / 16) ** 2)
parameters.misconception("squared", (16 / 2) ** 2)
parameters.misconception("growth_not_factor", 0)
parameters.misconception("heads_not_factor", 16, 16 - 2)
parameters.misconception("parameters_not_factor", 4 * 64**2, 4 * 64**2 + 4 * 64)
parameters.misconception("doubled", 2)
parameters.misconception("matrices_not_factor", 4)

# One map has T rows and T columns: 9 · 9 beside 18 · 18.
cells = register(ValueExercise("06.map_factor", reference=4))
cells.misconception("one_side_only", 2)
cells.misconception("same_size", 1, 0)
cells.misconception("one_axis_too_many", 8)
cells.misconception("squared_twice", 16)
cells.misconception("added_not_factor", 3)
cells.misconception("difference_not_factor", 18**2 - 9**2)
cells.misconception("cells_not_factor", 18**2, 9**2)
cells.misconception("T_not_factor", 18, 9)
cells.misconception("upside_down", 1 / 4, 1 / 2)


def not_a_share(number: float) -> str | None:
    return None if 0 <= number <= 1 else "not_a_share"


def shared_out(number: float) -> str | None:
    return "shared_with_others" if 0 < number < 1 else None


# Under a causal mask the first token sees itself only.
first = register(ValueExercise("06.first_weight", reference=1))
first.misconception("not_even_itself", 0)
first.misconception("mask_forgotten", 1 / 9)
first.misconception("shared_with_the_next", 1 / 2)
first.misconception("others_only", 1 / 8)
first.misconception("score_not_weight", -math.inf)
first.misconception("score_not_hidden", math.inf)
first.misconception("percent", 100)
first.misconception("number_of_keys", 9)
first.rules += [shared_out, not_a_share]

# √d_k with d_k = 64 / 16.
scale = register(ValueExercise("06.divisor", reference=2))
scale.misconception("root_of_d_model", math.sqrt(64))
scale.misconception("root_forgotten_or_of_H", 64 / 16)
scale.misconception("whole_d_model", 64)
scale.misconception("number_of_heads", 16)
scale.misconception("multiplied_not_divided", 1 / 2, 1 / 4)
scale.misconception("root_of_T", math.sqrt(9), 9)
scale.misconception("root_twice", math.sqrt(2))
scale.misconception("other_side", math.sqrt(64 / 2), 64 / 2)
scale.misconception("no_scale", 1)
scale.misconception("width_times_heads", 64 * 16)

# Nine equal scores.
hot = register(ValueExercise("06.hot_weight", reference=1 / 9, tolerance=0.0015))
hot.misconception("all_to_zero", 0)
hot.misconception("one_takes_all", 1)
hot.misconception("sigmoid_of_zero", 1 / 2)
hot.misconception("keys_not_share", 9)
hot.misconception("percent", 100 / 9, 11)
hot.misconception("whole_map", 1 / 81)
hot.misconception("itself_left_out", 1 / 8)
hot.misconception("ten_keys", 1 / 10)
hot.misconception("temperature_not_weight", math.inf)
hot.rules += [not_a_share]
