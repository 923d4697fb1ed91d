"""Pictures of results with Matplotlib, which is imported when something is drawn."""

from __future__ import annotations

import numpy as np

from . import _core
from ._results import Results


def outputs(results: Results, *names: str, axes=None):
    """Draws the series of outputs over time (or the load parameter), each on axes of its own; all scalars and vectors if none is named.

    Returns the list of axes."""
    import matplotlib.pyplot as pyplot

    recorded = results.reader.outputs()
    names = names or tuple(name for name in recorded if results.reader.is_series(name))
    for name in names:
        if name not in recorded:
            raise KeyError(f"no series '{name}'; there are: {', '.join(recorded)}")
    if axes is None:
        _, axes = pyplot.subplots(len(names), 1, sharex=True, squeeze=False, figsize=(7, 2.4 * len(names)), layout="constrained")
    axes = list(np.atleast_1d(axes).ravel())
    if len(axes) != len(names):
        raise ValueError(f"axes: expected {len(names)}, one for each output, not {len(axes)}")
    for name, axis in zip(names, axes):
        values, info = results.reader.output(name), results.reader.output_info(name)
        along = results.time if results.reader.is_series(name) else np.arange(len(values))
        labels = ["x", "y", "z"] if values.shape[1] == 3 else [str(i + 1) for i in range(values.shape[1])]
        for column, label in zip(values.T, labels):
            axis.plot(along, column, label=label if values.shape[1] > 1 else None)
        axis.set_ylabel(f"{name}" if info.unit == "1" else f"{name} [{info.unit}]")
        if values.shape[1] > 1:
            axis.legend()
    axes[-1].set_xlabel("t [s]" if isDynamic(results) else "load parameter")
    return axes


def isDynamic(results: Results) -> bool:
    return "kinetic_energy" in results.reader.steps()


def shape(mechanism: _core.Mechanism, state: _core.State, axes=None, **style):
    """Draws the centrelines of beams and the origins of bodies in a state, on 3D axes with equal scales. Returns the axes."""
    import matplotlib.pyplot as pyplot

    if axes is None:
        axes = pyplot.figure(layout="constrained").add_subplot(projection="3d")
    model = mechanism.model
    corners = []
    for beam in mechanism.beams:
        points = centreline(model, state, beam)
        axes.plot(*points.T, label=beam.name, **style)
        corners.append(points)
    for body in mechanism.bodies:
        point = state.pose(model, body.block).x[None, :]
        axes.plot(*point.T, "o", label=body.name, **style)
        corners.append(point)
    if corners:
        points = np.vstack(corners)
        middle, reach = (points.max(0) + points.min(0)) / 2, max((points.max(0) - points.min(0)).max() / 2, 1e-12)
        axes.set_xlim(middle[0] - reach, middle[0] + reach)
        axes.set_ylim(middle[1] - reach, middle[1] + reach)
        axes.set_zlim(middle[2] - reach, middle[2] + reach)
        axes.set_box_aspect((1, 1, 1))
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_zlabel("z [m]")
    return axes


def centreline(model: _core.Model, state: _core.State, beam: _core.BeamPart, subdivisions: int = 4) -> np.ndarray:
    """Points along the helices of the elements of a beam, (points, 3) [m]."""
    poses = [state.pose(model, node) for node in beam.nodes]
    points = [poses[0].x]
    for first, second in zip(poses, poses[1:]):
        d = _core.se3.log(first.relative(second))
        points += [(first * _core.se3.exp(d * (k / subdivisions))).x for k in range(1, subdivisions + 1)]
    return np.array(points)
