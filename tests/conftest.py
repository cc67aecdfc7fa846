"""What all tests share: what one leaves behind is not the next one's."""

import os
import sys

import pytest

from helpers import texts

# What stands in these fails with its numbers, as an assertion in a test file does.
pytest.register_assert_rewrite("browser.explorers", "check_probe", "explorer_moves", "quiz_probe")

# Nothing that a test answers goes into a reader's progress file.
os.environ["ATTENTION_COURSE_PROGRESS"] = "off"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A module stays with one worker, and all of `commands/`: they share a course made once."""
    if config.getvalue("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class CommandsTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            commands = nodeid.startswith("tests/commands/")
            return "tests/commands" if commands else super()._split_scope(nodeid)

    return CommandsTogether(config, log)


@pytest.fixture(scope="session", autouse=True)
def _plain_words():
    """The errors of `helpers.attention`, before any lesson gave them the reader's language."""
    attention = sys.modules.get("helpers.attention")  # imported where a test collected needs it
    if attention is None:
        return {}
    errors = (attention.ImpossibleHeadsError, attention.WrongInputError)
    return {error: error.explain for error in errors}


@pytest.fixture(autouse=True)
def _language_again(_plain_words):
    """A test that changes the language changes it for itself alone."""
    before = texts.current_language()
    yield
    texts.set_language(before)
    for error, explain in _plain_words.items():
        error.explain = explain
