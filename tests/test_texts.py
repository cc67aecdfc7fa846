"""Everything a reader sees from the helpers comes from `helpers/texts/`, in both languages."""

import ast
import re
import string

import pytest
import text_keys
from text_keys import Module, groups, leaves, modules, name_of, sources, used

from helpers import texts
from tools.rules.prose import BELITTLING

ENGLISH, SPANISH = leaves("en"), leaves("es")


def placeholders(text: str) -> set[str]:
    """The {names} of a text, with what they ask for: {weight:.2f} gives "weight:.2f"."""
    parts = string.Formatter().parse(text)
    return {f"{name}{f':{spec}' if spec else ''}" for _, name, spec, _ in parts if name is not None}


# Both languages ---------------------------------------------------------------------------


def test_there_are_texts():
    assert len(ENGLISH) > 50


def test_c42_both_languages_have_the_same_files_and_keys():
    names = [sorted(p.name for p in (text_keys.FOLDER / lang).iterdir()) for lang in ("en", "es")]
    assert names[0] == names[1]
    assert sorted(ENGLISH.keys() - SPANISH.keys()) == [], "missing in Spanish"
    assert sorted(SPANISH.keys() - ENGLISH.keys()) == [], "missing in English"


def test_every_text_is_a_text():
    found = [*ENGLISH.items(), *SPANISH.items()]
    assert [key for key, text in found if not isinstance(text, str)] == []


def test_c42_both_languages_have_the_same_placeholders():
    shared = ENGLISH.keys() & SPANISH.keys()
    other = {k: (ENGLISH[k], SPANISH[k]) for k in shared if differs(ENGLISH[k], SPANISH[k])}
    assert other == {}


def differs(english: str, spanish: str) -> bool:
    return placeholders(english) != placeholders(spanish)


# Words that Spanish shares with English, or that the field keeps in English.
SHARED = set(
    """
    attention query queries key keys value values softmax token tokens embedding embeddings
    batch bias dropout encoder kernel notebook view transpose contiguous concat scores weights
    heads head output input view strides reshape permute mask causal padding seed
    total error no final normal general local nats entropy
    d_model d_k num_heads H T B Q K V X W_Q W_K W_V W_O MultiHeadExplorer EncoderExplorer
    """.split()
)


def unshared_words(text: str) -> list[str]:
    """The words of a text that a translation would change."""
    bare = re.sub(r"`[^`]*`|\$[^$]*\$|\{[^{}]*\}|<[^>]*>|\bL\d+-H\d+\b", " ", text)
    return [word for word in re.findall(r"[^\W\d]{3,}", bare) if not is_shared(word)]


def is_shared(word: str) -> bool:
    return word in SHARED or word.lower() in SHARED


def test_c42_spanish_texts_are_spanish():
    same = [k for k in ENGLISH if SPANISH.get(k) == ENGLISH[k] and unshared_words(ENGLISH[k])]
    assert {key: ENGLISH[key] for key in same} == {}


def test_texts_make_nobody_feel_small():
    found = {
        key: match[0]
        for language in (ENGLISH, SPANISH)
        for key, text in language.items()
        if (match := BELITTLING.search(text))
    }
    assert found == {}


# Code and texts ---------------------------------------------------------------------------


def test_every_text_the_code_asks_for_is_there():
    missing = [
        f"{use.where}: {use.pattern}"
        for module in modules()
        for use in module.uses()
        if not asked_for(use)
    ]
    assert missing == []


def asked_for(use) -> list[str]:
    """The keys this use can mean."""
    keys = [*ENGLISH, *(groups(ENGLISH) if use.group else ())]
    return [key for key in keys if use.matches(key)]


def test_every_text_is_asked_for():
    found = modules()
    uses = [use for module in found for use in module.uses()]
    kept = [use for module in found for use in module.kept()]
    assert len(uses) > 50
    assert sorted(ENGLISH.keys() - used(ENGLISH, uses, kept)) == []


def test_code_fills_every_placeholder():
    empty = []
    for module in modules():
        for use in module.uses():
            if use.known and not use.group and use.given is not None:
                for key in asked_for(use):
                    names = {name.split(":")[0] for name in placeholders(ENGLISH[key])}
                    empty += [f"{use.where}: {key} needs {n}" for n in sorted(names - use.given)]
    assert empty == []


# No visible word outside the texts --------------------------------------------------------

SHOWN_KEYWORDS = {"description", "tooltip", "placeholder", "title", "label", "xlabel", "ylabel"}
SHOWN_CALLS = set(
    """
    print say Label HTML HTMLMath Text Button Markdown
    set_title suptitle set_xlabel set_ylabel set_label text figtext annotate
    """.split()
)
SHOWN_IN_JS = re.compile(
    r"""(?:textContent|innerText|title|placeholder|ariaLabel)\s*=\s*["'`]([^"'`]*)["'`]"""
    r"""|["'](?:aria-label|aria-description|title|placeholder)["']\s*[,:]\s*["'`]([^"'`]*)["'`]"""
)


def words_shown(node) -> list[str]:
    """The written-out words in an expression that is shown to a reader."""
    bare = re.sub(r"<[^>]*>|\$[^$]*\$|&\w+;", " ", written_out(node))
    return [word for word in re.findall(r"[^\W\d_]{3,}", bare) if not is_shared(word)]


