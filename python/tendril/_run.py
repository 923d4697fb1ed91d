"""Running scenes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from os import PathLike

from . import _core
from ._results import Results


def run(
    scene: _core.Scene | str | PathLike,
    overrides: Mapping[str, object] | list[str] | None = None,
    output: str | PathLike | None = None,
    progress: bool | Callable[[_core.RunProgress], None] = False,
    stop: Callable[[], bool] | None = None,
    resume: bool = False,
    check: bool = True,
    **options,
) -> Results:
    """Runs a scene and leaves a folder with results.h5, summary.json, log.txt (the program `tendril run` does the same).

    scene      a file, or a Scene
    overrides  {name: value} of parameters, or of any value by its path ("beams.cable.elements"); or texts "NAME=VALUE"
    output     result folder; by default NAME.result in the current folder
    progress   True for a progress bar (that of tqdm where it is installed), or a function of RunProgress
    stop       asked after each step; once true, the run ends in good order and can be resumed
    resume     go on from the last checkpoint in the folder
    check      raise NumericalFailure if the numerics fail; else the results tell of it by their status
    options    other members of RunOptions: checkpoint_every, checkpoint_seconds, terminal_level

    Ctrl-C ends the run after its step and raises tendril.Interrupted; what was computed is kept. The exceptions NumericalFailure and
    Interrupted carry what there is as `results`.
    """
    texts = overrideTexts(overrides)
    settings = _core.RunOptions(resume=resume, **options)
    bar = ProgressBar() if progress is True else None
    asked = StopRequest(stop)
    if stop:
        settings.stop = asked
    if progress:
        settings.progress = bar.showRun if bar else progress
    if output is not None:
        settings.folder = output
    try:
        if isinstance(scene, _core.Scene):
            if texts:
                document = scene.document()
                scene = _core.Scene.from_text(document.text(), document.file_name(), [*document.overrides(), *texts])
            outcome = _core.run_scene(scene, settings)
        else:
            settings.scene = scene
            settings.overrides = texts
            outcome = _core.run_file(settings)
    finally:
        if bar:
            bar.close()
    if outcome.was_complete:
        return Results(outcome.folder, message=outcome.message)
    results = Results(outcome.folder, json.loads(outcome.summary.json()), outcome.message)
    if outcome.status == _core.RunStatus.Failed and check:
        raise withAttribute(_core.NumericalFailure(outcome.message), "results", results)
    if outcome.status == _core.RunStatus.Interrupted and not asked.said_yes:
        raise withAttribute(_core.Interrupted(outcome.message), "results", results)
    return results


def withAttribute(error: BaseException, name: str, value) -> BaseException:
    setattr(error, name, value)
    return error


def overrideTexts(overrides) -> list[str]:
    """Overrides as the program takes them, NAME=VALUE with VALUE in YAML."""
    if overrides is None:
        return []
    if isinstance(overrides, str):
        raise TypeError(f"overrides: expected a dict or a list of texts NAME=VALUE, not the text {overrides!r}")
    if isinstance(overrides, Mapping):
        return [f"{name}={yamlText(value)}" for name, value in overrides.items()]
    return list(overrides)


def yamlText(value) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    return json.dumps(value)


class StopRequest:
    """The question to stop, and whether it was answered by yes: else it was Ctrl-C that ended the run."""

    def __init__(self, stop):
        self.stop, self.said_yes = stop, False

    def __call__(self) -> bool:
        self.said_yes = self.said_yes or bool(self.stop())
        return self.said_yes


class ProgressBar:
    """A bar of tqdm (in a notebook its widget), or a line on stderr, drawn anew a few times a second."""

    def __init__(self):
        try:
            from tqdm.auto import tqdm

            self.bar = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}")
        except ImportError:
            self.bar = None
        self.drawn = 0.0

    def show(self, fraction: float, text: str):
        now = time.monotonic()
        if now - self.drawn < 0.2 and fraction < 1:
            return
        self.drawn = now
        if self.bar is not None:
            self.bar.n = round(100 * fraction, 1)
            self.bar.set_postfix_str(text)
        else:
            print(f"\r{100 * fraction:5.1f} %  {text}", end="", file=sys.stderr, flush=True)

    def showRun(self, progress: _core.RunProgress):
        self.show(progress.fraction, f"step {progress.step}, t = {progress.t:.4g}")

    def close(self):
        if self.bar is not None:
            self.bar.close()
        elif self.drawn:
            print(file=sys.stderr)
