"""The parts of `helpers.figures`: fonts, the page, and what is drawn on it.

Each `draw_…` draws from the height `y` of a page on and returns the height where it ended.
"""

import logging

# On a read-only home matplotlib reports its cache folder on stderr, path and all, as soon as it
# is imported. A handler of its own keeps that out of the lessons; readers who set up logging
# still see it.
logging.getLogger("matplotlib").addHandler(logging.NullHandler())
