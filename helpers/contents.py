"""The table of contents: lesson number -> file name, the same in both editions."""

from .texts import t

LESSONS = {
    "00": "00_start-here.ipynb",
    "01": "01_one-head.ipynb",
    "02": "02_heads-and-projections.ipynb",
    "03": "03_view-and-transpose.ipynb",
    "04": "04_concat-and-output-projection.ipynb",
    "05": "05_multi-head-attention.ipynb",
    "06": "06_explore.ipynb",
    "07": "07_train-heads.ipynb",
    "08": "08_real-heads.ipynb",
    "09": "09_heads-as-graphs.ipynb",
    "10": "10_quiz-and-project.ipynb",
}


def link(lesson: str) -> dict[str, str]:
    """What a page needs for a link to a lesson: its file, beside the one being read, and words."""
    return {"file": LESSONS[lesson], "text": f"{lesson} · {t(f'contents.{lesson}')}"}
