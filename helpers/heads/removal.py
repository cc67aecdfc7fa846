"""What happens to the result when one head is taken away."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from ..encoder import Encoder
from ..threads import one_thread


@one_thread()
@torch.no_grad()
def removal(encoder: Encoder, texts: Sequence[str]) -> Tensor:
    """(L, H): how far the sentence vectors turn when that head's output is set to 0.

    One-head removal, Michel et al. 2019 (arXiv:1905.10650), section 3.2, with 1 - cosine
    between the vector with all heads and the vector without this one, mean over the texts,
    where they measured the score of a translation. 0: nothing changes.
    """
    L, H = encoder.num_layers, encoder.num_heads
    change = torch.zeros(L, H)
    for encoding in encoder.encode_batch(texts):
        for layer in range(L):
            # Layers before this one do the same as with all heads; all H removals run at once.
            x = encoding.hidden[layer].expand(H, -1, -1)
            x = _without_own_head(encoder.layers[layer], x)
            for later in encoder.layers[layer + 1 :]:
                x, _ = later(x, None, None)
            vectors = F.normalize(x.mean(dim=1), dim=-1)  # (H, d_model), row i without head i
            change[layer] += 1 - vectors @ encoding.sentence_vector
    return (change / len(texts)).clamp(min=0)


def _without_own_head(layer, x: Tensor) -> Tensor:
    """x (H, T, d_model), H copies -> the layer's output, head i removed in copy i."""
    rows = [layer(x[i : i + 1], None, gates)[0] for i, gates in enumerate(1 - torch.eye(len(x)))]
    return torch.cat(rows)
