"""`python -m helpers.classroom [--lang es] report PATH...` and `… carry OLD_FOLDER`."""

import sys

from launcher.say import speak_on_any_terminal

from ..texts import set_language


def main(words: list[str]) -> int:
    if words[:1] == ["--lang"]:
        set_language(words[1])
        words = words[2:]
    speak_on_any_terminal()
    # each command reads its own modules only: carrying needs no torch
    if words[:1] == ["report"]:
        from . import report as command
    else:
        from . import carry as command
    try:
        return command.main(words[1:])
    except KeyboardInterrupt:  # the launcher says what there is to say
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
