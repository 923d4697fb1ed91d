"""Solvability of contact, friction bounds; statics; dynamics with events."""

import numpy as np
import pytest

import tendril
from test_twins import ballTwin


def test_friction_bound_of_painleves_rod(scenes):
    analysis = tendril.Scene.from_file(scenes / "solvability/painleve-rod.yaml").analysis()
    analysis.start()
    while not analysis.finished():
        analysis.advance()
    examination = analysis.examination()
    tangent = 2.0
    cos, sin = 1 / np.hypot(1, tangent), tangent / np.hypot(1, tangent)
    assert examination.bound.exact == pytest.approx((1 + 3 * cos**2) / (3 * sin * cos), rel=1e-9)
    assert any("unique" in sentence for sentence in examination.sentences())


def test_acceleration_problem_in_matrices():
    """A mass that rests on a floor: one contact, weight 1."""
    problem = tendril.AccelerationProblem(
        M=np.eye(2),
        F=[0, 1],
        G=np.zeros((0, 2)),
        joint_bias=[],
        N=[[0, 1]],
        H=[[1, 0]],
        normal_bias=[0],
        friction=[0.2],
        is_bilateral=[False],
    )
    verdict = tendril.judge(problem)
    assert verdict.degrees_of_freedom == 2 and verdict.is_force_unique
    solution = tendril.solve_without_friction(problem, tendril.Formulation.Lcp)
    np.testing.assert_allclose(solution.lambda_, [1])
    with pytest.raises(ValueError):
        problem.F = [0, 1, 2]
        tendril.check_problem(problem)


def test_events_of_a_ball():
    mechanism, contacts, _ = ballTwin()
    analysis = tendril.EventDriven(mechanism.model, contacts, tendril.EventDrivenOptions(duration=0.5, step=0.1))
    analysis.start()
    while not analysis.finished():
        analysis.advance()
    first = analysis.events()[0]
    assert first.kind == tendril.ContactEvent.Kind.Impact
    assert first.time == pytest.approx(np.sqrt(2 * 0.5 / 9.81), rel=1e-8)


def test_stability_of_equilibria():
    """Euler's column buckles at pi^2 EI / (4 L^2): the tangent loses its sign there."""
    builder = tendril.MechanismBuilder()
    section = tendril.SectionProperties.general(np.diag([1e6, 1e6, 1e6, 1.0, 1.0, 1.0]), np.zeros((6, 6)))
    beam = builder.beam("column", tendril.Curve.straight([0, 0, 0], [0, 0, 1]), section, tendril.BeamOptions(elements=12))
    end = beam.end()
    builder.clamp("foot", beam.start())
    builder.force("load", end, [0, 0, -3.0], tendril.LoadDirection.Dead, tendril.TimeFunction.proportional())
    model = builder.build().model
    analysis = tendril.LoadStepping(model, tendril.LoadSteppingOptions(steps=12, grow=False))
    analysis.start()
    critical = []
    while not analysis.finished():
        report = analysis.advance()
        if report.critical is not None:
            critical.append(report.critical)
    assert 3.0 * critical[0] == pytest.approx(np.pi**2 / 4, rel=1e-2)
