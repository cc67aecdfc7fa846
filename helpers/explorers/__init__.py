"""The live explorers of the course. Show one by making it the last line of a cell."""

from .budget import AttentionBudget
from .encoder import EncoderExplorer
from .gates import HeadGates
from .graphs import HeadGraphExplorer
from .head_roles import HeadRoles
from .live_gates import LiveGates
from .masks import MaskExplorer
from .multi_head import MultiHeadExplorer
from .playground import Playground
from .relation_board import RelationBoard
from .reshape import ReshapeLab
from .saturation import SoftmaxSaturation
from .shapes import ShapeExplorer
from .training import TrainingRuns

__all__ = [
    "AttentionBudget",
    "EncoderExplorer",
    "HeadGates",
    "HeadGraphExplorer",
    "HeadRoles",
    "LiveGates",
    "MaskExplorer",
    "MultiHeadExplorer",
    "Playground",
    "RelationBoard",
    "ReshapeLab",
    "ShapeExplorer",
    "SoftmaxSaturation",
    "TrainingRuns",
]
