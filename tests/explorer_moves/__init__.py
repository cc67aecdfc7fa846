"""What a reader can do to each explorer, legal or not, and what must then be true of its numbers.

For each class a `Moves`: values for every trait (a reader's, or code's), which control sets which
trait, which state cannot be drawn, and a check of the picture against numbers computed here.
"""

from .base import part
from .encoder import ENCODER, few_sentences
from .layers import LAYERS, wrong_multi_head
from .topics import TOPICS

MOVES = LAYERS | TOPICS | ENCODER

__all__ = ["MOVES", "few_sentences", "part", "wrong_multi_head"]
