"""Multi-head attention in plain torch, named as the papers name it.

Source: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.2.

Symbols, the same in the whole course:
    B        sequences in the batch
    T        tokens in a sequence
    d_model  width of a token's vector
    H        number of heads
    d_k      width of one head, d_model / H

A mask says who may be looked at: True or 1 = may attend, False or 0 = hidden.
"""

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn


class ImpossibleHeadsError(ValueError):
    """H heads of equal width do not fit into d_model features.

    Attributes: `d_model`, `num_heads`, `remainder` (None where there is nothing to divide),
    and the nearest legal numbers of heads, `below` and `above` (None where there is none).
    """

    def __init__(self, d_model: int, num_heads: int):
        self.d_model, self.num_heads = d_model, num_heads
        dividable = d_model >= 1 and num_heads >= 1
        self.remainder = d_model % num_heads if dividable else None
        legal = legal_heads(d_model)
        self.below = max((h for h in legal if h < num_heads), default=None)
        self.above = min((h for h in legal if h > num_heads), default=None)
        super().__init__(d_model, num_heads)

    def __str__(self) -> str:
        return self.explain()

    def explain(self) -> str:
        """The message in English; `helpers.lesson` puts the reader's language in its place."""
        d_model, H = self.d_model, self.num_heads
        if d_model < 1:
            return f"d_model = {d_model}: a token needs at least 1 feature."
        nearest = " or ".join(str(h) for h in (self.below, self.above) if h is not None)
        if H < 1:
            why = f"num_heads = {H}: attention needs at least 1 head"
        elif H > d_model:
            why = f"num_heads = {H} is more than d_model = {d_model}: some heads would be empty"
        else:
            why = (
                f"num_heads = {H} does not divide d_model = {d_model}: "
                f"{d_model} = {H} * {d_model // H} + {self.remainder}, remainder {self.remainder}"
            )
        return f"{why}. Nearest number of heads that works: {nearest}."


class WrongInputError(ValueError):
    """A tensor, a mask or a layer that this file cannot use.

    Attributes: `kind`, which of these errors it is; `words`, the message in English with
    {places} for its numbers; `numbers`, what goes into those places.
    """

    def __init__(self, kind: str, words: str, **numbers):
        self.kind, self.words, self.numbers = kind, words, numbers
        super().__init__(kind, words)

    def __str__(self) -> str:
        return self.explain()

    def explain(self) -> str:
        """The message in English; `helpers.lesson` puts the reader's language in its place."""
        return self.words.format(**self.numbers)


def legal_heads(d_model: int) -> list[int]:
    """Every H that divides d_model, in rising order."""
    return [h for h in range(1, d_model + 1) if d_model % h == 0]


def head_width(d_model: int, num_heads: int) -> int:
    """d_k = d_model / H. Raises `ImpossibleHeadsError` when H does not divide d_model."""
    if d_model < 1 or num_heads < 1 or d_model % num_heads:
        raise ImpossibleHeadsError(d_model, num_heads)
    return d_model // num_heads


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Give each head its own d_k features of every token: (B, T, d_model) -> (B, H, T, d_k).

    Raises `WrongInputError` for another number of axes, `ImpossibleHeadsError` for an
    impossible H.
    """
    if x.dim() != 3:
        raise WrongInputError(
            "axes",
            "x of shape {shape}: (B, T, d_model) is needed. For one sequence alone of shape "
            "(T, d_model), write x[None].",
            shape=tuple(x.shape),
        )
    B, T, d_model = x.shape
    d_k = head_width(d_model, num_heads)
    return x.view(B, T, num_heads, d_k).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side again, the way back: (B, H, T, d_k) -> (B, T, H * d_k)."""
    B, H, T, d_k = x.shape
    # After the swap the features of one token are no longer side by side in memory,
    # and `view` never moves a number: contiguous() copies them into place first.
    return x.transpose(1, 2).contiguous().view(B, T, H * d_k)


