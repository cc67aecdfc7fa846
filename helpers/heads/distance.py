"""How unlike two heads are."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..encoder import Encoding
from ..threads import one_thread


@one_thread()
def head_distances(encodings: Sequence[Encoding]) -> Tensor:
    """(L·H, L·H): mean Jensen-Shannon divergence of two heads' rows, in nats.

    Clark et al. 2019, section 6 (they sum over tokens; the mean does not grow with the
    text). 0: the same rows; ln 2 = 0.69: rows with no key in common. All queries count.
    """
    total, count = 0, 0
    for encoding in encodings:
        rows = encoding.weights.flatten(0, 1)  # (L·H, T, T)
        alone = torch.special.entr(rows).sum(-1)  # (L·H, T)
        # One head against all at a time: all pairs at once would be 72 x 72 maps.
        pairs = [
            torch.special.entr((row + rows) / 2).sum(-1) - (own + alone) / 2
            for row, own in zip(rows, alone, strict=True)
        ]
        total = total + torch.stack(pairs).double().sum(-1)
        count += encoding.used
    return (total / count).clamp(min=0).float()
