"""Measures of attention heads: what each one does, over many sentences, beside a baseline.

Every measure gives one number per head, as a tensor (L, H) whose axes count from 0; `name`
says a head as papers do, from 1. A measure describes where weight goes. It does not say why,
nor that the result depends on it: that is what `removal` asks, by taking the head away.
"""

from .distance import head_distances
from .patterns import (
    POSITIONAL,
    confidence,
    entropy,
    next_share,
    offset_share,
    positional,
    previous_share,
    rare_word_share,
    self_share,
    special_share,
)
from .removal import removal
from .roles import MEASURES, measure, name, roles
from .syntax import (
    DIRECTIONS,
    FEWEST,
    Arcs,
    RelationScore,
    arcs,
    best_offset,
    bootstrap_interval,
    leaderboard,
    relation_score,
    syntactic_accuracy,
)
from .words import MostAttended, merge_pieces, most_attended, piece_owners

__all__ = [
    "DIRECTIONS",
    "FEWEST",
    "MEASURES",
    "POSITIONAL",
    "Arcs",
    "MostAttended",
    "RelationScore",
    "arcs",
    "best_offset",
    "bootstrap_interval",
    "confidence",
    "entropy",
    "head_distances",
    "leaderboard",
    "measure",
    "merge_pieces",
    "most_attended",
    "name",
    "next_share",
    "offset_share",
    "piece_owners",
    "positional",
    "previous_share",
    "rare_word_share",
    "relation_score",
    "removal",
    "roles",
    "self_share",
    "special_share",
    "syntactic_accuracy",
]