def _allowed(mask: Tensor, wanted: tuple[int, ...]) -> Tensor:
    """The mask as booleans that broadcast over scores of shape `wanted`, or an error in words."""
    shape, wanted = tuple(mask.shape), tuple(wanted)
    if len(shape) == 3 and len(wanted) == 4:
        raise WrongInputError(
            "mask_axis",
            "mask of shape {shape} for scores {wanted}: is its first axis B or H? "
            "Write mask[:, None] for one mask per sequence, mask[None] for one per head.",
            shape=shape,
            wanted=wanted,
        )
    # Read from the last axis back, each is 1 or as wanted. (`torch.broadcast_shapes` says the
    # same; its first call in a kernel costs 34 MB and a quarter of a second.)
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    if len(shape) > len(wanted) or any(own not in (1, size) for own, size in pairs):
        raise WrongInputError(
            "mask_shape",
            "mask of shape {shape} does not fit scores of shape {wanted}: give (T_query, T_key), "
            "or (B, 1, 1, T_key) to hide padding. A (B, T) padding mask is written "
            "mask[:, None, None, :].",
            shape=shape,
            wanted=wanted,
        )
    if mask.is_floating_point() and not ((mask == 0) | (mask == 1)).all():
        raise WrongInputError(
            "mask_numbers",
            "this mask holds numbers other than 0 and 1. Here 1 means 'may attend' and 0 'hidden'; "
            "a mask that is added to the scores (0 and -inf) has the opposite sense: "
            "pass `mask == 0` instead.",
        )
    return mask != 0


def scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(Q Kᵀ / √d_k) V, Vaswani et al. 2017, equation 1.

    Q (..., T_query, d_k), K (..., T_key, d_k), V (..., T_key, d_v); `mask` broadcasts over
    (..., T_query, T_key), True or 1 = may attend.
    Returns the output (..., T_query, d_v) and the weights (..., T_query, T_key).
    Each row of weights sums to 1; a row whose keys are all hidden is all zeros.
    """
    scores = attention_scores(Q, K)
    weights = attention_weights(scores, mask)
    return weights @ V, weights


def attention_scores(Q: Tensor, K: Tensor) -> Tensor:
    """Q Kᵀ / √d_k: (..., T_query, d_k), (..., T_key, d_k) -> (..., T_query, T_key)."""
    d_k = Q.shape[-1]
    scores = Q @ K.transpose(-2, -1)
    return scores.div_(math.sqrt(d_k))  # in place: no second table of T_query · T_key numbers


def attention_weights(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys (the last axis), hidden keys left out; same shape as `scores`."""
    if mask is None:
        return scores.softmax(dim=-1)
    allowed = _allowed(mask, scores.shape)
    # -inf rather than a big number: exp(-inf) is exactly 0 in fp32, bf16 and fp16 alike.
    scores = scores.masked_fill(~allowed, float("-inf"))
    # A row of nothing but -inf would be 0/0 = NaN, and NaN gradients reach every weight.
    # Such a row has nothing to attend to: softmax gets harmless zeros, the result is zeros.
    nothing = ~allowed.any(dim=-1, keepdim=True)
    weights = scores.masked_fill(nothing, 0.0).softmax(dim=-1)
    return weights.masked_fill(nothing, 0.0)


@dataclass(frozen=True)
class AttentionTrace:
    """Every tensor on the way through one `MultiHeadAttention`, in the order they arise."""

    X: Tensor  # (B, T, d_model)     the input
    Q: Tensor  # (B, T, d_model)     X · W_Q, all heads side by side
    K: Tensor  # (B, T, d_model)
    V: Tensor  # (B, T, d_model)
    Q_view: Tensor  # (B, T, H, d_k)      the last axis read as H groups of d_k
    Q_heads: Tensor  # (B, H, T, d_k)      axes T and H swapped
    K_heads: Tensor  # (B, H, T, d_k)
    V_heads: Tensor  # (B, H, T, d_k)
    scores: Tensor  # (B, H, T, T)        Q Kᵀ / √d_k
    weights: Tensor  # (B, H, T, T)        softmax over the keys
    heads: Tensor  # (B, H, T, d_k)      weights · V, times the gates if there are any
    swapped: Tensor  # (B, T, H, d_k)      axes swapped back
    concat: Tensor  # (B, T, d_model)     heads side by side
    output: Tensor  # (B, T, d_model)     concat · W_O

    def __iter__(self):
        return ((field.name, getattr(self, field.name)) for field in fields(self))


