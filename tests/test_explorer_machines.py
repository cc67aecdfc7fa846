"""Random moves, legal and illegal, on every explorer: what is shown always fits the state.

A move is a trait set by code, several at once, a control dragged or a field typed into as the
page reports it, or a button. Every machine holds all explorers to the same rules, and each to
the numbers that `explorer_moves` computes by other means.
"""

import re
from pathlib import Path
from unittest import mock

import pytest
import torch
import traitlets
from explorer_moves import MOVES, few_sentences, part, wrong_multi_head
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run

import helpers.texts
from helpers import explorers, heads
from helpers.lesson import set_language
from helpers.reshaping.routes import STEPS

# Many moves for the quick ones, fewer for those that run the encoder, train, or draw long rows.
EXAMPLES = {"TrainingRuns": 3, "MultiHeadExplorer": 10, "SoftmaxSaturation": 5} | dict.fromkeys(
    ["ShapeExplorer", "MaskExplorer", "AttentionBudget", "HeadGates", "ReshapeLab", "HeadRoles"], 16
)
SIZE = settings(
    max_examples=7,
    stateful_step_count=12,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TEXTS = Path(helpers.texts.__file__).parent


def words_of_language(language: str) -> set[str]:
    """Every word in the texts of the explorers and their views."""
    found = set()
    for file in [*TEXTS.glob(f"{language}/explorer*.json"), TEXTS / language / "view.json"]:
        text = re.sub(r"\{[^}]*\}", " ", file.read_text(encoding="utf-8"))
        found |= {word.lower() for word in re.findall(r"[^\W\d_]{2,}", text)}
    return found


FOREIGN = {"en": words_of_language("es") - words_of_language("en"),
           "es": words_of_language("en") - words_of_language("es")}  # fmt: skip


def views(widget):
    """All views in an explorer, those of an explorer in it left out."""
    for child in getattr(widget, "children", ()):
        if isinstance(child, explorers.base.Explorer):
            continue
        if child.has_trait("frame"):
            yield child
        yield from views(child)


def reason(view) -> str:
    """Why a view is empty; "" where it shows a picture."""
    if "notice" in view.frame:  # AttentionView
        return "" if view.frame["weights"] else view.frame["notice"]
    return view.frame.get("reason", "")


def empty(value) -> bool:
    return value is None or (not isinstance(value, torch.Tensor) and not value)


class Machine(RuleBasedStateMachine):
    cls: type

    @initialize(language=st.sampled_from(["en", "es"]))
    def begin(self, language):
        set_language(language)
        self.language, self.moves = language, MOVES[self.cls]
        make = self.moves.make or self.cls
        self.beside, self.one = make(), make()
        self.frames = [view.frame for view in views(self.beside)]
        self.beside_draws = self.beside.draws
        self.random, self.threads = torch.get_rng_state(), torch.get_num_threads()

    @rule(data=st.data())
    def set_a_trait(self, data):
        name = data.draw(st.sampled_from(self.cls.STATE))
        value = data.draw(self.moves.values[name])
        before, old = self.one.draws, getattr(self.one, name)
        setattr(self.one, name, value)
        assert self.one.draws == before + (old != value)

    @rule(data=st.data(), held=st.booleans())
    def set_several_traits_at_once(self, data, held):
        names = data.draw(st.sets(st.sampled_from(self.cls.STATE), min_size=1, max_size=3))
        values = {name: data.draw(self.moves.values[name]) for name in sorted(names)}
        before = self.one.draws
        hold = self.one.hold if held else self.one.hold_trait_notifications
        with hold():
            for name, value in values.items():
                setattr(self.one, name, value)
        assert self.one.draws == before + 1
        for name, value in values.items():  # exactly what was set; nothing moved by itself
            assert str(getattr(self.one, name)) == str(value)  # as text, for NaN

    @rule(data=st.data())
    def move_a_control(self, data):
        """Drag, choose or type: what the page then sends."""
        path = data.draw(st.sampled_from(sorted(self.moves.controls)))
        self._move(self.one, path, self.moves.values[self.moves.controls[path]], data)

    def _move(self, one, path, values, data):
        control = part(one, path)
        if control.has_trait("index"):
            index = data.draw(st.integers(0, len(control.options) + 1))  # the page may be late
            if index < len(control.options):
                control.set_state({"index": index})
            else:
                with pytest.raises(traitlets.TraitError):
                    control.set_state({"index": index})
        else:
            control.set_state({"value": data.draw(values)})

    @rule(data=st.data())
    def set_every_trait(self, data):
        for name in self.cls.STATE:
            setattr(self.one, name, data.draw(self.moves.values[name]))

    @rule(data=st.data())
    def move_every_control(self, data):
        for path, trait in self.moves.controls.items():
            self._move(self.one, path, self.moves.values[trait], data)
            self._controls_agree(self.one, {path: trait}, legal=not self.moves.wrong(self.one))

    @rule(data=st.data())
    def press_a_button(self, data):
        presses = self.moves.buttons(self.one)
        if presses:
            data.draw(st.sampled_from(presses))()

    @rule()
    def a_new_one_of_this_state_shows_the_same(self):
        """The picture is made of the state alone, not of the way there."""
        if self.moves.wrong(self.one):
            return
        one = self.one
        new = (self.moves.make or self.cls)(**{name: getattr(one, name) for name in one.STATE})
        old_views, new_views = list(views(one)), list(views(new))
        left_out = [getattr(one, name) for name in self.moves.after]
        for old, made in zip(old_views, new_views, strict=True):
            if type(old).__name__ != "NoteView" and not any(old is view for view in left_out):
                assert old.frame == made.frame, type(old).__name__
        if "maps" in vars(one):
            made = new.maps
            made.pointed, made.selected = one.maps.pointed, one.maps.selected
        if not self.moves.after and self.cls.__name__ not in ("AttentionBudget",):
            assert one._summary() == new._summary()

    @invariant()
    def the_page_and_the_state_agree(self):
        one, moves = self.one, self.moves
        assert one.error is None, repr(one.error)
        wrong = moves.wrong(one)
        assert one._note.text == one.message
        problem = one._note.kind == "problem"
        assert problem == bool(wrong), (one.message, wrong)
        if wrong:
            assert any(f"{value}" in one.message for value in wrong), (one.message, wrong)
            assert all(empty(getattr(one, name)) for name in moves.drawn), "an old picture stands"
            assert all(reason(view) == one.message for view in views(one)), "no reason is shown"
            assert one.message in one._summary()
        else:
            assert not any(reason(view) for view in views(one)), "no picture"
            moves.agree(one)
        self._controls_agree(one, moves.controls, legal=not wrong)

    def _controls_agree(self, one, controls, legal):
        for path, trait in controls.items():
            control, value = part(one, path), getattr(one, trait)
            if control.has_trait("options"):
                can = value in [v for _, v in control._options_full] if legal else False
            elif control.has_trait("max"):
                can = control.min <= value <= control.max
            else:
                can = True
            assert can or not legal, f"{path} cannot show {trait} = {value}"
            assert not can or control.value == value, f"{path}: {control.value}, {trait}: {value}"

    @invariant()
    def words_are_of_one_language(self):
        said = f"{self.one.message} {self.one._summary()}"
        values = " ".join(str(getattr(self.one, name)) for name in self.cls.STATE)
        values += f" {self.cls.__name__} " + " ".join(self._more_values())
        known = set(re.findall(r"[^\W\d_]{2,}", values.lower()))
        # What is named as code: possible values in a list of choices, the running example.
        known |= set(re.findall(r"[^\W\d_]{2,}", CODE))
        words = {word.lower() for word in re.findall(r"[^\W\d_]{2,}", said)}
        assert not (words - known) & FOREIGN[self.language]

    def _more_values(self):
        return []

    @invariant()
    def nothing_else_moves(self):
        assert torch.equal(torch.get_rng_state(), self.random), "the global random state was used"
        assert torch.get_num_threads() == self.threads
        assert self.beside.draws == self.beside_draws
        assert all(
            view.frame is frame for view, frame in zip(views(self.beside), self.frames, strict=True)
        )

    def teardown(self):
        set_language("en")


# Words of code that stand in messages of either language: choices, symbols, the words looked at.
CODE = " ".join(
    [
        "the bank by river issued statement company published report none causal padding both",
        "right left values change split merge lesson present no such file conllu d_model length",
        "rivers flow down to the sea",
        "obj det nsubj sequence empty mask side CLS SEP PAD softmax token query key".lower(),
        *STEPS, *heads.MEASURES, *heads.DIRECTIONS,
    ]
)  # fmt: skip


class PlaygroundMachine(Machine):
    """The sides are moved too, each as a MultiHeadExplorer is."""

    @rule(data=st.data(), side=st.sampled_from(["left", "right"]))
    def set_a_trait_of_a_side(self, data, side):
        moves = MOVES[explorers.MultiHeadExplorer]
        name = data.draw(st.sampled_from(sorted(moves.values)))
        setattr(getattr(self.one, side), name, data.draw(moves.values[name]))

    @rule(data=st.data(), side=st.sampled_from(["left", "right"]))
    def move_a_control_of_a_side(self, data, side):
        moves = MOVES[explorers.MultiHeadExplorer]
        path = data.draw(st.sampled_from(sorted(moves.controls)))
        self._move(getattr(self.one, side), path, moves.values[moves.controls[path]], data)

    @invariant()
    def controls_of_the_sides_agree(self):
        controls = MOVES[explorers.MultiHeadExplorer].controls
        for side in (self.one.left, self.one.right):
            self._controls_agree(side, controls, legal=not wrong_multi_head(side))

    def _more_values(self):
        sides = (self.one.left, self.one.right)
        return [str(getattr(side, name)) + " " for side in sides for name in side.STATE]


def test_every_explorer_has_a_machine_that_moves_every_trait():
    assert {cls.__name__ for cls in MOVES} == set(explorers.__all__)
    for cls, moves in MOVES.items():
        assert set(moves.values) == set(cls.STATE), cls.__name__
        assert set(moves.controls.values()) <= set(cls.STATE), cls.__name__


@pytest.mark.parametrize("cls", MOVES, ids=lambda cls: cls.__name__)
def test_random_moves_leave_state_picture_and_words_in_agreement(cls):
    base = PlaygroundMachine if cls is explorers.Playground else Machine
    machine = type(f"{cls.__name__}Machine", (base,), {"cls": cls})
    with (
        mock.patch("helpers.explorers.head_roles.own_sentences", few_sentences),
        mock.patch("helpers.explorers.relation_board.own_sentences", few_sentences),
    ):
        run(machine, settings=settings(SIZE, max_examples=EXAMPLES.get(cls.__name__, 7)))
