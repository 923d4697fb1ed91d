#pragma once
#include "tendril/model/director_frame.h"
#include "tendril/model/model.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// A term c a . b of a constraint, a and b among the columns of two frames: 0 to 3 are x, d1, d2, d3 of the first, 4 to 7 those of the
/// second, 8 is the vector between the origins, x2 - x1. The coefficient may follow the prescribed motion u(t) of a drive:
/// c + cosine cos u + sine sin u.
struct DotProduct {
  int a = 0, b = 0;
  double c = 1, cosine = 0, sine = 0;
};
inline constexpr int originsApart = 8;

/// One scalar constraint, quadratic in the redundant coordinates:
///
///     g = sum_i c_i a_i . b_i + constant - [u(t)]
///
/// All joints of a Model have this form, with rows equal on SE(3) to those of the Model, so that multipliers are the same forces.
struct DirectorRow {
  std::array<DirectorFrame, 2> frames; ///< without blocks: the ground
  std::vector<DotProduct> products;
  double constant = 0;
  TimeFunction motion{};    ///< u; empty: none
  bool isDisplaced = false; ///< u(t) is subtracted as it is
};

/// Two frames whose relative motion is a subgroup of SE(3), or the product of two: H12 <- exp(first s1) H12 exp(second s2) for any s1, s2.
/// Revolute, prismatic, cylindrical, spherical and planar pairs, screws and the fixed pair need `second` alone; a universal joint needs
/// both.
struct LowerPair {
  std::string name;
  std::array<DirectorFrame, 2> frames; ///< each on at most one block
  Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6> first{6, 0}, second{6, 0};
  std::vector<int> rows; ///< constraints of the model that the motion satisfies by itself
  int freedom() const { return int(first.cols() + second.cols()); }
};

/// Where local functions of one or two frames leave their derivatives: with y the columns of both frames one after the other.
using Vector24 = Eigen::Matrix<double, 24, 1>;
using Matrix24 = Eigen::Matrix<double, 24, 24>;
using DirectorFrames = std::array<Matrix34, 2>;

/// Potentials of one kind: V = sum over members of V_i(Y1, Y2, t), frame-indifferent but for gravity, defined for frames that are not
/// orthonormal, as those halfway between two configurations are.
class DirectorPotential {
 public:
  virtual ~DirectorPotential() = default;
  virtual int size() const = 0;
  virtual const std::array<DirectorFrame, 2>& frames(int member) const = 0;
  /// Returns V_i; fills dV/dy and d2V/dy2 where they are wanted. NaN where it does not exist.
  virtual double evaluate(int member, const DirectorFrames& Y, double t, Vector24* gradient, Matrix24* hessian) const = 0;
  /// The discrete derivative D V with D V . (y1 - y0) = V(Y1) - V(Y0), invariant under rigid motions as V is (Gonzalez 1996, in the dot
  /// products of the columns), and its derivative with respect to y1. `length` makes positions comparable with directors.
  virtual void discreteGradient(int member, const DirectorFrames& Y0, const DirectorFrames& Y1, double t, double length, Vector24& gradient,
                                Matrix24* byEnd) const;
};

/// Forces of one kind without a potential: power = sum over members of F_i(Y1, Y2, Y1', Y2', t) . y'. A moment m on a frame is
/// F_I = m x d_I / 2 on its directors, so that sum_I d_I x F_I = m where they are orthonormal.
class DirectorForce {
 public:
  virtual ~DirectorForce() = default;
  virtual int size() const = 0;
  virtual const std::array<DirectorFrame, 2>& frames(int member) const = 0;
  /// Fills F_i; dF/dy and dF/dy' where they are wanted.
  virtual void evaluate(int member, const DirectorFrames& Y, const DirectorFrames& rate, double t, Vector24& force, Matrix24* stiffness,
                        Matrix24* damping) const = 0;
};

