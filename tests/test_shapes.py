"""`helpers.shapes`: the trace says what the tensors are, the counts are torch's own counts."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from helpers.attention import LoopedMultiHeadAttention, MultiHeadAttention
from helpers.shapes import (
    SYMBOLIC_SHAPES,
    count_flops,
    count_parameters,
    shape_step,
    shape_trace,
)

SHAPES = [(1, 10, 512, 8), (2, 5, 6, 2), (3, 7, 12, 3), (2, 4, 8, 8), (2, 6, 8, 1), (1, 1, 8, 2)]


def layer_trace(B, T, d_model, H):
    generator = torch.Generator().manual_seed(0)
    layer = MultiHeadAttention(d_model, H, generator=generator)
    return layer, layer.trace(torch.randn(B, T, d_model, generator=generator))


def test_the_trace_of_the_running_example():
    """Batch 1, T 10, d_model 512, H 8: shapes, strides, and where memory is out of order."""
    _, trace = layer_trace(1, 10, 512, 8)
    assert [(s.name, s.symbolic, s.shape, s.strides, s.contiguous) for s in shape_trace(trace)] == [
        ("X", "(B, T, d_model)", (1, 10, 512), (5120, 512, 1), True),
        ("Q", "(B, T, d_model)", (1, 10, 512), (5120, 512, 1), True),
        ("Q_view", "(B, T, H, d_k)", (1, 10, 8, 64), (5120, 512, 64, 1), True),
        ("Q_heads", "(B, H, T, d_k)", (1, 8, 10, 64), (5120, 64, 512, 1), False),
        ("scores", "(B, H, T, T)", (1, 8, 10, 10), (800, 100, 10, 1), True),
        ("weights", "(B, H, T, T)", (1, 8, 10, 10), (800, 100, 10, 1), True),
        ("heads", "(B, H, T, d_k)", (1, 8, 10, 64), (5120, 640, 64, 1), True),
        ("swapped", "(B, T, H, d_k)", (1, 10, 8, 64), (5120, 64, 640, 1), False),
        ("concat", "(B, T, d_model)", (1, 10, 512), (5120, 512, 1), True),
        ("output", "(B, T, d_model)", (1, 10, 512), (5120, 512, 1), True),
    ]


def test_each_step_names_its_operation():
    _, trace = layer_trace(1, 10, 512, 8)
    operations = {step.name: step.operation for step in shape_trace(trace)}
    assert operations == {
        "X": "input",
        "Q": "X · W_Q",
        "Q_view": "view",
        "Q_heads": "transpose(1, 2)",
        "scores": "Q Kᵀ / √d_k",
        "weights": "softmax",
        "heads": "weights · V",
        "swapped": "transpose(1, 2)",
        "concat": "contiguous, view",
        "output": "concat · W_O",
    }


@pytest.mark.parametrize(("B", "T", "d_model", "H"), SHAPES)
def test_symbols_name_the_axes(B, T, d_model, H):
    _, trace = layer_trace(B, T, d_model, H)
    sizes = {"B": B, "T": T, "d_model": d_model, "H": H, "d_k": d_model // H}
    steps = shape_trace(trace)
    assert [step.name for step in steps] == list(SYMBOLIC_SHAPES)
    for step in steps:
        assert step.shape == tuple(sizes[symbol] for symbol in step.symbols), step.name


@pytest.mark.parametrize(("B", "T", "d_model", "H"), SHAPES)
def test_steps_are_read_off_the_tensors(B, T, d_model, H):
    _, trace = layer_trace(B, T, d_model, H)
    for step in shape_trace(trace):
        tensor = getattr(trace, step.name)
        assert step.shape == tuple(tensor.shape)
        assert step.strides == tensor.stride()
        assert step.contiguous == tensor.is_contiguous()


def test_view_and_transpose_move_no_number_and_concat_does():
    _, trace = layer_trace(2, 5, 6, 2)
    assert trace.Q.data_ptr() == trace.Q_view.data_ptr() == trace.Q_heads.data_ptr()
    assert trace.heads.data_ptr() == trace.swapped.data_ptr()
    assert trace.swapped.data_ptr() != trace.concat.data_ptr()


def test_symbols_that_do_not_name_the_axes_are_refused():
    with pytest.raises(ValueError, match=r"scores: 2 symbols .* 4 axes \(1, 2, 3, 3\)"):
        shape_step("scores", "softmax", ("T", "T"), torch.zeros(1, 2, 3, 3))


@pytest.mark.parametrize(("B", "T", "d_model", "H"), SHAPES)
def test_flops_are_those_torch_counts(B, T, d_model, H):
    layer, trace = layer_trace(B, T, d_model, H)
    with FlopCounterMode(display=False) as counter:
        layer(trace.X)
    counted = counter.get_flop_counts()["Global"]
    by_name = {str(operation): flops for operation, flops in counted.items()}
    ours = count_flops(trace)
    assert ours["total"] == counter.get_total_flops()
    assert ours["attention"] == by_name["aten.bmm"]
    assert ours["projections"] == by_name["aten.mm"]


def test_flops_of_the_running_example_stay_put_as_heads_grow():
    wanted = {"projections": 20_971_520, "attention": 204_800, "total": 21_176_320}
    for H in (1, 8, 64, 512):
        assert count_flops(layer_trace(1, 10, 512, H)[1]) == wanted


@pytest.mark.parametrize("H", [1, 8, 512])
def test_parameters_stay_put_as_heads_grow(H):
    assert count_parameters(MultiHeadAttention(512, H)) == 1_048_576
    assert count_parameters(MultiHeadAttention(512, H, bias=True)) == 1_050_624
    reference = nn.MultiheadAttention(512, H)
    assert count_parameters(reference) == 1_050_624


def test_parameters_of_the_loop_are_those_of_the_batch():
    assert count_parameters(LoopedMultiHeadAttention(64, 8, bias=True)) == 16_640
