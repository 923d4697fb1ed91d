"""Developable sheets."""

import numpy as np
import pytest

import tendril
from tendril import uniform_patch


def patch(**members):
    return tendril.UniformPatch(tendril.PatchProperties(domain=tendril.PatchDomain(end1=1, end2=1), area_density=1, rigidity=1, **members))


def test_curvatures_on_the_cone():
    q = tendril.ConePoint.to_curvatures(2.0, 0.3)
    assert tendril.gaussian_curvature(q) == pytest.approx(0, abs=1e-15)
    point = tendril.ConePoint.of(q)
    assert (point.kappa, point.phi) == pytest.approx((2.0, 0.3))


def test_a_bent_patch_is_a_cylinder():
    # Bent about e2 with curvature 1: the point at s = (pi, 0) is the opposite of the circle of radius 1.
    x = uniform_patch.position([1, 0, 0], [np.pi, 0])
    assert np.linalg.norm(x) == pytest.approx(2, rel=1e-12)


def test_energy_and_equilibrium():
    flat = patch(poisson_ratio=0.0)
    assert flat.elastic_energy([1, 0, 0]) == pytest.approx(0.5)
    dynamics = flat.evaluate([0.5, 0, 0], [0, 0, 0], [0, 0, -1])
    np.testing.assert_allclose(dynamics.M, dynamics.M.T, atol=1e-15)
    found = tendril.patch_equilibrium(flat, [0, 0, -0.1])
    potential = tendril.cone_potential(flat, found.at, [0, 0, -0.1])
    np.testing.assert_allclose(potential.gradient, 0, atol=1e-9)
    with pytest.raises(tendril.InputError):
        patch(poisson_ratio=0.9)


def test_motion_keeps_the_constraint():
    motion = tendril.PatchMotion(patch(), tendril.PatchMotionOptions(step=1e-3, gravity=[0, 0, 0]), [1, 0, 0])
    energy = motion.energy().total()
    for _ in range(20):
        motion.advance()
    assert motion.energy().total() == pytest.approx(energy, rel=1e-6)
    assert abs(motion.constraint()) < 1e-12


def test_shell_of_a_model(scenes):
    scene = tendril.Scene.from_file(scenes / "shells/free-patch.yaml")
    (shell,) = scene.shells()
    model = scene.mechanism().model
    frame = shell.at(model, model.initial_state(), [0, 0])
    np.testing.assert_allclose(frame.R.T @ frame.R, np.eye(3), atol=1e-12)