/// Second moments of mass S = int rho (1, X) (1, X)^T dV of a part with the inertia M = [m I, -m S(c); m S(c), J] of twists of its frame.
Matrix4 pseudoInertia(const Matrix6& spatialInertia);

/// A model in redundant director coordinates: q in R^n, the numbers that a State stores, moves as a point of a linear space,
///
///     L = q'^T M q' / 2 - V(q, t),      g(q, t) = 0  in R^m,      forces f(q, q', t),
///
/// with a constant mass matrix. Gravity follows from it: V = -factor(t) q^T M (g, 0, 0, 0). Constraints are the six internal ones of every
/// pose block,
///
///     (d1.d1 - 1)/2, (d2.d2 - 1)/2, (d3.d3 - 1)/2, d1.d2, d2.d3, d3.d1,      (model.6)
///
/// block after block, then those of the model in its own order. Forces of constraints are -G^T lambda: the multipliers of a State have
/// the opposite sign. Source: Leyendecker 2011, chapters 3 and 5; Betsch & Steinmann 2001.
///
/// Velocities are the twists of the blocks in their local frames, as in a State: q' = N(q) v, with N = [R 0; 0 -R S(e_I)] of a pose block
/// (12 x 6), which is a null space matrix of the internal constraints (model.7).
class DirectorSystem {
 public:
  /// Asks every term of the model for its share. InputError names what has no form in director coordinates.
  explicit DirectorSystem(const Model& model);

  const Model& model() const { return model_; }
  int size() const { return model_.nq(); }                    ///< n
  int internalConstraints() const { return internal_; }       ///< 6 for a pose block
  int constraints() const { return internal_ + model_.nc(); } ///< m, redundant ones counted
  const std::vector<LowerPair>& pairs() const { return pairs_; }
  const DirectorRow& row(int modelRow) const { return rows_[modelRow]; }

  // ---- what terms add ----------------------------------------------------------------------------------------------------------------
  /// T += tr(Qa' S Qb'^T) / 2, with S the second moments of mass int rho (1, X) (1, X)^T dV; a pair a != b counts for both orders.
  void addMass(int blockA, int blockB, const Matrix4& pseudoInertia);
  /// T += tr(Y' S Y'^T) / 2 of a frame, which may lie between nodes.
  void addMass(const DirectorFrame& frame, const Matrix4& pseudoInertia);
  /// The constraint of that number within the model's g.
  void addRow(int modelRow, DirectorRow row) { rows_[modelRow] = std::move(row); }
  void addPair(LowerPair pair) { pairs_.push_back(std::move(pair)); }
  void add(std::unique_ptr<DirectorPotential> potential) { potentials_.push_back(std::move(potential)); }
  void add(std::unique_ptr<DirectorForce> force) { forces_.push_back(std::move(force)); }

