"""The live explorers of the course. Show one by making it the last line of a cell."""

from .budget import AttentionBudget
from .encoder import EncoderExplorer
from .masks import MaskExplorer
from .multi_head import MultiHeadExplorer
from .reshape import ReshapeLab
from .saturation import SoftmaxSaturation
from .shapes import ShapeExplorer

__all__ = [
    "AttentionBudget",
    "EncoderExplorer",
    "MaskExplorer",
    "MultiHeadExplorer",
    "ReshapeLab",
    "ShapeExplorer",
    "SoftmaxSaturation",
]
