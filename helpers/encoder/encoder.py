"""A real pretrained encoder that runs on our own `MultiHeadAttention`.

all-MiniLM-L6-v2: 6 layers of 12 heads, d_model 384, d_k 32; BERT's architecture (Devlin et al.
2019, arXiv:1810.04805), made small by Wang et al. 2020, arXiv:2002.10957, and trained to give
sentences a vector. Its weights come as files in an ordinary package; only the files are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from ..attention import BlankLinear, MultiHeadAttention, head_width
from ..texts import t
from .files import (
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    EncoderConfig,
    EncoderError,
    check_folder,
    packaged_folder,
    read_config,
    read_tokenizer,
    read_weights,
)
from .tokens import Token, cut, notice, read_tokens

__all__ = ["Encoder", "EncoderError", "Encoding", "Token", "load_encoder"]


@dataclass(frozen=True, repr=False, eq=False)
class Encoding:
    """What the encoder made of one text of T tokens. Axes of layers and heads count from 0.

    weights          (L, H, T, T)        row = query, column = key; rows sum to 1
    hidden           (L + 1, T, d_model) the embeddings, then the output of each layer
    sentence_vector  (d_model,)          mean of the last layer's tokens, of length 1
    """

    text: str
    tokens: list[Token]
    total: int  # tokens the whole text has; `used` of them went in
    weights: Tensor
    hidden: Tensor
    sentence_vector: Tensor

    @property
    def labels(self) -> list[str]:
        return [token.label for token in self.tokens]

    @property
    def used(self) -> int:
        return len(self.tokens)

    @property
    def notice(self) -> str:
        """Says that the text was cut, or that it holds typed special tokens; '' for neither."""
        return notice(self.text, self.tokens, self.total)

    def __repr__(self) -> str:
        return f"Encoding(tokens={self.used}, weights={tuple(self.weights.shape)})"


def _blank_embedding(rows: int, width: int) -> nn.Embedding:
    # Memory that nobody has written to costs nothing, so this form of 47 MB stays free.
    return nn.Embedding.from_pretrained(torch.empty(rows, width))


class Layer(nn.Module):
    """Attention and a feed-forward part, each added to its input and normalised."""

    def __init__(self, config: EncoderConfig, generator: torch.Generator):
        super().__init__()
        d_model, d_ff, eps = config.d_model, config.d_ff, config.norm_eps
        self.attention = MultiHeadAttention(
            d_model, config.num_heads, bias=True, generator=generator
        )
        self.attention_norm = nn.LayerNorm(d_model, eps=eps)
        self.widen = BlankLinear(d_model, d_ff)
        self.narrow = BlankLinear(d_ff, d_model)
        self.output_norm = nn.LayerNorm(d_model, eps=eps)

    def forward(
        self, x: Tensor, mask: Tensor | None, gates: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """(B, T, d_model) -> (B, T, d_model) and the weights (B, H, T, T)."""
        attention = self.attention.trace(x, mask, gates)
        x = self.attention_norm(x + attention.output)
        x = self.output_norm(x + self.narrow(F.gelu(self.widen(x))))
        return x, attention.weights


class Encoder(nn.Module):
    """BERT's encoder with our attention; made by `load_encoder`.

    `layers[i].attention` is the `MultiHeadAttention` of layer i. As made here the encoder is
    an empty form: its numbers are put in by `load_encoder` or `untrained`.
    """

    def __init__(self, config: EncoderConfig, tokenizer: Tokenizer):
        super().__init__()
        self.config, self.tokenizer = config, tokenizer
        self.d_model, self.num_heads = config.d_model, config.num_heads
        self.d_k = head_width(config.d_model, config.num_heads)
        self.num_layers, self.max_positions = config.num_layers, config.max_positions
        self.words = _blank_embedding(config.vocabulary, config.d_model)
        self.positions = _blank_embedding(config.max_positions, config.d_model)
        self.types = _blank_embedding(config.types, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        generator = torch.Generator()  # what it draws is overwritten
        self.layers = nn.ModuleList(Layer(config, generator) for _ in range(config.num_layers))
        self.requires_grad_(False).eval()

    def forward(
        self, ids: Tensor, real: Tensor | None = None, gates: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """ids (B, T) -> hidden (B, L + 1, T, d_model), weights (B, L, H, T, T).

        `real` (B, T): True for a token, False for padding, which nobody may attend to.
        `gates` (L, H): each head's output is multiplied by its gate; 0 removes the head.
        """
        B, T = ids.shape
        x = self.words(ids) + self.types.weight[0] + self.positions.weight[:T]
        x = self.norm(x)
        mask = None if real is None else real[:, None, None, :]
        # Filled in place: at T = 512 the weights alone are 75 MB, and a list to stack is as much
        # again.
        hidden = x.new_empty(B, self.num_layers + 1, T, self.d_model)
        weights = x.new_empty(B, self.num_layers, self.num_heads, T, T)
        hidden[:, 0] = x
        for i, layer in enumerate(self.layers):
            x, weights[:, i] = layer(x, mask, None if gates is None else gates[i])
            hidden[:, i + 1] = x
        return hidden, weights

    def tokenize(self, text: str) -> list[Token]:
        """All tokens of the text with [CLS] and [SEP], however many they are."""
        return read_tokens(self.tokenizer, text)

    def encode(
        self, text: str, gates: Tensor | None = None, max_tokens: int | None = None
    ) -> Encoding:
        """Run one text; no gradients are kept (call `forward` itself for those).

        `gates` (num_layers, num_heads), see `forward`. A text of more than `max_tokens` tokens
        (as many as there are positions unless told) is cut before its [SEP]; `notice` says so.
        """
        return self._encode([text], gates, max_tokens)[0]

    def encode_batch(
        self, texts: Sequence[str], gates: Tensor | None = None, max_tokens: int | None = None
    ) -> list[Encoding]:
        """Run several texts at once, shorter ones padded; the padding is hidden from every
        query and taken out again, so that each result is the one `encode` gives."""
        if isinstance(texts, str):
            raise TypeError(t("encoder.not_texts"))
        return self._encode(list(texts), gates, max_tokens) if len(texts) else []

    @torch.no_grad()  # not inference_mode: a lesson may train something on these tensors
    def _encode(self, texts, gates, max_tokens) -> list[Encoding]:
        limit = self.max_positions if max_tokens is None else max_tokens
        if not 3 <= limit <= self.max_positions:
            raise ValueError(t("encoder.limit", have=limit, most=self.max_positions))
        if gates is not None:
            gates, wanted = torch.as_tensor(gates), (self.num_layers, self.num_heads)
            if tuple(gates.shape) != wanted:
                raise ValueError(t("encoder.gates", have=tuple(gates.shape), want=wanted))
        whole = [self.tokenize(text) for text in texts]
        used = [cut(tokens, limit) for tokens in whole]
        lengths = [len(tokens) for tokens in used]
        longest = max(lengths)
        ids = torch.zeros(len(texts), longest, dtype=torch.long)
        for row, tokens in zip(ids, used, strict=True):
            row[: len(tokens)] = torch.tensor([token.id for token in tokens])
        real = torch.arange(longest) < torch.tensor(lengths)[:, None]
        hidden, weights = self(ids, None if real.all() else real, gates)
        compact = partial(torch.clone, memory_format=torch.contiguous_format)
        results = []
        for b, T in enumerate(lengths):
            # Copies, and never views: a view of one text keeps the memory of the whole batch.
            own = compact(hidden[b, :, :T])
            results.append(
                Encoding(
                    text=texts[b],
                    tokens=used[b],
                    total=len(whole[b]),
                    weights=compact(weights[b, :, :, :T, :T]),
                    hidden=own,
                    sentence_vector=F.normalize(own[-1].mean(dim=0), dim=0),
                )
            )
        return results

    def untrained(self, seed: int = 0) -> "Encoder":
        """An encoder of the same shape that has learned nothing: the control for any claim.

        Weights from N(0, 0.02²), biases 0, norms 1 and 0, as BERT starts (Devlin et al. 2019,
        code); drawn from a generator of its own. Same tokenizer.
        """
        other = Encoder(self.config, self.tokenizer)
        generator = torch.Generator().manual_seed(seed)
        for module in other.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                module.weight.normal_(0.0, self.config.init_std, generator=generator)
            if isinstance(module, nn.Linear):
                module.bias.zero_()
        return other


def load_encoder(folder: str | Path | None = None) -> Encoder:
    """The pretrained encoder; the packaged one is read once and shared, so leave it unchanged.

    `folder`: another BERT-style model instead (config.json, model.safetensors, tokenizer.json).
    Raises `EncoderError`, in words, when weights are missing, damaged or of another kind.
    """
    return _packaged_encoder() if folder is None else _read(Path(folder).expanduser())


@cache
def _packaged_encoder() -> Encoder:
    return _read(packaged_folder())


def _read(folder: Path) -> Encoder:
    check_folder(folder)
    config, tokenizer = read_config(folder / CONFIG), read_tokenizer(folder / TOKENIZER)
    have, want = tokenizer.get_vocab_size(), config.vocabulary
    if have > want:
        raise EncoderError(t("encoder.vocabulary", folder=folder, have=have, want=want))
    encoder = Encoder(config, tokenizer)
    shapes = {name: tuple(empty.shape) for name, empty in encoder.state_dict().items()}
    encoder.load_state_dict(read_weights(folder / WEIGHTS, shapes), assign=True)
    return encoder
