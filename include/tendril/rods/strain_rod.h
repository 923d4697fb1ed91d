#pragma once
#include "tendril/lie/rkmk.h"

#include <functional>
#include <vector>

namespace tendril {

/// An inextensible, unshearable rod. Its centreline has the tangent d3; strains are (kappa_1, kappa_2, tau), about d1, d2 and d3.
struct RodProperties {
  double length = 1;                      ///< [m]
  Vector3 stiffness = Vector3::Ones();    ///< (EI_1, EI_2, G J) [N m^2]
  Vector3 weight = Vector3::Zero();       ///< per length, in the inertial frame [N/m]
  std::function<Vector3(double)> natural; ///< strains without load at arclength s [1/m]; empty: straight
};

/// Where the weight of an element acts.
enum class RodWeight {
  Trapezoid,    ///< half of it at each end: of second order
  LeftRectangle ///< all of it at its begin: of first order, as Blumentals (2017) has it
};

/// A rod of N elements with constant strains u_i, as unknowns the strains alone (Blumentals 2017, 6.2.3): the frames
///
///     H_{i+1} = H_i tau(h (e3, u_i)),     H_0 given,
///
/// and the energy  E = sum_i (h/2) (u_i - u0_i)^T K (u_i - u0_i) - sum_k h w_k g . r_k,  with all derivatives exact: gradients in O(N) by a
/// sweep back from the end, Hessians in O(N^2). Ends that are held are multipliers of functions of the last frame. With exp the elements
/// are pieces of helices.
///
/// For variations of two elements i <= j, with spatial screws A_i = Ad(H_{i+1}) T(x_i) h [0; I], d2H_k = S(A_i a) S(A_j b) H_k: so the
/// second derivative of sum_k f_k . r_k is omega_i . (B_j omega_j - F_j x v_j), B_j = sum_{k>j} (r_k f_k^T - (r_k . f_k) I).
class StrainRod {
 public:
  StrainRod(RodProperties properties, int elements, se3::StepMap map = se3::StepMap::Exponential, RodWeight weight = RodWeight::Trapezoid);

  int elements() const { return int(frames_.size()) - 1; }
  int size() const { return 3 * elements(); } ///< number of strains
  const RodProperties& properties() const { return properties_; }
  double step() const { return properties_.length / elements(); }
  /// Natural strains of the elements, at their middles.
  const VectorX& natural() const { return natural_; }

  /// Takes the strains and finds the frames.
  void place(const Pose& begin, const VectorX& strains);
  const VectorX& strains() const { return strains_; }
  const Pose& frame(int node) const { return frames_[std::size_t(node)]; }
  /// Integral of the torsion over 2 pi: turns by which the end is twisted against the begin along the rod.
  double turns() const;

  double elasticEnergy() const;
  double weightEnergy() const;
  double energy() const { return elasticEnergy() + weightEnergy(); }

  /// A function of the last frame by its derivatives: y . dr + couple . omega for a motion (dr, omega) in the inertial frame, and
  /// a . (curvature b) for the second derivative along exp(a) exp(b) R.
  struct EndFunction {
    Vector3 y = Vector3::Zero();
    Vector3 couple = Vector3::Zero();
    Matrix3 curvature = Matrix3::Zero();
  };
  /// gradient += scale d(energy)/du; of a function of the end.
  void addEnergyGradient(double scale, VectorX& gradient);
  void addEndGradient(const EndFunction& end, double scale, VectorX& gradient);
  /// The Hessian of scale energy + function of the end, symmetric (3N x 3N).
  void hessian(double scale, const EndFunction& end, MatrixX& H);

 private:
  void screws();
  void sweep(double scale, const EndFunction& end, VectorX& gradient);

  RodProperties properties_;
  se3::StepMap map_;
  VectorX natural_, strains_;
  std::vector<double> shares_; ///< of the length, at the nodes
  std::vector<Pose> frames_;
  using Screws = Eigen::Matrix<double, 6, 3>;
  std::vector<Screws> screws_; ///< A_i
  bool screwsCurrent_ = false;
};

}
