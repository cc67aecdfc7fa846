#!/usr/bin/env python3
"""One command for the whole course: python3 course.py lab (--help tells the others).

This file runs on any Python, so that one that is too old can say so in words instead of
failing on newer syntax. What the commands do is in launcher/, standard library only.
"""

import os
import sys

OLDEST = (3, 11)


def newer_python(which, names=("python3.13", "python3.12", "python3.11", "python3.14")):
    """The command of a Python on this machine that is new enough, or None."""
    for name in names:
        if which(name):
            return name
    return None


def old_python_message(version, newer):
    """What to tell the user of a Python older than OLDEST, in both languages of the course."""
    have = ".".join(str(part) for part in version[:3])
    oldest = ".".join(str(part) for part in OLDEST)
    lines = [
        "This course needs Python " + oldest + " or newer; this is Python " + have + ".",
        "El curso necesita Python " + oldest + " o posterior, y este es Python " + have + ".",
    ]
    if newer:
        lines.append("There is a newer one here / Hay uno posterior:  " + newer + " course.py lab")
    else:
        lines.append(
            "Install Python 3.12 from python.org or your system's packages, and try again."
        )
        lines.append("Instala Python 3.12 desde python.org o con tu sistema y repite la orden.")
    return "\n".join(lines)


def main():
    if sys.version_info < OLDEST:
        try:
            from shutil import which
        except ImportError:  # Python 2
            newer = None
        else:
            newer = newer_python(which)
        print(old_python_message(sys.version_info, newer))
        return 1
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from launcher import cli

    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
