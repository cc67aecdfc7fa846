"""Everything a reader sees from the helpers, in English and in Spanish.

`t("explorer.heads.label")` looks in `<language>/explorer.json` under "heads", "label".
`{name}` in a text is filled from the keyword arguments.
"""

import json
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "es")
_folder = Path(__file__).parent
_language = "en"


def set_language(language: str) -> None:
    """Choose the language of all texts shown from now on: "en" or "es"."""
    global _language
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r}: choose one of {', '.join(LANGUAGES)}.")
    _language = language


def current_language() -> str:
    return _language


@cache
def _texts(language: str, topic: str) -> dict:
    return json.loads((_folder / language / f"{topic}.json").read_text(encoding="utf-8"))


def texts_under(key: str):
    """The text at `key`, or the dictionary of texts below it, in the current language.

    Raises KeyError naming the key and the language when there is none.
    """
    topic, *path = key.split(".")
    try:
        node = _texts(_language, topic)
        for part in path:
            node = node[part]
    except (KeyError, TypeError, FileNotFoundError):
        raise KeyError(f"no text {key!r} in language {_language!r}") from None
    return node


def t(key: str, /, **values) -> str:
    """The text at `key` in the current language, its {placeholders} filled."""
    text = texts_under(key)
    if not isinstance(text, str):
        raise KeyError(f"{key!r} is a group of texts, not one text")
    return text.format(**values) if values else text
