"""The command line of `report` and `carry`: paths from where the user is, told early when wrong."""

from pathlib import Path

from helpers.texts import t

from .say import UsageError

COMMANDS = ("report", "carry")


def module_and_words(command: str, language: str, rest: list[str]) -> list[str]:
    """What the environment's Python runs, every path a whole one. Raises UsageError in words."""
    words = _report(rest) if command == "report" else _carry(rest)
    return ["helpers.classroom", "--lang", language, command, *words]


def _report(rest: list[str]) -> list[str]:
    rest, paths, options = list(rest), [], []
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in ("--csv", "--limit"):
            if not equals and not rest:
                raise UsageError(t("launcher.usage.no_value", option=name))
            value = value if equals else rest.pop(0)
            options += [name, _csv(value) if name == "--csv" else _limit(value)]
        else:
            paths.append(_existing(name + equals + value))
    if not paths:
        raise UsageError(t("launcher.usage.no_paths"))
    return [*options, *paths]


def _carry(rest: list[str]) -> list[str]:
    options = [word for word in rest if word == "--dry-run"]
    folders = [_existing(word) for word in rest if word != "--dry-run"]
    if len(folders) != 1:
        raise UsageError(t("launcher.usage.no_folder"))
    return [*options[:1], *folders]


def _existing(word: str) -> str:
    if word.startswith("-") and not Path(word).exists():
        raise UsageError(t("launcher.usage.unknown", word=word))
    if not Path(word).exists():
        raise UsageError(t("launcher.usage.no_file", word=word))
    return str(Path(word).resolve())


def _csv(value: str) -> str:
    file = Path(value).resolve()
    if file.is_dir() or not file.parent.is_dir():
        raise UsageError(t("launcher.usage.csv", word=value))
    return str(file)


def _limit(value: str) -> str:
    if not (value.isdecimal() and int(value) >= 1):
        raise UsageError(t("launcher.usage.limit", word=value))
    return value
