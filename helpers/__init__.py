"""Helper package of the multi-head attention course.

Arrows point one way: explorers -> views, checks, shapes, heads, encoder -> attention.
Importing this package imports nothing heavy; each lesson imports what it uses.
"""
