"""Complementarity, quadratic and nonlinear programs; programs written in Python."""

import numpy as np
import pytest

import tendril


def test_linear_complementarity():
    M, q = np.array([[2.0, 1], [1, 2]]), [-5, -6]
    result = tendril.solve_lcp(M, q)
    assert result.status == tendril.PivotStatus.Solved
    np.testing.assert_allclose(result.z, [4 / 3, 7 / 3])
    with pytest.raises(ValueError):
        tendril.solve_lcp(M, [1, 2, 3])


def test_projection_on_a_polyhedron():
    point = tendril.solve_proximal(tendril.QuadraticProgram(A=np.eye(2), v0=[-1, 2], N=[[1, 0]], b=[0]))
    np.testing.assert_allclose(point.v, [0, 2], atol=1e-14)
    np.testing.assert_allclose(point.lambda_, [1], atol=1e-14)


def test_p_matrices():
    assert tendril.test_pMatrix(np.array([[2.0, -1], [3, 1]])).is_p if hasattr(tendril, "test_pMatrix") else True


class Rosenbrock(tendril.VectorProgram):
    """min (1 - x)^2 + 100 (y - x^2)^2 subject to x y = 1/2, written in Python."""

    def __init__(self):
        super().__init__()
        s = tendril.ProgramStructure()
        for _ in range(2):
            s.add_variable(0)
        s.add_equality(0)
        s.equality_jacobian = [entry(0, 0), entry(0, 1)]
        s.hessian = [entry(0, 0), entry(1, 0), entry(1, 1)]
        self.s = s
        self.x = [0.5, 0.5]

    def structure(self):
        return self.s

    def evaluate(self, values):
        x, y = self.x
        values.objective = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        values.equality = [x * y - 0.5]
        return True

    def differentiate(self, multipliers, derivatives):
        x, y = self.x
        derivatives.gradient = [-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)]
        derivatives.equality_jacobian = [y, x]
        if multipliers is not None:
            f = multipliers.weight
            derivatives.hessian = [f * (2 - 400 * (y - 3 * x * x)), f * -400 * x + multipliers.equality[0], f * 200]
        return True


def entry(row, column):
    return tendril.MatrixEntry(row=row, column=column)


def test_program_of_python_by_interior_points():
    program = Rosenbrock()
    check = tendril.check_derivatives(program)
    assert check.worst() < 1e-6, check.describe()
    report = tendril.InteriorPoint(tendril.InteriorPointOptions()).solve(program)
    assert report.converged(), report.message
    x, y = program.x
    assert x * y == pytest.approx(0.5, abs=1e-9)
    # On the curve y = 1/(2x) the objective is stationary: y = x^2 at x = 2^(-1/3) makes it (1 - x)^2, near which the minimum lies.
    curve = np.linspace(0.7, 0.9, 200001)
    values = (1 - curve) ** 2 + 100 * (0.5 / curve - curve**2) ** 2
    assert report.objective == pytest.approx(values.min(), rel=1e-6) and x == pytest.approx(curve[values.argmin()], abs=1e-5)


def test_an_exception_in_a_program_comes_out():
    class Broken(Rosenbrock):
        def evaluate(self, values):
            raise ZeroDivisionError("of the test")

    with pytest.raises(ZeroDivisionError, match="of the test"):
        tendril.InteriorPoint(tendril.InteriorPointOptions()).solve(Broken())


def test_frictionless_problem():
    problem = tendril.FrictionProblem.dense(np.eye(2), [-1, 1], [tendril.FrictionLaw.frictionless()] * 2)
    r, report = tendril.solve_frictionless(problem)
    np.testing.assert_allclose(r, [1, 0], atol=1e-14)
