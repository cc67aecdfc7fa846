"""What the first cell of every lesson does: choose the language, check the environment."""

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

from . import texts

# package on the index -> name it is imported by
NEEDED = {
    "torch": "torch",
    "numpy": "numpy",
    "matplotlib": "matplotlib",
    "ipywidgets": "ipywidgets",
    "anywidget": "anywidget",
    "safetensors": "safetensors",
    "tokenizers": "tokenizers",
    "networkx": "networkx",
}


def pinned_versions() -> dict[str, str]:
    """package -> version from requirements.txt; empty where the file is not beside the package."""
    file = Path(__file__).parent.parent / "requirements.txt"
    if not file.exists():
        return {}
    lines = (line.split("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return dict(line.split("==") for line in lines if "==" in line)


def environment_problems() -> list[str]:
    """One sentence for each package that is missing, or whose major version is another one."""
    problems = []
    pins = pinned_versions()
    if sys.version_info < (3, 11):  # noqa: UP036  (a reader's own kernel may be older)
        have = ".".join(str(part) for part in sys.version_info[:2])
        problems.append(texts.t("lesson.python", have=have))
    for package, module in NEEDED.items():
        if importlib.util.find_spec(module) is None:
            problems.append(texts.t("lesson.missing", package=package))
            continue
        have, want = importlib.metadata.version(package), pins.get(package)
        if want and have.split(".")[0] != want.split(".")[0]:
            problems.append(texts.t("lesson.version", package=package, have=have, want=want))
    return problems


def start_lesson(language: str) -> None:
    """Set the language of everything the helpers say, and name what the environment lacks.

    Prints one line when all is there. Raises ModuleNotFoundError, in words, when a package
    that the lessons import is missing.
    """
    set_language(language)
    problems = environment_problems()
    if not problems:
        print(texts.t("lesson.ready"))
        return
    advice = "\n".join([*problems, texts.t("lesson.advice")])
    if any(importlib.util.find_spec(module) is None for module in NEEDED.values()):
        raise ModuleNotFoundError(advice)
    print(advice)


def encoder_status() -> str:
    """One sentence: the pretrained encoder is ready, or what is missing and how to get it."""
    from .encoder import load_encoder
    from .encoder.files import EncoderError

    try:
        encoder = load_encoder()
    except EncoderError as missing:
        return str(missing)
    return texts.t("lesson.encoder", layers=encoder.num_layers, heads=encoder.num_heads)


def set_language(language: str) -> None:
    """`texts.set_language`, and the same language for the errors of `helpers.attention`."""
    texts.set_language(language)
    if importlib.util.find_spec("torch") is not None:
        from .attention import ImpossibleHeadsError, WrongInputError

        ImpossibleHeadsError.explain = explain_impossible_heads
        WrongInputError.explain = explain_wrong_input


def explain_impossible_heads(error) -> str:
    """What is wrong with this pair of d_model and H, and the nearest H that works."""
    numbers = {"d_model": error.d_model, "H": error.num_heads, "remainder": error.remainder}
    if error.d_model < 1:
        return texts.t("lesson.heads.no_width", **numbers)
    if error.num_heads < 1:
        why = texts.t("lesson.heads.too_few", **numbers)
    elif error.num_heads > error.d_model:
        why = texts.t("lesson.heads.too_many", **numbers)
    else:
        whole = error.d_model // error.num_heads
        why = texts.t("lesson.heads.remainder", whole=whole, **numbers)
    nearest = [str(h) for h in (error.below, error.above) if h is not None]
    return f"{why} {texts.t('lesson.heads.nearest', nearest=texts.t('lesson.or').join(nearest))}"


def explain_wrong_input(error) -> str:
    """Which tensor, mask or layer does not fit, and what would."""
    return texts.t(f"lesson.input.{error.kind}", **error.numbers)