class BlankLinear(nn.Linear):
    """nn.Linear whose numbers its maker fills in: none is drawn from torch's global generator.

    (`nn.utils.skip_init` does the same by way of the meta device, whose first use costs a
    kernel a quarter of a second and 40 MB.)
    """

    def reset_parameters(self) -> None:
        pass

    def _get_name(self) -> str:
        return "Linear"


def _linear(d_in: int, d_out: int, bias: bool, generator: torch.Generator | None) -> nn.Linear:
    if generator is None:
        return nn.Linear(d_in, d_out, bias=bias)
    # Variance 1/d_in keeps unit-variance features at unit variance. A generator of one's own
    # leaves torch's global random state alone: making a layer changes nobody else's numbers.
    layer = BlankLinear(d_in, d_out, bias=bias)
    nn.init.normal_(layer.weight, std=d_in**-0.5, generator=generator)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class MultiHeadAttention(nn.Module):
    """H heads of width d_k = d_model / H, all computed at once (Vaswani et al. 2017, 3.2.2).

    `generator` draws the weights from N(0, 1/d_model) and leaves torch's global random
    state untouched; without it `nn.Linear` starts as usual.
    Raises `ImpossibleHeadsError` when H does not divide d_model.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        bias: bool = False,
        *,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.d_k = head_width(d_model, num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.W_Q = _linear(d_model, d_model, bias, generator)
        self.W_K = _linear(d_model, d_model, bias, generator)
        self.W_V = _linear(d_model, d_model, bias, generator)
        self.W_O = _linear(d_model, d_model, bias, generator)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, d_model) -> (B, T, d_model). `mask` broadcasts over (B, H, T, T)."""
        Q = split_heads(self.W_Q(X), self.num_heads)
        K = split_heads(self.W_K(X), self.num_heads)
        V = split_heads(self.W_V(X), self.num_heads)
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)
        return self.W_O(merge_heads(heads))

    def trace(
        self,
        X: Tensor,
        mask: Tensor | None = None,
        gates: Tensor | None = None,
        *,
        temperature: float = 1.0,
    ) -> AttentionTrace:
        """Like `forward`, keeping every tensor on the way.

        `gates` (H,) multiplies each head's output before W_O: 1 leaves a head as it is,
        0 removes it (Voita et al. 2019, arXiv:1905.09418, section 5).
        `temperature` divides the scores: above 1 the weights get flatter, below 1 sharper.
        """
        H, d_k = self.num_heads, self.d_k
        Q, K, V = self.W_Q(X), self.W_K(X), self.W_V(X)
        Q_heads, K_heads, V_heads = (split_heads(x, H) for x in (Q, K, V))
        scores = attention_scores(Q_heads, K_heads)
        if temperature != 1:  # no copy of all scores for nothing
            scores = scores / temperature
        weights = attention_weights(scores, mask)
        heads = weights @ V_heads
        if gates is not None:
            if tuple(gates.shape) != (H,):
                raise WrongInputError(
                    "gates",
                    "gates of shape {shape}: one number per head, ({H},).",
                    shape=tuple(gates.shape),
                    H=H,
                )
            heads = heads * gates.to(heads.dtype)[:, None, None]
        concat = merge_heads(heads)
        return AttentionTrace(
            X=X,
            Q=Q,
            K=K,
            V=V,
            Q_view=Q.view(*X.shape[:2], H, d_k),
            Q_heads=Q_heads,
            K_heads=K_heads,
            V_heads=V_heads,
            scores=scores,
            weights=weights,
            heads=heads,
            swapped=heads.transpose(1, 2),
            concat=concat,
            output=self.W_O(concat),
        )

    @classmethod
    def from_torch(cls, layer: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The same layer as torch's `nn.MultiheadAttention`, its packed weights copied.

        torch keeps W_Q, W_K and W_V as three row blocks of one (3·d_model, d_model) matrix.
        Raises `WrongInputError` for options this class does not have (other key or value
        widths, extra bias rows, dropout while training).
        """
        d_model = layer.embed_dim
        if layer.in_proj_weight is None:
            raise WrongInputError(
                "widths",
                "kdim = {kdim} and vdim = {vdim} differ from embed_dim = {d_model}: "
                "this class projects queries, keys and values from the same width.",
                kdim=layer.kdim,
                vdim=layer.vdim,
                d_model=d_model,
            )
        if layer.bias_k is not None or layer.add_zero_attn:
            raise WrongInputError(
                "extra_keys", "add_bias_kv and add_zero_attn add keys this class does not have."
            )
        if layer.training and layer.dropout > 0:
            raise WrongInputError(
                "dropout",
                "dropout = {dropout} while training: call layer.eval() first.",
                dropout=layer.dropout,
            )
        ours = cls(
            d_model,
            layer.num_heads,
            bias=layer.in_proj_bias is not None,
            generator=torch.Generator(),  # overwritten below; spares the global random state
        ).to(layer.in_proj_weight)
        with torch.no_grad():
            projections = (ours.W_Q, ours.W_K, ours.W_V)
            for ours_part, block in zip(projections, layer.in_proj_weight.chunk(3), strict=True):
                ours_part.weight.copy_(block)
            ours.W_O.weight.copy_(layer.out_proj.weight)
            if layer.in_proj_bias is not None:
                for ours_part, block in zip(projections, layer.in_proj_bias.chunk(3), strict=True):
                    ours_part.bias.copy_(block)
                ours.W_O.bias.copy_(layer.out_proj.bias)
        return ours.train(layer.training)


class LoopedMultiHeadAttention(nn.Module):
    """The same layer written as the paper writes it: H small projections and a loop.

    `W_Q[i]`, `W_K[i]`, `W_V[i]` map d_model to d_k for head i; one `W_O` maps the
    concatenated heads back. Slower, and equal to `MultiHeadAttention`: see `from_batched`.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        bias: bool = False,
        *,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.d_k = head_width(d_model, num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.W_Q, self.W_K, self.W_V = (
            nn.ModuleList(_linear(d_model, self.d_k, bias, generator) for _ in range(num_heads))
            for _ in range(3)
        )
        self.W_O = _linear(d_model, d_model, bias, generator)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, d_model) -> (B, T, d_model). The same masks as `MultiHeadAttention` takes."""
        B, T, _ = X.shape
        if mask is not None:
            every_head = (B, self.num_heads, T, T)
            mask = _allowed(mask, every_head).expand(every_head)
        heads = []
        for i in range(self.num_heads):
            Q, K, V = self.W_Q[i](X), self.W_K[i](X), self.W_V[i](X)  # (B, T, d_k) each
            own = None if mask is None else mask[:, i]
            head, _ = scaled_dot_product_attention(Q, K, V, own)
            heads.append(head)
        return self.W_O(torch.cat(heads, dim=-1))

    @classmethod
    def from_batched(cls, batched: MultiHeadAttention) -> "LoopedMultiHeadAttention":
        """The looped layer on the *same* memory: head i reads rows i·d_k … (i+1)·d_k of W_Q."""
        has_bias = batched.W_O.bias is not None
        looped = cls(batched.d_model, batched.num_heads, has_bias, generator=torch.Generator())
        for name in ("W_Q", "W_K", "W_V"):
            big = getattr(batched, name)
            for i, small in enumerate(getattr(looped, name)):
                rows = slice(i * batched.d_k, (i + 1) * batched.d_k)
                small.weight.data = big.weight.data[rows]
                if has_bias:
                    small.bias.data = big.bias.data[rows]
        looped.W_O = batched.W_O
        return looped
