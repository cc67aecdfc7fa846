"""Lesson 03: where the numbers go in split and merge, on the right route and off it.

wrong_turns.py  a split and a merge without their transpose
dependency.py   which output tokens depend on which input tokens
routes.py       the way of every number, step by step
cells.py        a small tensor laid out cell by cell
"""
