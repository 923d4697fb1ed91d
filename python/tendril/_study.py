"""Studies: a scene at many points of its parameters."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from . import _core
from ._run import ProgressBar, overrideTexts, withAttribute, yamlText

SAMPLED = {"lhs": _core.Design.latin_hypercube, "sobol": _core.Design.sobol}
DESIGNS = {"grid": _core.Design.grid, "list": _core.Design.list, **SAMPLED}


class Study:
    """The table of a study, read from its folder: a row for each point of the design, in their order.

    study[name]       (runs,) an input or an output, (runs, n) an output that is an array; NaN where a run has no such number
    study.inputs      {name: column}; numbers, or texts where not all values are numbers
    study.outputs     {name: column}, in the units of study.units
    study.statuses    (runs,) 'success', 'wrong input', 'failed' (the numerics), 'killed', 'error' (the machine), 'not run'
    study.messages    (runs,) why a run did not succeed
    study.to_dict()   {head: column} as in sweep.csv, for pandas.DataFrame
    study.dataset()   xarray.Dataset over `run`, inputs as coordinates
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        table = _core.StudyTable(self.folder)
        self.description: dict = json.loads(table.description())
        columns, names = table.outputs(), table.inputs()
        self._heads = table.heads()
        rows = self._read()
        count = len(names)
        self.statuses = np.array([row[1] for row in rows])
        self.messages = np.array([row[-1] for row in rows])
        self.inputs = {name: numbersOrTexts([row[2 + i] for row in rows]) for i, name in enumerate(names)}
        numbers = [np.array([float(row[2 + count + j] or "nan") for row in rows]) for j in range(len(columns))]
        self._flat = [np.array([row[0] for row in rows]), self.statuses, *self.inputs.values(), *numbers, self.messages]
        self.outputs: dict[str, np.ndarray] = {}
        self.units: dict[str, str] = {}
        for key in dict.fromkeys((column.output, column.unit) for column in columns):
            parts = [(c.index, values) for c, values in zip(columns, numbers) if (c.output, c.unit) == key]
            name = key[0] if key[0] not in self.outputs else f"{key[0]} [{key[1]}]"  # a run had it in another unit
            self.units[name] = key[1] or "1"
            isArray = parts[0][0] >= 0
            self.outputs[name] = np.stack([values for _, values in parts], axis=1) if isArray else parts[0][1]

    def _read(self) -> list[list[str]]:
        file = self.folder / "sweep.csv"
        if file.exists():
            with open(file, newline="", encoding="utf-8") as stream:
                rows = list(csv.reader(stream))
            if rows[0] == self._heads:
                return rows[1:]
        raise _core.InputError(f"{self.folder}: the study was broken off before it wrote its table; the same call of sweep goes on")

    @property
    def succeeded(self) -> np.ndarray:
        """(runs,) whether a run succeeded."""
        return self.statuses == "success"

    @property
    def names(self) -> list[str]:
        return [*self.inputs, *self.outputs]

    def __len__(self) -> int:
        return len(self.statuses)

    def __contains__(self, name: str) -> bool:
        return name in self.inputs or name in self.outputs

    def __iter__(self):
        return iter(self.names)

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.inputs and name in self.outputs:
            raise KeyError(f"'{name}' is an input and an output: ask for inputs['{name}'] or outputs['{name}']")
        if name not in self:
            raise KeyError(f"no column '{name}'; there are: {', '.join(self.names)}")
        return self.inputs[name] if name in self.inputs else self.outputs[name]

    def to_dict(self) -> dict[str, np.ndarray]:
        """The columns of sweep.csv by their heads: run, status, inputs, outputs with their units (a column for each element), message."""
        return dict(zip(self._heads, self._flat))

    def dataset(self):
        """The table as xarray.Dataset over `run`, with units as attributes; needs xarray. Of a grid,
        `dataset().set_index(run=[NAMES]).unstack()` has the inputs as dimensions."""
        import xarray

        data = xarray.Dataset(
            {"status": ("run", self.statuses), "message": ("run", self.messages)},
            coords={name: ("run", column) for name, column in self.inputs.items()},
            attrs={"scene": str(self.description["scene"]), "design": self.description["design"]["kind"]},
        )
        for name, column in self.outputs.items():
            if name in data.variables:
                raise ValueError(f"'{name}' is an output and an input or a column of its own; a data set has room for one of them")
            dimensions = ("run",) if column.ndim == 1 else ("run", f"{name}_component")
            data[name] = (dimensions, column, {"units": self.units[name]})
        return data

    def __repr__(self) -> str:
        return f"<tendril.Study '{self.folder}': {self.succeeded.sum()} of {len(self)} runs succeeded, columns {', '.join(self.names)}>"


