"""Optimal control by discrete mechanics."""

import numpy as np
import pytest

import tendril


def cart():
    builder = tendril.MechanismBuilder()
    body = builder.body("cart", tendril.MassProperties.box(1 / (0.2 * 0.1 * 0.1), [0.2, 0.1, 0.1]), tendril.Pose())
    along = tendril.Pose(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]), [0, 0, 0])  # e3 is the x axis
    builder.joint(tendril.JointKind.Prismatic, "slide", builder.ground(along), body.at(along))
    return builder.build()


def options(N=10, **members):
    return tendril.OptimalControlOptions(
        intervals=N, duration=1.0, effort=[1.0], end=tendril.ManoeuvreEnd(configuration={"slide": [1.0]}), **members
    )


@pytest.mark.parametrize("method", [tendril.TranscriptionMethod.Dmocc, tendril.TranscriptionMethod.Dmoc])
def test_double_integrator_in_closed_form(method):
    mechanism = cart()
    actuators = tendril.motors_of(mechanism.model, "slide")
    N = 10
    analysis = tendril.OptimalControl(mechanism.model, options(N, actuators=actuators, method=method))
    analysis.start()
    assert analysis.cost() == pytest.approx(12 / (1 - 1 / N**2), rel=1e-9)
    path = analysis.path()
    forces = path.controls()
    assert forces.shape == (1, N)
    np.testing.assert_allclose(np.diff(forces[0]), np.diff(forces[0])[0], atol=1e-7)  # they fall linearly
    assert analysis.report().converged() and analysis.momentum_defect() < 1e-8
    with pytest.raises(IndexError, match="n = 11"):
        path.node(N + 1)
    while not analysis.finished():
        analysis.advance()
    np.testing.assert_allclose(analysis.state().q[:3], [1, 0, 0], atol=1e-9)


def test_wrong_names_are_refused():
    mechanism = cart()
    with pytest.raises(tendril.InputError, match="hinge"):
        tendril.motors_of(mechanism.model, "hinge")


def test_discrete_invariants_of_a_free_body():
    """Momentum maps of the variational integrator, whose inner parts (the room discrete) Python sees through it."""
    builder = tendril.MechanismBuilder()
    builder.body("top", tendril.MassProperties.box(1000, [0.1, 0.2, 0.3]), tendril.Pose(), [1, 2, 3], [3, -2, 1])
    model = builder.build().model
    analysis = tendril.VariationalIntegrator(
        model, tendril.VariationalOptions(duration=0.2, step=1e-2, quadrature=tendril.Quadrature.Midpoint)
    )
    analysis.start()
    before = analysis.node().momentum.angular.copy()
    while not analysis.finished():
        analysis.advance()
    np.testing.assert_allclose(analysis.node().momentum.angular, before, rtol=1e-10)
