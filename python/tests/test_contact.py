"""Shapes, contacts, friction problems: assembled, solved, written and read."""

import numpy as np
import pytest

import tendril
from test_twins import ballTwin


def sphere(radius=0.1):
    return tendril.CollisionShape(tendril.Shape(kind=tendril.Shape.Kind.Sphere, size=[radius, 0, 0]), "ball")


def at(x):
    return tendril.Pose(np.eye(3), x)


def test_contact_of_two_spheres():
    (point,) = tendril.find_contacts(sphere(), at([0, 0, 0]), sphere(0.2), at([0.25, 0, 0]), 0.0)
    assert point.gap == pytest.approx(-0.05)
    np.testing.assert_allclose(point.normal, [-1, 0, 0], atol=1e-15)
    assert tendril.find_contacts(sphere(), at([0, 0, 0]), sphere(), at([1, 0, 0]), 0.1) == []
    assert tendril.gap_of(sphere(), at([0, 0, 0]), sphere(), at([1, 0, 0])) == pytest.approx(0.8)
    with pytest.raises(tendril.InputError):
        sphere(-1)


def test_meshes():
    corners = [[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    hull = tendril.convex_hull([np.array(c, float) for c in corners])
    moments = tendril.solid_moments(hull)
    assert moments.volume == pytest.approx(6)
    np.testing.assert_allclose(moments.centroid, [0.5, 1, 1.5])
    assert tendril.find_mesh_defect(hull) == ""


def test_contacts_of_a_model():
    mechanism, contacts, _ = ballTwin()
    detection = tendril.ContactDetection(contacts)
    state = mechanism.model.initial_state()
    detection.find_pairs(state, [0.6, 0.6])
    (contact,) = detection.find_contacts(state, 1.0)
    assert contact.point.gap == pytest.approx(0.5) and contact.law.restitution == 0.5
    assert contacts.law(0, 1).friction == 0.3
    with pytest.raises(IndexError):
        contacts.law(0, 7)


def sliding(mu=0.3, push=1.0):
    """A point of mass 1 pushed along a floor on which it weighs 1: u = r + q."""
    return tendril.FrictionProblem.dense(np.eye(3), [-1, push, 0], [tendril.FrictionLaw.coulomb(mu)])


@pytest.mark.parametrize("method", ["automatic", "gauss-seidel", "newton", "proximal-newton", "admm", "interior-point"])
def test_one_sliding_contact_in_closed_form(method):
    r, report = tendril.FrictionSolver().solve(sliding(), tendril.FrictionOptions(method=tendril.friction_methods[method]))
    assert report.converged, report.failure
    np.testing.assert_allclose(r, [1, -0.3, 0], atol=1e-7)
    np.testing.assert_allclose(tendril.velocities(sliding(), r), [0, 0.7, 0], atol=1e-7)
    assert tendril.friction_residual(sliding(), r, tendril.velocities(sliding(), r)).scaled < 1e-7


def test_sticking_contact_and_start():
    r, report = tendril.FrictionSolver().solve(sliding(push=0.2), r=[1, 0, 0])
    np.testing.assert_allclose(r, [1, -0.2, 0], atol=1e-8)
    with pytest.raises(ValueError, match="r: expected an array of 3 numbers, not 2"):
        tendril.FrictionSolver().solve(sliding(), r=[0, 0])


def test_bad_problems_are_refused():
    with pytest.raises(ValueError, match="W .rows.: expected an array of 3"):
        tendril.FrictionProblem.dense(np.eye(2), [0, 0, 0], [tendril.FrictionLaw.coulomb(0.1)])
    for matrix, q, mu in (
        (np.eye(3) * np.nan, [0, 0, 0], 0.1),
        (np.eye(3), [np.inf, 0, 0], 0.1),
        (np.eye(3), [0, 0, 0], -1),
        (-np.eye(3), [0, 0, 0], 0.1),
    ):
        with pytest.raises(ValueError):
            tendril.FrictionProblem.dense(matrix, q, [tendril.FrictionLaw.coulomb(mu)])


@pytest.mark.parametrize("name", ["sliding.hdf5", "sliding.dat"])
def test_files_of_friction_problems(name):
    problem = sliding()
    r, _ = tendril.FrictionSolver().solve(problem)
    tendril.write_friction_file(name, tendril.FrictionFile(title="sliding", local=problem, solution=r))
    back = tendril.read_friction_file(name)
    np.testing.assert_array_equal(back.problem().q, problem.q)
    found, report = tendril.FrictionSolver().solve(back.problem())
    np.testing.assert_allclose(found, r, atol=1e-8)
    with pytest.raises(tendril.InputError, match="exist"):
        tendril.write_friction_file(name, tendril.FrictionFile(local=problem))
    with pytest.raises(tendril.InputError):
        tendril.read_friction_file("missing.hdf5")


def test_problems_of_a_run(scenes):
    scene = tendril.Scene.from_file(scenes / "contact/incline.yaml", [])
    problems = []
    analysis = scene.analysis(lambda step, problem, r: problems.append((step, problem, r)))
    analysis.start()
    for _ in range(5):
        analysis.advance()
    step, problem, r = problems[-1]
    assert step == 5 and len(r) == problem.rows() and problem.contacts() >= 1
    assert tendril.friction_residual(problem, r, tendril.velocities(problem, r)).scaled < 1e-6
    report = analysis.contacts()
    assert len(report.contacts) >= 1 and report.contacts[0].impulse.shape == (3,)


def test_global_problem_in_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    whole = tendril.GlobalFrictionProblem(
        M=sparse.identity(3, format="csc"),
        H=sparse.identity(3, format="csc"),
        G=sparse.csc_matrix((3, 0)),
        f=[-1, 1, 0],
        w=[0, 0, 0],
        b=np.zeros(0),
        laws=[tendril.FrictionLaw.coulomb(0.3)],
    )
    whole.H = sparse.csc_matrix(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]))
    reduced = tendril.FrictionReduction(whole)
    r, report = tendril.FrictionSolver().solve(reduced.problem())
    np.testing.assert_allclose(r, [1, -0.3, 0], atol=1e-7)
    np.testing.assert_allclose(reduced.motion(r).v, [0, 0.7, 0], atol=1e-7)
