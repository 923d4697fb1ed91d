#pragma once
#include "tendril/shells/patch.h"

namespace tendril {

/// A developable patch with uniform curvatures q = (b11, b22, b12), which bends without stretching about the frame (R0, r0) of its point
/// s = 0: with w = b s, sigma = s^T w, X = |w|^2 and Stumpff functions c_k(X),
///
///     r = r0 + R0 (s1 - c3 sigma w1, s2 - c3 sigma w2, c2 sigma),   d_i r = R e_i, d_i R = R S(Omega_i),      (shells.2)
///     Omega_1 = (q2, -q0, 0), Omega_2 = (q1, -q2, 0),
///
/// which is the exponential map of SE(3) along s. It is a sheet, a circular cylinder, on the cone q0 q1 = q2^2 alone; off it this is a
/// smooth extension. Derivatives by q are exact, and entire functions of q: no digit is lost anywhere, the flat state included. Positive
/// curvature bends towards the normal R e3.
///
/// Sources: Blumentals, Bertails-Descoubes & Casati (2016); Blumentals (2017), chapter 9.
namespace uniform_patch {

/// Position and frame of a point, in the frame of s = 0.
Pose frame(const Vector3& q, const Vector2& s);
Vector3 position(const Vector3& q, const Vector2& s);
/// dr/dq, and the second derivative of r along rates v.
Matrix3 jacobian(const Vector3& q, const Vector2& s);
Vector3 acceleration(const Vector3& q, const Vector3& v, const Vector2& s);

}

/// Integrals over a uniform patch that is held at s = 0, by products of Gauss-Legendre rules with as many points in each direction as the
/// patch turns in it: exact to round-off up to some turns. Evaluation allocates nothing.
class UniformPatch {
 public:
  explicit UniformPatch(const PatchProperties& properties);

  const PatchProperties& properties() const { return properties_; }

  struct Dynamics {
    Matrix3 M;     ///< rho h int (dr/dq)^T dr/dq
    Vector3 force; ///< rho h int (dr/dq)^T (d2r[v, v] - g), so that M a + force = elastic and other forces
  };
  /// Air about the patch, in the frame of s = 0: the density of AirDrag, and the wind.
  struct Air {
    double density = 0;
    Vector3 wind = Vector3::Zero();
  };
  /// Gravity g [m/s^2] in the frame of s = 0. The force includes minus that of the air. NumericalFailure if the patch is rolled up more
  /// than it can integrate.
  void evaluate(const Vector3& q, const Vector3& v, const Vector3& gravity, const Air& air, Dynamics& d) const;
  void evaluate(const Vector3& q, const Vector3& v, const Vector3& gravity, Dynamics& d) const { evaluate(q, v, gravity, {}, d); }
  Matrix3 mass(const Vector3& q) const;
  /// Whether it can: whether the patch is not rolled up too much.
  bool canIntegrate(const Vector3& q) const;

  /// The same in (kappa, phi), from the closed forms of the cylinder, with the elastic force and damping apart:
  ///
  ///     U = area D / 2 ((kappa - kappa0)^2 + (1 - nu) kappa kappa0 (1 - cos 2 (phi - phi0))),
  ///     damping = -area D tau (kappa', 2 (1 - nu) kappa^2 phi').
  struct ConeDynamics {
    Eigen::Matrix2d M;
    Vector2 force, elastic;
  };
  void evaluate(const ConePoint& at, const Vector2& rates, const Vector3& gravity, const Air& air, ConeDynamics& d) const;

  /// Energies in (kappa, phi), and the power of damping and air, in one sum over the patch.
  struct ConeEnergies {
    double kinetic, elastic, gravitational, power;
  };
  ConeEnergies energies(const ConePoint& at, const Vector2& rates, const Vector3& gravity, const Air& air) const;

  /// int r dA [m^3].
  Vector3 moment(const Vector3& q) const;

  /// -dU/dq - damping [N m^2]: elastic.
  Vector3 elasticForce(const Vector3& q, const Vector3& v) const;
  /// Power of the air on the patch [W].
  double airPower(const Vector3& q, const Vector3& v, const Air& air) const;
  double kineticEnergy(const Vector3& q, const Vector3& v) const;
  double elasticEnergy(const Vector3& q) const;
  double gravitationalEnergy(const Vector3& q, const Vector3& gravity) const;

 private:
  PatchProperties properties_;
  Matrix3 stiffness_;      ///< of the whole patch
  double kappa0_;          ///< natural curvature
  double cosine0_, sine0_; ///< of its direction
};

}
