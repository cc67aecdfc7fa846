"""What the tokenizer makes of a text, in any script, with markup and typed special tokens."""

import pytest

from helpers import texts
from helpers.encoder import load_encoder
from helpers.encoder.tokens import cut, notice


@pytest.fixture(scope="module")
def tokenize():
    return load_encoder().tokenize


def pieces(tokens):
    return [token.piece for token in tokens]


def test_pieces_say_where_they_stood(tokenize):
    text = "Unbelievably, señor,  it works!"
    tokens = tokenize(text)
    assert [(token.piece, token.text, token.word_index) for token in tokens] == [
        ("[CLS]", "", None),
        ("un", "Un", 0),
        ("##bel", "bel", 0),
        ("##ie", "ie", 0),
        ("##va", "va", 0),
        ("##bly", "bly", 0),
        (",", ",", 1),
        ("sen", "señ", 2),
        ("##or", "or", 2),
        (",", ",", 3),
        ("it", "it", 4),
        ("works", "works", 5),
        ("!", "!", 6),
        ("[SEP]", "", None),
    ]
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert [token.is_special for token in tokens] == [True] + [False] * 12 + [True]
    assert not any(token.typed_special or token.is_unknown for token in tokens)
    assert (tokens[0].id, tokens[-1].id) == (101, 102)


def test_repeated_words_are_tokens_of_their_own(tokenize):
    tokens = tokenize("the cat sat on the mat because the mat was warm")
    assert len(tokens) == 13
    assert [token.start for token in tokens if token.piece == "the"] == [0, 15, 31]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200d", "\x00"])
def test_a_text_without_a_word_is_two_tokens(tokenize, text):
    assert pieces(tokenize(text)) == ["[CLS]", "[SEP]"]


def test_c18_any_script_keeps_its_own_text(tokenize):
    text = "Gracias 漢字 ありがとう 😀 👩‍💻 هذا"
    tokens = tokenize(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    unknown = [token for token in tokens if token.is_unknown]
    assert [token.text for token in unknown] == ["字", "😀", "👩‍💻"]
    assert [token.label for token in unknown] == ["[UNK] 字", "[UNK] 😀", "[UNK] 👩‍💻"]
    assert not any(token.is_special for token in unknown)
    # Arabic in the order it is read, first letter first.
    assert [token.piece for token in tokens if token.word_index == 6] == ["ه", "##ذ", "##ا"]
    assert [token.label for token in tokens][1:5] == ["gr", "##ac", "##ias", "漢"]


def test_c18_the_joiner_in_an_emoji_does_not_split_it(tokenize):
    tokens = tokenize("a 👩‍💻👨‍👩‍👧 b")
    assert [token.text for token in tokens] == ["", "a", "👩‍💻👨‍👩‍👧", "b", ""]


def test_c18_a_long_unknown_word_has_a_short_label(tokenize):
    (token,) = tokenize("x" * 101)[1:-1]
    assert token.is_unknown
    assert token.text == "x" * 101
    assert token.label == "[UNK] " + "x" * 12 + "…"


def test_half_an_emoji_does_not_stop_the_lesson(tokenize):
    """A page can send one half of a surrogate pair; UTF-8 has no place for it."""
    tokens = tokenize("a \ud83d b")
    assert pieces(tokens) == ["[CLS]", "a", "?", "b", "[SEP]"]
    assert [token.start for token in tokens[1:-1]] == [0, 2, 4]


def test_c20_markup_is_text(tokenize):
    text = '<b>bold</b> <script>alert(1)</script> & "q"'
    tokens = tokenize(text)
    assert "".join(token.text for token in tokens) == text.replace(" ", "")
    assert [token.label for token in tokens][1:5] == ["<", "b", ">", "bold"]
    assert not any(token.typed_special for token in tokens)
    assert notice(text, tokens, len(tokens)) == ""


def test_c20_a_typed_special_token_is_real_and_marked(tokenize):
    text = "[MASK] tail [SEP] end"
    tokens = tokenize(text)
    assert [(t.piece, t.is_special, t.typed_special, t.word_index) for t in tokens] == [
        ("[CLS]", True, False, None),
        ("[MASK]", True, True, 0),
        ("tail", False, False, 1),
        ("[SEP]", True, True, 2),
        ("end", False, False, 3),
        ("[SEP]", True, False, None),
    ]
    assert tokens[3].id == tokens[-1].id == 102
    assert (tokens[3].start, tokens[3].end, tokens[3].text) == (12, 17, "[SEP]")


def test_c20_typed_unknown_and_lower_case(tokenize):
    (typed,) = tokenize("[UNK]")[1:-1]
    assert (typed.typed_special, typed.is_unknown, typed.label) == (True, False, "[UNK]")
    assert not any(token.typed_special for token in tokenize("[sep] [ SEP ]"))


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [
        ("en", "The text contains [SEP]. The tokenizer does not read it", "[MASK], [SEP]. The"),
        ("es", "El texto contiene [SEP]. El tokenizador no lo lee", "[MASK], [SEP]. El"),
    ],
)
def test_c20_the_notice_explains_typed_special_tokens(tokenize, language, one, many):
    texts.set_language(language)
    try:
        text = "a [SEP] b [SEP]"
        assert notice(text, tokenize(text), 6).startswith(one)
        text = "[MASK] tail [SEP] end"
        assert many in notice(text, tokenize(text), 6)
    finally:
        texts.set_language("en")


def test_cutting_keeps_both_ends(tokenize):
    tokens = tokenize("the cat sat on the mat")
    assert pieces(cut(tokens, 4)) == ["[CLS]", "the", "cat", "[SEP]"]
    assert cut(tokens, 4)[-1] is tokens[-1]
    assert cut(tokens, 8) == cut(tokens, 9) == tokens


def test_the_notice_says_where_the_text_was_cut_and_what_is_left_of_it(tokenize):
    text = "[MASK] {braces} stay 漢字 [SEP]"
    tokens = tokenize(text)
    said = notice(text, cut(tokens, 5), len(tokens))
    # [SEP] was cut off with the rest: only what went in is explained.
    assert said.startswith(f"5 of {len(tokens)} tokens used: the text was cut after “{{brace”. ")
    assert "The text contains [MASK]. The" in said
    assert "[SEP]" not in said
    text = "y" * 90 + " z"
    tokens = tokenize(text)
    assert "“" + "y" * 20 + "”" in notice(text, cut(tokens, len(tokens) - 1), len(tokens))
