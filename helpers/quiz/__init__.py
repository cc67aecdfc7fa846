"""Quizzes that explain every wrong answer: `Quiz("01")` as the last expression of a cell.

quiz.py     the widget: questions, score, results
card.py     one question on the page (answer.js, quiz.css)
marking.py  questions and keys read from data/quiz/, answers marked; no widget
text.py     a question's text as HTML and as plain text
"""

from .quiz import Quiz

__all__ = ["Quiz"]