def numbersOrTexts(texts: list[str]) -> np.ndarray:
    try:
        return np.array([float(text) for text in texts])
    except ValueError:
        return np.array(texts)


def sweep(
    scene: str | PathLike,
    over: Mapping[str, object] | str | PathLike,
    design: str = "grid",
    samples: int | None = None,
    seed: int | None = None,
    overrides: Mapping[str, object] | list[str] | None = None,
    output: str | PathLike | None = None,
    workers: int | None = None,
    keep: bool = False,
    replace: bool = False,
    progress: bool | Callable[[int, int], None] = False,
) -> Study:
    """Runs a scene at many points of its parameters, several runs at a time, and returns the table (`tendril sweep` does the same).

    scene      a file
    over       what varies: {name: values}. A list or an array has values one by one, a tuple (from, to, count) evenly spaced numbers, a
               tuple (from, to) a range for samples. Or a table (CSV) of points, names in its first line
    design     "grid" (all combinations, the last name running fastest), "list" (side by side), "lhs" (Latin hypercube) or "sobol"
    samples    number of points of lhs and sobol; `seed` of both: the same seed, the same points (1 if not given)
    overrides  for all runs, as those of `run`
    output     folder of the study; by default NAME.sweep in the current folder. One that was broken off goes on; another is refused
    workers    runs at a time; by default one for each core. Each is a process of its own, so that one that crashes costs its run alone
    keep       leave the result folder of each run in that of the study, 0001, 0002, ...
    replace    remove the study that the folder holds, and begin anew
    progress   True for a progress bar, or a function of the runs that are done and of all

    A run that does not succeed raises nothing: its status and message tell. What is wrong with all of them raises InputError before any
    runs. Ctrl-C ends the study in good order and raises tendril.Interrupted, with the table so far as `study`; the same call goes on.
    """
    if isinstance(scene, _core.Scene):
        raise TypeError("scene: a study reads its scene anew for each run, and needs the file")
    points = pointsOf(over, design, samples, seed)
    if workers is not None and workers < 1:
        raise _core.InputError(f"workers: expected a number from 1, not {workers}")
    bar = ProgressBar() if progress is True else None
    show = progress or None
    if bar:
        show = lambda done, runs: bar.show(done / runs, f"{done} of {runs} runs")  # noqa: E731
    folder = Path(output) if output is not None else Path(_core.default_study_folder(scene))
    try:
        outcome = _core.run_study(scene, points, overrideTexts(overrides), folder, keep, replace, workers or 0, show)
    finally:
        if bar:
            bar.close()
    study = Study(folder)
    if left := outcome.count("not run"):
        raise withAttribute(_core.Interrupted(f"stopped: {left} of {len(study)} runs are left; the same call goes on"), "study", study)
    return study


def pointsOf(over, design: str, samples: int | None, seed: int | None) -> _core.Design:
    if design not in DESIGNS:
        near = difflib.get_close_matches(str(design), DESIGNS, 1)
        raise _core.InputError(
            f"design: expected {', '.join(DESIGNS)}, not {design!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    isSampled = design in SAMPLED
    if not isSampled and (samples is not None or seed is not None):
        raise _core.InputError(f"samples and seed go with the designs {' and '.join(SAMPLED)}; a {design} has the points of its values")
    if not isinstance(over, Mapping):
        if isSampled:
            raise _core.InputError(f"over: a table of points is a list of its own; leave out design={design!r}")
        return _core.Design.table(over)
    axes = [axisOf(name, values) for name, values in over.items()]
    if not isSampled:
        return DESIGNS[design](axes)
    for name, value in (("samples", samples), ("seed", seed)):
        if value is not None and value < 0:
            raise _core.InputError(f"{name}: expected a whole number that is not negative, not {value}")
    return SAMPLED[design](axes, samples or 0, 1 if seed is None else seed)


def axisOf(name: str, values) -> _core.StudyAxis:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise _core.InputError(f"over: {name}: expected a list of values, (from, to, count) or (from, to), not {values!r}")
    if not isinstance(values, tuple):
        return _core.StudyAxis(name, [yamlText(value) for value in values])
    if len(values) not in (2, 3):
        raise _core.InputError(f"over: {name}: expected (from, to, count) or (from, to), not {values!r}; values one by one are a list")
    return _core.StudyAxis.parse(f"{name}=" + ":".join(yamlText(value) for value in values))
