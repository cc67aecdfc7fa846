"""The parts of `helpers.figures`: fonts, the page, and what is drawn on it.

Each `draw_…` draws from the height `y` of a page on and returns the height where it ended.
"""
