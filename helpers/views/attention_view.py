"""Attention maps, live: every head small, one head large with its numbers read out.

The picture travels to the page as one binary buffer in one trait, so it changes all at once;
attention_view.js paints it. Sentences are made from the same templates here and there.
"""

import anywidget
import numpy as np
import traitlets

from ..palette import axis_css, head_colour
from ..texts import t, texts_under
from ..wording import check_map_labels, map_weights, titles_of
from .source import script, style


def _empty_frame(reason: str = "") -> dict:
    return {
        "weights": b"",
        "shape": [0, 0, 0],
        "queries": [],
        "keys": [],
        "query_titles": [],
        "key_titles": [],
        "names": [],
        "alts": [],
        "colours": [],
        "columns": 0,
        "notice": reason,
    }


class AttentionView(anywidget.AnyWidget):
    """All heads as small maps on one 0-1 scale, one enlarged as map, arcs or table.

    `frame` holds the whole picture, `selected` the enlarged head (from 0), `pointed` the cell
    [query, key] that is read out, [] for none; `row_sums` shows each row's sum beside the map.
    A reader's clicks and keys set the same traits as Python code does.
    """

    _esm = script("nodes", "svg", "maps", "attention_view")
    _css = axis_css() + style("unseen", "maps", "attention_view")

    frame = traitlets.Dict().tag(sync=True)
    labels = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)
    mode = traitlets.Enum(["map", "arcs", "table"], default_value="map").tag(sync=True)
    pointed = traitlets.List().tag(sync=True)
    row_sums = traitlets.Bool(False).tag(sync=True)

    @traitlets.default("frame")
    def _no_frame(self):
        return _empty_frame()

    @traitlets.default("labels")
    def _current_labels(self):
        return texts_under("view.page")

    @traitlets.validate("selected")
    def _existing_head(self, proposal) -> int:
        heads = self.frame["shape"][0]
        return max(0, min(proposal.value, heads - 1)) if heads else max(0, proposal.value)

    @traitlets.validate("pointed")
    def _existing_cell(self, proposal) -> list[int]:
        # Not an error: the page may point at a cell of the picture that was just replaced.
        cell = [int(i) for i in proposal.value]
        _, Tq, Tk = self.frame["shape"]
        exists = len(cell) == 2 and 0 <= cell[0] < Tq and 0 <= cell[1] < Tk
        return cell if exists else []

    def show(self, weights, queries, keys=None, *, names=None, columns=None, notice=""):
        """Show `weights` (H, T_query, T_key), a tensor or array of any float type.

        `queries` and `keys` are the tokens on rows and columns (keys: the same when None),
        `names` the heads' names ("head 1" … when None), `columns` how many small maps stand
        in a row, `notice` a line of words under them. The enlarged head and the cell pointed
        at stay where they still exist. Raises ValueError for weights that are not one
        sequence's, hold NaN or infinity, or do not fit the tokens or names.
        """
        array = map_weights(weights)
        H, Tq, Tk = array.shape
        queries = [_visible(token) for token in queries]
        keys = queries if keys is None else [_visible(token) for token in keys]
        names = None if names is None else [str(name) for name in names]
        check_map_labels(array.shape, queries, keys, names)
        with self.hold_sync():
            self.labels = texts_under("view.page")  # in the language of this moment
            if names is None:
                names = [self.labels["head"].format(number=i + 1) for i in range(H)]
            query_titles, key_titles = titles_of(queries), titles_of(keys)
            self.frame = {
                "weights": array.tobytes(),
                "shape": [H, Tq, Tk],
                "queries": queries,
                "keys": keys,
                "query_titles": query_titles,
                "key_titles": key_titles,
                "names": names,
                "alts": self._alts(array, names, query_titles, key_titles),
                # With rows of layers, a column is a head: it keeps its colour in every layer.
                "colours": [head_colour(i % columns if columns else i) for i in range(H)],
                "columns": columns or 0,
                "notice": notice,
            }
            self.selected = self.selected  # validated again, now by the new picture
            self.pointed = self.pointed

    def clear(self, reason: str) -> None:
        """Take the picture away and show the reason in its place, at the same height."""
        with self.hold_sync():
            self.labels = texts_under("view.page")
            self.frame = _empty_frame(reason)

    def readout(self) -> str:
        """What the page says for `selected` and `pointed`; "" when there is no picture."""
        if not self.frame["weights"]:
            return ""
        if not self.pointed:
            return self.labels["hint"]
        query, key = self.pointed
        weights = self._weights()[self.selected, query]
        words = {
            "query": self.frame["query_titles"][query],
            "key": self.frame["key_titles"][key],
            "weight": f"{float(weights[key]):.2f}",
            "name": self.frame["names"][self.selected],
        }
        return self.labels["readout" if weights.any() else "no_keys"].format(**words)

    def describe(self, head: int) -> str:
        """Head `head` (from 0) in words: its strongest pair and how spread out its rows are.

        Entropy in nats, averaged over the rows that have keys to attend to; ln(T_key) is the
        most it can be. Raises IndexError when there is no such head.
        """
        H, _, Tk = self.frame["shape"]
        if not 0 <= head < H:
            raise IndexError(t("view.error.head", head=head, heads=H, last=H - 1))
        weights = self._weights()[head].astype(float)
        weights = weights[weights.any(axis=-1)]
        alt = self.frame["alts"][head]
        if not len(weights):
            return alt
        logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
        entropy = -(weights * logs).sum(axis=-1).mean() + 0.0  # + 0.0: no "-0.00"
        return self.labels["describe"].format(
            alt=alt, entropy=f"{entropy:.2f}", most=f"{np.log(Tk):.2f}"
        )

    def _weights(self) -> np.ndarray:
        return np.frombuffer(self.frame["weights"], dtype="<f4").reshape(self.frame["shape"])

    def _alts(self, array, names, queries, keys) -> list[str]:
        """Each head in a few words: its name and its strongest pair."""
        strongest = array.reshape(len(array), -1).argmax(axis=1)
        alts = []
        for weights, name, cell in zip(array, names, strongest, strict=True):
            query, key = divmod(int(cell), array.shape[2])
            weight = float(weights[query, key])
            text = self.labels["alt" if weight > 0 else "alt_empty"]
            words = {"query": queries[query], "key": keys[key], "weight": f"{weight:.2f}"}
            alts.append(text.format(name=name, **words))
        return alts

    def __repr__(self) -> str:
        H, Tq, Tk = self.frame["shape"]
        text = self.labels["summary" if H else "summary_empty"]
        return text.format(heads=H, queries=Tq, keys=Tk)


def _visible(token) -> str:
    """The token as text; a space shows as ␣, which a label could not show otherwise."""
    token = str(token)
    return token if token.strip() else "␣" * max(1, len(token))
