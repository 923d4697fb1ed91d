"""What a run leaves, as arrays of NumPy or data sets of xarray."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import numpy as np

from . import _core


class Results:
    """The results of a run: its folder, its summary, the series of its outputs.

    results.summary     dict, as summary.json: status, outputs, steps, newton, residual, energy, time, messages, ...
    results.value(name) the result of an output, a number or an array
    results[name]       its series, (rows,) or (rows, columns), or its final array
    results.time        (rows,) [s]; in statics the load parameter
    results.state(row)  a State of the mechanism
    results.dataset()   everything as xarray.Dataset, with units
    """

    def __init__(self, folder, summary: dict | None = None, message: str = ""):
        self.folder = Path(folder)
        self.message = message
        if summary is None:
            file = self.folder / "summary.json"
            if not file.exists():
                raise _core.InputError(f"{self.folder}: there are no results in this folder; run a scene with output={str(folder)!r}")
            summary = json.loads(file.read_text(encoding="utf-8"))
        self.summary = summary

    @property
    def status(self) -> str:
        """'success', 'failed' (the numerics), 'interrupted' or 'error'."""
        return self.summary["status"]

    @cached_property
    def reader(self) -> _core.ResultReader:
        """The file results.h5."""
        return _core.ResultReader(self.folder / "results.h5")

    @cached_property
    def _run(self) -> _core.RunResults:
        return _core.RunResults(self.folder)

    @property
    def scene(self) -> _core.Scene:
        """The scene, built anew from what the results hold."""
        return self._run.scene()

    @property
    def names(self) -> list[str]:
        """Names of all outputs."""
        return list(self.summary["outputs"])

    def __len__(self) -> int:
        return self.reader.rows()

    def __contains__(self, name: str) -> bool:
        return name in self.summary["outputs"]

    def __iter__(self):
        return iter(self.names)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.reader.outputs():
            self._require(name)
            raise KeyError(f"the output '{name}' has no series (series: false in the scene); value('{name}') is its result")
        values = self.reader.output(name)
        return values[:, 0] if values.shape[1] == 1 else values

    def value(self, name: str):
        """The result of an output: a number, or an array; NaN where it is not defined."""
        self._require(name)
        value = self.summary["outputs"][name]["value"]
        if isinstance(value, list):
            return np.array([np.nan if number is None else number for number in value])
        return np.nan if value is None else value

    def unit(self, name: str) -> str:
        self._require(name)
        return self.summary["outputs"][name]["unit"]

    @property
    def time(self) -> np.ndarray:
        return self.reader.time()

    def state(self, row: int) -> _core.State:
        """The state of a row; negative rows count from the end. Accelerations are not recorded."""
        return self._run.state(row + len(self) if row < 0 else row)

    def dataset(self):
        """The series of outputs and steps as xarray.Dataset over `time`, with unit and description as attributes; needs xarray."""
        import xarray

        data = xarray.Dataset(
            coords={"time": ("time", self.time)}, attrs={"scene": str(self.summary.get("scene", "")), "status": self.status}
        )
        sources = [("", self.reader.outputs(), self.reader.output, self.reader.output_info)]
        sources += [("step_", self.reader.steps(), self.reader.step, self.reader.step_info)]
        for prefix, names, values_of, info_of in sources:
            for name in names:
                values, info = values_of(name), info_of(name)
                attributes = {"units": info.unit, "description": info.description, "frame": info.frame}
                isSeries = prefix != "" or self.reader.is_series(name)
                along = "time" if isSeries else f"{name}_number"
                if values.shape[1] == 1:
                    data[prefix + name] = ((along,), values[:, 0], attributes)
                else:
                    data[prefix + name] = ((along, f"{name}_component"), values, attributes)
        return data

    def _require(self, name: str):
        if name not in self.summary["outputs"]:
            raise KeyError(f"no output '{name}'; there are: {', '.join(self.names)}")

    def __repr__(self) -> str:
        return f"<tendril.Results '{self.folder}': {self.status}, {self.summary['steps']} steps, outputs {', '.join(self.names)}>"
