"""Rods in equilibrium against closed forms."""

import numpy as np
import pytest

import tendril
from tendril import se3


def test_a_rod_with_natural_curvature_is_a_circle():
    properties = tendril.RodProperties(length=2 * np.pi, stiffness=[1, 1, 1], natural=lambda s: [1.0, 0.0, 0.0])
    rod = tendril.StrainRod(properties, 40)
    rod.place(tendril.Pose(), rod.natural())
    np.testing.assert_allclose(rod.frame(40).x, rod.frame(0).x, atol=1e-12)
    assert rod.elastic_energy() == pytest.approx(0, abs=1e-20)
    with pytest.raises(ValueError, match="strains: expected an array of 120 numbers"):
        rod.place(tendril.Pose(), [0, 0, 0])
    with pytest.raises(IndexError):
        rod.frame(41)


def test_bent_rod_has_its_energy():
    rod = tendril.StrainRod(tendril.RodProperties(length=2, stiffness=[3, 1, 1]), 10)
    strains = np.zeros(rod.size())
    strains[0::3] = 0.5
    rod.place(tendril.Pose(), strains)
    assert rod.elastic_energy() == pytest.approx(3 * 0.5**2 * 2 / 2)
    rod_frame = rod.frame(10)
    np.testing.assert_allclose(rod_frame.R @ rod_frame.R.T, np.eye(3), atol=1e-14)


def test_equilibrium_between_clamps_is_a_minimum():
    rod = tendril.StrainRod(tendril.RodProperties(length=1, stiffness=[1, 2, 1]), 30)
    start = np.zeros(rod.size())
    start[0::3] = np.sin(np.linspace(0, 2 * np.pi, 30))
    rod.place(tendril.Pose(), start)
    ends = tendril.RodEnds(begin=tendril.Pose(), position=[0, 0, 0.9], orientation=np.eye(3))
    found = tendril.solve_equilibrium(rod, ends, tendril.RodEquilibriumOptions())
    np.testing.assert_allclose(rod.frame(30).x, [0, 0, 0.9], atol=1e-9)
    # Between clamps the elastica of one wave: energy near that of the mode in closed form, to second order in the mesh.
    exact = tendril.elastica_waves(0.1, 1)
    assert rod.elastic_energy() == pytest.approx(exact.energy, rel=2e-2)
    assert found.rod is None if hasattr(found, "rod") else True


def test_elastica_in_closed_form_and_by_shooting():
    exact = tendril.elastica_waves(0.3, 1)
    shot = tendril.shoot_elastica(0.3, exact.curvature * 1.01, exact.force_x * 0.99, 0.0)
    assert shot.is_solved and shot.force_x == pytest.approx(exact.force_x, rel=1e-9)
    with pytest.raises(tendril.InputError):
        tendril.elastica_waves(2.0, 1)


def test_writhe_of_a_plane_curve_is_zero():
    angle = np.linspace(0, 3, 20)
    plane = np.vstack([np.cos(angle), np.sin(angle), 0 * angle])
    assert tendril.writhe(plane) == pytest.approx(0, abs=1e-12)
    with pytest.raises(TypeError, match="shape"):
        tendril.writhe(plane.T)


def test_cosserat_rod_unstrained_has_no_energy():
    rod = tendril.CosseratRod(tendril.CosseratProperties(length=1, weight=[0, 0, -1]), 11)
    rod.place_unstrained(tendril.Pose())
    assert rod.elastic_energy() == pytest.approx(0, abs=1e-20)
    np.testing.assert_allclose(rod.position(10), [0, 0, 1], atol=1e-14)
    assert se3.log(tendril.Pose()) == pytest.approx(np.zeros(6))


def test_rod_scene_of_the_gallery(scenes):
    results = tendril.run(scenes / "rods/elastica.yaml", output="elastica")
    assert results.value("energy") > 0
