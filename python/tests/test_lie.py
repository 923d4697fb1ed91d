"""SO(3), SE(3) and reconstruction against closed forms and finite differences."""

import numpy as np
import pytest

from tendril import Pose, se3, so3

w = np.array([0.3, -0.5, 0.2])
twist = np.array([0.1, 0.4, -0.2, 0.3, -0.5, 0.2])


def rodrigues(w):
    angle = np.linalg.norm(w)
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]) / angle
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_rotations():
    np.testing.assert_allclose(so3.exp(w), rodrigues(w), atol=1e-15)
    np.testing.assert_allclose(so3.log(so3.exp(w)), w, atol=1e-15)
    np.testing.assert_allclose(so3.cayley_inverse(so3.cayley(w)), w, atol=1e-15)
    np.testing.assert_allclose(so3.tangent(w) @ so3.tangent_inverse(w), np.eye(3), atol=1e-14)
    np.testing.assert_array_equal(so3.vee(so3.hat(w)), w)


def test_tangent_is_the_derivative_of_exp():
    step, direction = 1e-6, np.array([0.2, 0.1, -0.7])
    moved = so3.log(so3.exp(w).T @ so3.exp(w + step * direction)) / step
    np.testing.assert_allclose(moved, so3.tangent(w) @ direction, atol=1e-6)


def test_poses():
    H = se3.exp(twist)
    np.testing.assert_allclose(se3.log(H), twist, atol=1e-15)
    np.testing.assert_allclose((H * H.inverse()).matrix(), np.eye(4), atol=1e-15)
    np.testing.assert_allclose(H * np.array([1, 2, 3]), (H.matrix() @ [1, 2, 3, 1])[:3], atol=1e-14)
    other = Pose(so3.exp([0, 0, 1]), [1, 0, 0])
    np.testing.assert_allclose((H * H.relative(other)).matrix(), other.matrix(), atol=1e-15)
    np.testing.assert_allclose(
        se3.Ad(H) @ se3.AdInverse(H) if hasattr(se3, "AdInverse") else se3.Ad(H) @ se3.Ad(H.inverse()), np.eye(6), atol=1e-14
    )
    H.x[0] = 5  # members of fixed size are views
    assert H.x[0] == 5 and H.matrix()[0, 3] == 5


@pytest.mark.parametrize("order", [1, 2, 4])
def test_reconstruction_has_its_order(order):
    def strains(s):
        return [1, 0, 0, 0.5, np.sin(s), 1 + s]

    exact = se3.reconstruct(se3.StepMap.Exponential, strains, 1.0, 400, order=4)
    errors = [np.linalg.norm(se3.reconstruct(se3.StepMap.Exponential, strains, 1.0, n, order=order).x - exact.x) for n in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    with pytest.raises(ValueError, match="order: expected 1, 2 or 4"):
        se3.reconstruct(se3.StepMap.Cayley, strains, 1.0, 4, order=3)
