"""The live explorers of the course. Show one by making it the last line of a cell."""

from .budget import AttentionBudget
from .encoder import EncoderExplorer
from .multi_head import MultiHeadExplorer
from .saturation import SoftmaxSaturation

__all__ = ["AttentionBudget", "EncoderExplorer", "MultiHeadExplorer", "SoftmaxSaturation"]
