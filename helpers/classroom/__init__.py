"""The two commands for a class and for a new version of the course.

    python3 course.py report PATH...     how far each student has come
    python3 course.py carry OLD_FOLDER   the reader's answers, into this version of the course

cells.py      notebooks as files, and what a code cell does
course.py     the lessons of this version: their exercises and check cells
states.py     what has become of a check cell
gather.py     which file is whose
kernel.py     a kernel that is never waited for too long; in_kernel.py is what runs inside it
scoring.py    one student's notebook: run, scored
progress.py   one student's progress file
table.py      the report as text and for a spreadsheet; report.py is the command
matching.py   what in an old notebook is the reader's work
carrying.py   one notebook carried; moving.py a whole folder; carry.py is the command
pristine.py   whether a lesson of this version holds work already
changes.py    which files differ between the two versions

Nothing else under `helpers/` reads a notebook.
"""
