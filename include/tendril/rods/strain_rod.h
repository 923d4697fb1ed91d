#pragma once
#include "tendril/lie/rkmk.h"

#include <functional>
#include <optional>
#include <vector>

namespace tendril {

/// A rod whose centreline has the tangent d3; strains are (kappa_1, kappa_2, tau), about d1, d2 and d3. It neither stretches nor shears
/// unless it is given stiffnesses against both.
struct RodProperties {
  double length = 1;                         ///< [m]
  Vector3 stiffness = Vector3::Ones();       ///< (EI_1, EI_2, G J) [N m^2]
  Vector3 weight = Vector3::Zero();          ///< per length, in the inertial frame [N/m]
  std::function<Vector3(double)> natural;    ///< strains without load at arclength s [1/m]; empty: straight
  std::optional<Vector3> stretchStiffness{}; ///< (GA_1, GA_2, EA) [N]: r' = R nu with the strains nu, (0, 0, 1) without load
};

/// Where the weight of an element acts.
enum class RodWeight {
  Trapezoid,    ///< half of it at each end: of second order
  LeftRectangle ///< all of it at its begin: of first order, as Blumentals (2017) has it
};

/// How strains go along an element.
enum class RodStrains {
  Constant, ///< of each element, on their own
  Linear    ///< between those of the nodes; with the Cayley map, for rods that do not stretch
};

class ElementTwist;

/// A rod of N elements with the strains as its only unknowns (Blumentals 2017, 6.2.3 and 6.2.4): the frames
///
///     H_{i+1} = H_i tau(x_i),     x_i = h (e3, u_i) where strains are constant,     H_0 given,
///
/// and the energy  E = (1/2) sum_k c_k (u_k - u0_k)^T K (u_k - u0_k) - sum_k c'_k g . r_k, c_k and c'_k shares of the length, with all
/// derivatives exact: gradients and products with the Hessian in O(N) by sweeps along the rod, Hessians in O(N^2). Ends that are held are
/// multipliers of functions of the last frame. With exp and constant strains the elements are pieces of helices. A rod that stretches has
/// six strains an element, (kappa, nu).
///
/// For variations of two elements i <= j, with spatial screws A_i = Ad(H_{i+1}) T(x_i) dx_i/du, d2H_k = S(A_i a) S(A_j b) H_k: so the
/// second derivative of sum_k f_k . r_k is omega_i . (B_j omega_j - F_j x v_j), B_j = sum_{k>j} (r_k f_k^T - (r_k . f_k) I).
class StrainRod {
 public:
  StrainRod(RodProperties properties, int elements, se3::StepMap map = se3::StepMap::Exponential, RodWeight weight = RodWeight::Trapezoid,
            RodStrains strains = RodStrains::Constant);

  int elements() const { return int(frames_.size()) - 1; }
  int size() const { return int(natural_.size()); } ///< number of strains
  const RodProperties& properties() const { return properties_; }
  se3::StepMap map() const { return map_; }
  double step() const { return properties_.length / elements(); }
  ElementTwist element() const;
  int stride() const { return properties_.stretchStiffness ? 6 : 3; } ///< from the strains of an element to those of the next
  /// Natural strains, where the unknown ones are: in the middle of elements, or at nodes.
  const VectorX& natural() const { return natural_; }
  /// What elastic energy weighs the squares of the strains with [N m^3], and shares of the length that weigh at the nodes [m].
  const VectorX& elasticity() const { return elasticity_; }
  const std::vector<double>& shares() const { return shares_; }
  /// 1/m for curvatures and torsion over the length, 1 for stretches: what makes strains numbers.
  double strainUnit(int strain) const;
  /// The same rod with the length 1 and with the largest stiffness in bending or torsion 1.
  StrainRod scaled() const;

  /// Takes the strains and finds the frames.
  void place(const Pose& begin, const VectorX& strains);
  const VectorX& strains() const { return strains_; }
  const Pose& frame(int node) const { return frames_[std::size_t(node)]; }
  /// Moments about the directors at the middle of an element [N m], and forces along them where the rod stretches [N].
  Vector6 stress(int element) const;
  /// Curvatures and torsion in the middle of an element.
  Vector3 curvature(int element) const;
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
  /// Forces f_k at the nodes, one a column: the function sum_k f_k . r_k, f constant. Without columns there are none.
  using NodeForces = Eigen::Matrix3Xd;
  void addNodeGradient(const NodeForces& forces, VectorX& gradient) { sweep(0, {}, forces, gradient); }
  /// motion += scale dr_k/du (3 x size).
  void addNodeMotion(int node, double scale, Eigen::Ref<MatrixX> motion);
  /// The Hessian of scale energy + function of the end + sum_k f_k . r_k, symmetric.
  void hessian(double scale, const EndFunction& end, const NodeForces& forces, MatrixX& H);
  void hessian(double scale, const EndFunction& end, MatrixX& H) { hessian(scale, end, {}, H); }
  class SecondVariation;
  /// That Hessian as a product with directions, each in O(N); until the rod is placed anew.
  SecondVariation secondVariation(double scale, const EndFunction& end, const NodeForces& forces);
  /// motions = dr_k/du times a direction, of all nodes, one a column.
  void nodeMotions(const VectorX& direction, NodeForces& motions);

 private:
  using Screws = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
  using Moments = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 6>; ///< B omega - F x v by strain of an element
  /// What acts beyond an element: force, moment about the origin, and the moments B of the class comment.
  struct Beyond {
    Vector3 F, M;
    Matrix3 B;
  };

  void screws();
  template <class Visit> void fromTheEnd(double scale, const EndFunction& end, const NodeForces& forces, Visit visit);
  void sweep(double scale, const EndFunction& end, const NodeForces& forces, VectorX& gradient);
  Block ownBlock(int element, const Beyond& beyond, const Moments& Z) const;

  RodProperties properties_;
  se3::StepMap map_;
  RodWeight weight_;
  RodStrains kind_;
  VectorX natural_, elasticity_, strains_;
  std::vector<double> shares_;
  std::vector<Pose> frames_;
  std::vector<Screws> screws_; ///< A_i
  bool screwsCurrent_ = false;
};

/// What hessian() is the matrix of.
class StrainRod::SecondVariation {
 public:
  void times(const VectorX& direction, VectorX& product) const;

 private:
  friend class StrainRod;
  explicit SecondVariation(const StrainRod& rod) : rod_(&rod) {}

  const StrainRod* rod_;
  double scale_ = 0;
  std::vector<Moments> Z_; ///< of each element
  std::vector<Block> own_; ///< of each element with itself, without its elasticity
};

}