  // ---- evaluation; nothing allocates -------------------------------------------------------------------------------------------------
  const SparseMatrix& mass() const { return mass_; }
  /// K += scale M; K has the pattern of matrix().
  void addMassMatrix(double scale, SparseMatrix& K) const;
  /// Elastic and gravitational energy.
  double potential(const VectorX& q, double t) const;
  /// gradient += scale dV/dq.
  void addPotentialGradient(const VectorX& q, double t, double scale, VectorX& gradient) const;
  /// K += scale d2V/dq2; K has the pattern of matrix().
  void addPotentialHessian(const VectorX& q, double t, double scale, SparseMatrix& K) const;
  /// gradient += scale D V(q0, q1), the discrete derivative of energy-momentum schemes; K += scale d(D V)/dq1 where wanted.
  void addDiscreteGradient(const VectorX& q0, const VectorX& q1, double t0, double t1, double scale, VectorX& gradient,
                           SparseMatrix* K = nullptr) const;
  /// force += scale f; and, where wanted, stiffness += scale df/dq, damping += scale df/dq', with the pattern of matrix().
  void addForces(const VectorX& q, const VectorX& qdot, double t, double scale, VectorX& force, SparseMatrix* stiffness = nullptr,
                 SparseMatrix* damping = nullptr) const;
  bool hasForces() const { return !forces_.empty(); }
  void constraint(const VectorX& q, double t, VectorX& g) const;
  /// The row whose prescribed turning q at t does not follow from t0 on, or may not; -1 if all are followed. A drive, sin(phi - u) = 0,
  /// holds half a turn away, too, where dg/du is positive, and after whole turns of u; directors held to moving ground that turns by 90
  /// degrees or more may hold reversed.
  int lostDrive(const VectorX& q, double t0, double t) const;
  /// dg/dt at fixed q.
  void constraintRate(const VectorX& q, double t, VectorX& rate) const;
  /// G (m x n), with the pattern of gradient().
  void constraintGradient(const VectorX& q, double t, SparseMatrix& G) const;
  /// K += scale d(G^T lambda)/dq, which does not depend on q.
  void addConstraintHessian(const VectorX& lambda, double t, double scale, SparseMatrix& K) const;
  /// qdot = N(q) v, and v = N(q)^T p for a force or momentum p.
  void rates(const VectorX& q, const VectorX& v, VectorX& qdot) const;
  void pullBack(const VectorX& q, const VectorX& p, VectorX& reduced) const;
  /// N(q) (n x nv), sparse, with the pattern of internalNullSpace().
  void internalNullSpace(const VectorX& q, SparseMatrix& N) const;

  /// Symmetric matrix over all coordinates that couple, values zero; contains the pattern of mass(). Likewise G and N.
  SparseMatrix matrix() const { return pattern_.matrix(); }
  SparseMatrix gradient() const { return gradient_; }
  SparseMatrix internalNullSpace() const { return nullSpace_; }

  /// Linear momentum and angular momentum about the origin of momenta p conjugate to q: sum p_x, sum x x p_x + d_I x p_I.
  Momentum momentum(const VectorX& q, const VectorX& p) const;
  /// "director d2 of body 'crank'": what messages call a coordinate; and a constraint.
  std::string nameOfCoordinate(int i) const;
  std::string nameOfConstraint(int row) const;

 private:
  /// A function of one or two frames, as it lies in the system: the blocks that the frames sit on, with the couplings between them.
  struct Site {
    int count = 0;
    std::array<int, 4> blocks{}, q{}, frame{};
    std::array<Matrix12, 4> toFrame; ///< dy = toFrame dq of the block
    std::array<int, 16> couplings{};
  };
  struct MassEntry {
    int a, b;
    Matrix4 inertia;
  };
  Site makeSite(const std::array<DirectorFrame, 2>& frames);
  static DirectorFrames framesAt(const std::array<DirectorFrame, 2>& frames, const VectorX& q, double t);
  void addGradient(const Site& site, const Vector24& gradient, double scale, VectorX& result) const;
  void addHessian(const Site& site, const Matrix24& hessian, double scale, SparseMatrix& K) const;
  void layOut();
  void layOutGradient();

  const Model& model_;
  int internal_ = 0;
  std::vector<int> internalRow_; ///< per block: first of its six rows; -1 of a vector block
  Pattern pattern_;
  SparseMatrix mass_, gradient_, nullSpace_;
  VectorX weight_; ///< M (g, 0, 0, 0)
  std::vector<LowerPair> pairs_;
  std::vector<DirectorRow> rows_;
  std::vector<MassEntry> masses_;
  std::vector<std::unique_ptr<DirectorPotential>> potentials_;
  std::vector<std::unique_ptr<DirectorForce>> forces_;
  std::vector<std::vector<Site>> potentialSites_, forceSites_;
  std::vector<Site> rowSites_;
  std::vector<std::array<int, 48>> rowPlaces_; ///< of the entries of a row among the values of G: site block k, coordinate c at 12 k + c
  std::vector<std::array<int, 36>> internalPlaces_; ///< per pose block: of both directors of its six rows
  std::vector<int> diagonal_;                       ///< couplings (b, b)
};

}
