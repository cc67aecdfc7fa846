"""What has become of an exercise's check cell in somebody's notebook."""

from .cells import Cell, checks_called, mentions_check, plain_checks, same_code
from .course import ExerciseCells

# as the course has it; with lines of the reader's; no longer the check; text; not there
THERE, ADDED, EDITED, TEXT, MISSING = "there", "added", "edited", "text", "missing"
MOST_LINES = 6  # of a check cell that was turned into text


def check_state(exercise: ExerciseCells, cells: list[Cell]) -> str:
    """What has become of an exercise's check cell in a student's notebook."""
    code = [cell for cell in cells if cell.is_code]
    if any(same_code(cell.source, exercise.check.source) for cell in code):
        return THERE
    if any(exercise.id in plain_checks(cell.source) for cell in code):
        return ADDED
    by_id = [cell for cell in cells if cell.id == exercise.check.id]
    by_id = [cell for cell in by_id if not checks_called(cell.source) - {exercise.id}]
    mentioned = [cell for cell in code if mentions_check(cell.source, exercise.id)]
    if mentioned or any(cell.is_code for cell in by_id):
        return EDITED
    if by_id or any(is_text_of(exercise, cell) for cell in cells):
        return TEXT
    return MISSING


def is_text_of(exercise: ExerciseCells, cell: Cell) -> bool:
    """Whether a text cell is the check cell turned into text: a few lines, the check in them."""
    is_short = len(cell.source.strip().splitlines()) <= MOST_LINES
    return not cell.is_code and is_short and mentions_check(cell.source, exercise.id)
