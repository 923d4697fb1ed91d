#pragma once
#include "tendril/contact/contact_report.h"

#include <algorithm>
#include <limits>

namespace tendril {

/// rho [N/m], what joins forces with gaps and with slips. It scales the equations below and moves no solution.
struct ContactWeights {
  double normal = 1, tangent = 1;
  Vector3 asVector() const { return {normal, tangent, tangent}; }
};

/// The laws of Signorini and Coulomb for one constraint as equations in the units of gaps (Alart & Curnier 1991),
///
///     c(g, F) = rho^-1 (F - P(xi)),      xi = F - rho g,      g = (gap, slip),  F = (F_n, F_t),
///
///     P(xi) = (max(0, xi_n),  xi_t projected onto the disc of radius mu max(0, xi_n)),
///
/// with the generalised Jacobian
///
///     dc = byGap dg + byForce dF,      byGap = rho^-1 P' rho,      byForce = rho^-1 (I - P').
///
/// Open: P' = 0. Stick: P' = I. Slip along tau = xi_t / |xi_t| with r = mu xi_n:
///
///     P' = [ 1        0                          ]
///          [ mu tau   r/|xi_t| (I - sigma tau^T) ],      sigma = F_t / max(r, |F_t|),    r < |xi_t|.
///
/// The derivative has tau in place of sigma, to which sigma tends; away from the solution, where force and slip do not fit, sigma keeps the
/// step from turning the slip to and fro (Hueber, Stadler & Wohlmuth, SIAM J. Sci. Comput. 30 (2008)).
///
/// A closed contact without friction slips; its F_t is zero.
struct ContactLawEquations {
  ContactStatus status = ContactStatus::Open;
  Eigen::Vector2d tau{0, 0}; ///< direction of the friction force where it slips
  Vector3 c = Vector3::Zero();
  Matrix3 byGap = Matrix3::Zero(), byForce = Matrix3::Zero();

  static ContactLawEquations at(const Vector3& g, const Vector3& F, double mu, const ContactWeights& rho);
  /// The same, but what is closed keeps the status that `held` found: what stuck sticks whatever it takes, what slipped does so in the same
  /// direction.
  static ContactLawEquations held(const ContactLawEquations& held, const Vector3& g, const Vector3& F, double mu,
                                  const ContactWeights& rho);

 private:
  void set(const Vector3& P, const Matrix3& dP, const Vector3& F, const Vector3& rho);
};

inline ContactLawEquations ContactLawEquations::at(const Vector3& g, const Vector3& F, double mu, const ContactWeights& rho) {
  const Vector3 weight = rho.asVector(), xi = F - weight.cwiseProduct(g);
  const double xiN = xi[0], length = xi.tail<2>().norm(), radius = mu * xiN;
  ContactLawEquations law;
  Vector3 P = Vector3::Zero();
  Matrix3 dP = Matrix3::Zero();
  if (!(xiN >= 0)) {
    law.status = ContactStatus::Open;
  } else if (mu > 0 && length <= radius) {
    law.status = ContactStatus::Stick;
    P = xi;
    dP.setIdentity();
  } else {
    law.status = ContactStatus::Slip;
    P[0] = xiN;
    dP(0, 0) = 1;
    if (mu > 0) {
      law.tau = xi.tail<2>() / length;
      P.tail<2>() = radius * law.tau;
      dP.bottomLeftCorner<2, 1>() = mu * law.tau;
      const Eigen::Vector2d sigma = F.tail<2>() / std::max({radius, F.tail<2>().norm(), std::numeric_limits<double>::min()});
      dP.bottomRightCorner<2, 2>() = radius / length * (Eigen::Matrix2d::Identity() - sigma * law.tau.transpose());
    }
  }
  law.set(P, dP, F, weight);
  return law;
}

inline ContactLawEquations ContactLawEquations::held(const ContactLawEquations& held, const Vector3& g, const Vector3& F, double mu,
                                                     const ContactWeights& rho) {
  ContactLawEquations law = at(g, F, mu, rho);
  if (law.status == ContactStatus::Open || held.status == ContactStatus::Open) return law;
  const Vector3 weight = rho.asVector(), xi = F - weight.cwiseProduct(g);
  law.status = held.status;
  law.tau = held.tau;
  Vector3 P = xi;
  Matrix3 dP = Matrix3::Identity();
  if (held.status == ContactStatus::Slip) {
    P.tail<2>() = mu * xi[0] * law.tau;
    dP.bottomRows<2>() << mu * law.tau, Eigen::Matrix2d::Zero();
  }
  law.set(P, dP, F, weight);
  return law;
}

inline void ContactLawEquations::set(const Vector3& P, const Matrix3& dP, const Vector3& F, const Vector3& rho) {
  const Vector3 inverse = rho.cwiseInverse();
  c = inverse.cwiseProduct(F - P);
  byGap = inverse.asDiagonal() * dP * rho.asDiagonal();
  byForce = inverse.asDiagonal() * (Matrix3::Identity() - dP);
}

}