def written_out(node) -> str:
    """The constant text of an expression; values that come from elsewhere leave a 0."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(written_out(part) for part in node.values)
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.IfExp | ast.List | ast.Tuple):
        return " ".join(written_out(child) for child in ast.iter_child_nodes(node))
    return "0"


def hard_coded(source: str) -> list[tuple[int, list[str]]]:
    """(line, words) for each call that shows a reader words of its own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        shown = [k.value for k in node.keywords if k.arg in SHOWN_KEYWORDS]
        if name in SHOWN_CALLS:
            shown += [*node.args, *(k.value for k in node.keywords if k.arg in ("value", "s"))]
        words = [word for value in shown for word in words_shown(value)]
        if words:
            found.append((node.lineno, words))
    return found


def words_in_javascript(source: str) -> list[str]:
    shown = [re.sub(r"\$\{[^}]*\}?", " ", a or b) for a, b in SHOWN_IN_JS.findall(source)]
    return [word for text in shown for word in unshared_words(text)]


def test_c42_helpers_show_no_word_of_their_own():
    found = {}
    for path in sources():
        source = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            words = hard_coded(source)
        else:
            words = words_in_javascript(source)
        if words:
            found[name_of(path)] = words
    assert found == {}


# The tests can fail -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "english, spanish, other",
    [
        ("{a} and {b}", "{b} y {a}", False),
        ("{a} and {b}", "{a} y {c}", True),
        ("{a}", "a", True),
        ("{a:.2f}", "{a:.3f}", True),
        ("{{a}}", "{{b}}", False),
    ],
)
def test_other_placeholders_are_seen(english, spanish, other):
    assert differs(english, spanish) is other


@pytest.mark.parametrize(
    "text, words",
    [("Sum of: {n} Tokens", ["Sum"]), ("`view` → $x_{row}$ {n}", []), ("softmax", [])],
)
def test_words_to_translate_are_seen(text, words):
    assert unshared_words(text) == words


CODE = """
PARTS = ("title", "look")
STATUS = {True: "passed", False: "failed"}
base = "explorer.multi_head"
t("lesson.ready")
texts.t(f"{base}.empty")
t("lesson.a" if ok else "lesson.b", name=1)
for part in PARTS:
    t(f"checks.{part}", **values)
t("checks.status." + STATUS[passed])
def f(kind):
    key = f"checks.kinds.{kind}"
    t(f"{key}.title")
    texts_under("view.page")
t(unknown)
"""


def test_keys_are_read_from_the_code():
    uses = Module(CODE, "x.py").uses()
    assert [use.pattern.replace("\\", "") for use in uses] == [
        "lesson.ready",
        "explorer.multi_head.empty",
        "(?:lesson.a|lesson.b)",
        "checks.status.(?:failed|passed)",
        "checks.(?:look|title)",
        "checks.kinds..+.title",
        "view.page",
    ]
    assert [use.where for use in uses][:2] == ["x.py:5", "x.py:6"]
    assert [use.given for use in uses[:5]] == [set(), set(), {"name"}, set(), None]
    assert [use.group for use in uses] == [False] * 6 + [True]


def test_a_text_nobody_asks_for_is_seen():
    uses = Module('t("lesson.ready")\ntexts_under("view.page")', "x.py").uses()
    keys = {"lesson.ready", "lesson.other", "view.page.heads", "view.page.unheardofwords"}
    assert used(keys, uses, []) == {"lesson.ready", "view.page.heads"}
    kept = Module('KEY = "lesson.other"', "x.py").kept()
    assert "lesson.other" in used(keys, uses, kept)


def test_a_text_that_is_missing_is_seen():
    [use] = Module('t("lesson.no_such_text")', "x.py").uses()
    assert asked_for(use) == []
    [use] = Module('t(f"lesson.{part}.no_such_text")', "x.py").uses()
    assert asked_for(use) == []


@pytest.mark.parametrize(
    "source, words",
    [
        ('IntSlider(description="Number of heads")', ["Number"]),
        ('print("Done.", 3)', ["Done"]),
        ('print(f"Loss {loss:.2f}")', ["Loss"]),
        ("HTML(\"<b class='wide'>Now</b>\")", ["Now"]),
        ('HTML(value="Now")', ["Now"]),
        ('axes.set_xlabel("every key")', ["every"]),
        ('IntSlider(description=t("explorer.H"), layout={"width": "auto wide"})', []),
        ('print(t("lesson.ready"))', []),
        ('axes.set_title(f"{name} $x_{row}$")', []),
        ('log("Nobody sees this")', []),
    ],
)
def test_words_outside_the_texts_are_seen(source, words):
    assert [word for _, found in hard_coded(source) for word in found] == words


def test_words_in_javascript_are_seen():
    source = 'node.textContent = "Heads here"; x.setAttribute("aria-label", `Map of ${name}`); '
    assert words_in_javascript(source) == ["here", "Map"]
    assert words_in_javascript("node.textContent = labels.heads; a.title = `${map(x)}`;") == []


def test_a_language_or_key_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="'fr'.*en, es"):
        texts.set_language("fr")
    with pytest.raises(KeyError, match="lesson.nowhere"):
        texts.t("lesson.nowhere")
    with pytest.raises(KeyError, match="group"):
        texts.t("lesson.heads")
