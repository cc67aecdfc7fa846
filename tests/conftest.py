"""What all tests share: what one leaves behind is not the next one's."""

import os
import sys

import pytest

# Nothing that a test answers goes into a reader's progress file.
os.environ["ATTENTION_COURSE_PROGRESS"] = "off"


@pytest.fixture(scope="session", autouse=True)
def _plain_words():
    """The error about impossible heads, before any lesson gave it the reader's language."""
    attention = sys.modules.get("helpers.attention")  # imported where a test collected needs it
    error = getattr(attention, "ImpossibleHeadsError", None)
    return error, getattr(error, "explain", None)


@pytest.fixture(autouse=True)
def _plain_words_again(_plain_words):
    yield
    error, explain = _plain_words
    if error is not None:
        error.explain = explain
