"""Pictures with Matplotlib."""

import matplotlib
import numpy as np
import pytest

import tendril

matplotlib.use("Agg")


@pytest.fixture
def results(scenes):
    return tendril.run(scenes / "beams/roll-up.yaml", {"turns": 0.5, "elements": 4}, output="drawn")


def test_series(results):
    axes = tendril.plot.outputs(results, "tip", "energy")
    assert [axis.get_ylabel() for axis in axes] == ["tip [m]", "energy [J]"] and axes[-1].get_xlabel() == "load parameter"
    np.testing.assert_array_equal(axes[0].lines[1].get_ydata(), results["tip"][:, 1])
    axes[0].figure.savefig("series.png")
    with pytest.raises(KeyError, match="there are: "):
        tendril.plot.outputs(results, "tap")


def test_shape(results):
    mechanism = results.scene.mechanism()
    axes = tendril.plot.shape(mechanism, results.state(-1))
    points = np.array(axes.lines[0].get_data_3d()).T
    # Half a turn: points lie on the circle of radius 1/pi about (0, 1/pi).
    np.testing.assert_allclose(np.hypot(points[:, 0], points[:, 1] - 1 / np.pi), 1 / np.pi, rtol=1e-6)
    axes.figure.savefig("shape.png")
