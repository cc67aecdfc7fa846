"""What the reader has done, kept in one file of the reader's own.

place.py    where the file is
log.py      one line per answer, written and read
scores.py   exercises by lesson, quiz questions by topic
board.py    the scores on the page: `ProgressBoard()` (board.js, board.css)
"""

from .log import Log, keep, listen, read_log
from .place import Place, places, warning

__all__ = ["Log", "Place", "keep", "listen", "places", "read_log", "warning"]
