#include "tendril/discrete/null_space.h"

#include "tendril/model/error.h"
#include "tendril/solvers/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>

namespace tendril {

namespace {

/// Pivots of the scaled closure below this are zero.
constexpr double zeroPivot = 1e-9;
/// Newton's method stops here; rounding may hold it above, but not above the second.
constexpr double closed = 1e-13, acceptedAsClosed = 1e-11;
constexpr int mostCorrections = 25;

double largest(const VectorX& x) { return x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0; }

}

NullSpace::NullSpace(const DirectorSystem& system, const VectorX& q, double t) : system_(system), tree_(system), G_(system.gradient()) {
  findScales();
  int rank = 0;
  VectorX start = q;
  if (!tree_.closure().empty()) {
    findResidual(start, t);
    rank = independentRows(start, t);
    if (!close(start, t, rank)) {
      const VectorX outside = outsideRange(residual_);
      refuse(largest(outside) > acceptedAsClosed ? outside : residual_, "no configuration near the initial one satisfies them all");
    }
    rank = independentRows(start, t);
    checkVelocities(start, t);
  }
  dimension_ = tree_.dimension() - rank;
  if (!tree_.closure().empty() && dimension_ > 0) {
    update(start, t);
    lookBesideStart(start, t);
  }
  update(q, t);
}

/// The rank along all free directions at once, forth and back: where branches cross it is higher on each of them.
void NullSpace::lookBesideStart(const VectorX& q, double t) {
  constexpr double distance = 1e-3; // angles, and lengths over the size of the model
  const std::vector<int> atStart = redundant_;
  std::vector<int> fewest = redundant_;
  VectorX direction(dimension_), beside;
  for (int i = 0; i < dimension_; ++i) direction[i] = 1 + 0.5 * std::cos(i); // no symmetry of the mechanism
  const VectorX move = distance * coordinateScale_.cwiseProduct(Z_ * direction.normalized());
  for (double sign : {1.0, -1.0}) {
    tree_.retract(q, sign * move, t, t, beside);
    if (!close(beside, t, int(rowScale_.size()))) continue;
    independentRows(beside, t);
    if (redundant_.size() < fewest.size()) fewest = redundant_;
  }
  redundant_ = atStart;
  std::vector<int> gained;
  std::set_difference(atStart.begin(), atStart.end(), fewest.begin(), fewest.end(), std::back_inserter(gained));
  if (fewest.size() < atStart.size()) singular_ = namesOf(gained);
}

std::string NullSpace::namesOf(const std::vector<int>& rows) const {
  std::vector<std::string> names;
  for (int row : rows) {
    const std::string& name = system_.model().constraintName(row);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

void NullSpace::findScales() {
  const Model& model = system_.model();
  const std::vector<int>& closure = tree_.closure();
  const double L = model.characteristicLength();
  rowScale_.setOnes(Eigen::Index(closure.size()));
  coordinateScale_.setOnes(tree_.dimension());
  closureOfRow_.assign(model.nc(), -1);
  for (std::size_t k = 0; k < closure.size(); ++k) {
    closureOfRow_[closure[k]] = int(k);
    if (model.constraintQuantities()[closure[k]] == RowQuantity::Length) rowScale_[Eigen::Index(k)] = 1 / L;
  }
  for (int i = 0; i < tree_.dimension(); ++i)
    if (tree_.isLength(i)) coordinateScale_[i] = L;
}

void NullSpace::findResidual(const VectorX& q, double t) {
  constraint_.resize(system_.constraints());
  system_.constraint(q, t, constraint_);
  residual_.resize(rowScale_.size());
  for (Eigen::Index k = 0; k < residual_.size(); ++k)
    residual_[k] = rowScale_[k] * constraint_[system_.internalConstraints() + tree_.closure()[std::size_t(k)]];
  closureResidual_ = residual_.allFinite() ? largest(residual_) : std::numeric_limits<double>::infinity();
}

/// C_ = (D_r G_c N A D_c)^T, row by row through the sweep from the leaves.
void NullSpace::findClosure(const VectorX& q, double t) {
  system_.constraintGradient(q, t, G_);
  gradients_.setZero(system_.size(), rowScale_.size());
  for (int j = 0; j < G_.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(G_, j); it; ++it) {
      const int k = it.row() < system_.internalConstraints() ? -1 : closureOfRow_[it.row() - system_.internalConstraints()];
      if (k >= 0) gradients_(j, k) = it.value();
    }
  C_.resize(tree_.dimension(), rowScale_.size());
  twist_.resize(system_.model().nv());
  for (Eigen::Index k = 0; k < rowScale_.size(); ++k) {
    gradient_ = gradients_.col(k);
    system_.pullBack(q, gradient_, twist_);
    tree_.reduce(q, t, twist_, reduced_);
    C_.col(k) = rowScale_[k] * coordinateScale_.cwiseProduct(reduced_);
  }
}

/// Rank of the closure at q, whose residual is known. Sets aside the redundant rows.
int NullSpace::independentRows(const VectorX& q, double t) {
  findClosure(q, t);
  MatrixX rows = C_.transpose();
  const double tolerance = rankTolerance();
  for (Eigen::Index k = 0; k < rows.rows(); ++k)
    if (rows.row(k).norm() <= tolerance) rows.row(k).setZero(); // rounding alone; scaled to unit length it would count as a row
  const RankReport report = findDependentRows(rows.sparseView(), tolerance);
  redundant_.clear();
  for (int k : report.dependentRows) redundant_.push_back(tree_.closure()[std::size_t(k)]);
  return report.rank;
}

/// A rank is judged no finer than the closure is closed.
double NullSpace::rankTolerance() const { return std::max(zeroPivot, 10 * closureResidual_); }

int NullSpace::rankOfClosure() const {
  const auto pivots = qr_.matrixQR().diagonal().cwiseAbs();
  int rank = 0;
  while (rank < pivots.size() && pivots[rank] > rankTolerance()) ++rank;
  return rank;
}

/// Newton's method on the manifold of the tree. With the pivoted factors C^T E = Q R the correction of least size that zeroes the leading
/// rows, on which the others depend, is Q (R^-T (E^T g); 0).
bool NullSpace::close(VectorX& q, double t, int rank) {
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < mostCorrections; ++i) {
    findResidual(q, t);
    const bool isStalled = closureResidual_ > before / 2 && closureResidual_ <= acceptedAsClosed;
    if (closureResidual_ <= closed || isStalled || !std::isfinite(closureResidual_)) break;
    before = closureResidual_;
    if (C_.rows() == 0) break; // nothing moves
    findClosure(q, t);
    qr_.compute(C_);
    const int used = std::min(rank, int((qr_.matrixQR().diagonal().array().abs() > zeroPivot).count()));
    correction_.setZero(C_.rows(), 1);
    for (int k = 0; k < used; ++k) correction_(k, 0) = -residual_[qr_.colsPermutation().indices()[k]];
    qr_.matrixQR().topLeftCorner(used, used).triangularView<Eigen::Upper>().transpose().solveInPlace(correction_.col(0).head(used));
    qr_.householderQ().applyThisOnTheLeft(correction_, workspaceOfColumn_);
    move_ = coordinateScale_.cwiseProduct(correction_.col(0));
    tree_.retract(q, move_, t, t, moved_);
    q.swap(moved_);
  }
  findResidual(q, t);
  return closureResidual_ <= acceptedAsClosed;
}

/// Closure rows must be able to follow what drives and moving ground ask of them: C u' = -(dg/dt + G_c N drift).
void NullSpace::checkVelocities(const VectorX& q, double t) {
  VectorX rate(system_.constraints()), drift, qdot(system_.size()), asked(rowScale_.size());
  system_.constraintRate(q, t, rate);
  tree_.drift(q, t, drift);
  system_.rates(q, drift, qdot);
  rate += G_ * qdot;
  for (Eigen::Index k = 0; k < asked.size(); ++k)
    asked[k] = rowScale_[k] * rate[system_.internalConstraints() + tree_.closure()[std::size_t(k)]];
  const VectorX defect = outsideRange(asked);
  if (largest(defect) > 1e-7 * largest(asked)) refuse(defect, "no velocities follow all the motions that they prescribe");
}

VectorX NullSpace::outsideRange(const VectorX& residual) const {
  if (C_.rows() == 0) return residual; // nothing moves
  Eigen::ColPivHouseholderQR<MatrixX> qr(C_.transpose());
  VectorX outside = residual;
  outside.applyOnTheLeft(qr.householderQ().adjoint());
  outside.head((qr.matrixQR().diagonal().array().abs() > rankTolerance()).count()).setZero();
  outside.applyOnTheLeft(qr.householderQ());
  return outside;
}

void NullSpace::refuse(const VectorX& defect, const std::string& what) const {
  std::vector<int> rows;
  for (Eigen::Index k = 0; k < defect.size(); ++k)
    if (std::abs(defect[k]) > 1e-3 * largest(defect)) rows.push_back(tree_.closure()[std::size_t(k)]);
  char size[32];
  std::snprintf(size, sizeof size, "%.3g", largest(defect));
  throw InputError(namesOf(rows) + ": the constraints contradict one another or the joints between their bodies: " + what + " (by " + size +
                   ", lengths over the size of the model); remove one of them, or let them agree");
}

void NullSpace::update(const VectorX& q, double t) {
  const int tree = tree_.dimension();
  if (tree_.closure().empty() || tree == 0) {
    Z_.setIdentity(tree, tree);
    tree_.matrix(q, t, T_);
    return;
  }
  findResidual(q, t);
  findClosure(q, t);
  qr_.compute(C_);
  const int atStart = tree - dimension_, now = rankOfClosure(), kept = std::min(atStart, now);
  jump_.reset();
  if (now != atStart) {
    const auto pivots = qr_.matrixQR().diagonal().cwiseAbs();
    jump_ = {atStart - now, now > 0 ? pivots[now - 1] : 0, now < pivots.size() ? pivots[now] : 0};
  }
  free_.setZero(tree, tree - kept);
  free_.bottomRows(tree - kept).setIdentity();
  qr_.householderQ().applyThisOnTheLeft(free_, workspace_);
  free_.array().colwise() *= coordinateScale_.array();
  orthonormal_.compute(free_);
  free_.setIdentity();
  orthonormal_.householderQ().applyThisOnTheLeft(free_, workspace_);
  turn();
  T_.resize(system_.model().nv(), dimension_);
  for (int i = 0; i < dimension_; ++i) {
    move_ = Z_.col(i);
    tree_.twists(q, t, move_, twist_);
    T_.col(i) = twist_;
  }
}

std::string NullSpace::describeJump() const {
  if (!jump_) return {};
  const int extra = jump_->extra;
  if (extra > 0) return std::to_string(extra) + (extra > 1 ? " more motions are" : " more motion is") + " free to first order";
  return std::to_string(-extra) + (extra < -1 ? " motions are" : " motion is") + " held that the start left free to first order";
}

/// Z: of the free directions those nearest to the last Z, in the sense of least squares over all orthonormal choices. At first nearest to
/// the tree coordinates that set the free directions apart best. Z = F U with the orthonormal polar factor U of F^T Z, by the iteration of
/// Newton and Schulz: singular values of F^T Z are cosines of angles between the old and the new space, at most one.
void NullSpace::turn() {
  if (dimension_ == 0) {
    Z_.resize(free_.rows(), 0);
    return;
  }
  if (Z_.rows() != free_.rows() || Z_.cols() != dimension_) {
    const Eigen::ColPivHouseholderQR<MatrixX> pivots(free_.transpose());
    Z_.setZero(free_.rows(), dimension_);
    for (int i = 0; i < dimension_; ++i) Z_(pivots.colsPermutation().indices()[i], i) = 1;
  }
  turn_.noalias() = free_.transpose() * Z_;
  constexpr double rounding = 1e-15;
  constexpr int mostIterations = 100; // a cosine of 1e-15 takes that many
  for (int i = 0; i < mostIterations; ++i) {
    gram_.noalias() = turn_.transpose() * turn_;
    gram_.diagonal().array() -= 3;
    const double defect = (gram_ + 2 * MatrixX::Identity(dimension_, dimension_)).cwiseAbs().maxCoeff();
    turned_.noalias() = -0.5 * turn_ * gram_;
    turn_.swap(turned_);
    if (!(defect > rounding * dimension_)) break;
  }
  Z_.noalias() = free_ * turn_;
}

std::vector<int> NullSpace::keptConstraints() const {
  std::vector<int> kept;
  for (int row = 0; row < system_.constraints(); ++row) {
    const bool isRedundant = std::find(redundant_.begin(), redundant_.end(), row - system_.internalConstraints()) != redundant_.end();
    if (!isRedundant) kept.push_back(row);
  }
  return kept;
}

void NullSpace::leastForces(const VectorX& effect, VectorX& forces) {
  gram_.noalias() = T_.transpose().lazyProduct(T_);
  gramFactors_.compute(gram_);
  effect_ = effect;
  gramFactors_.solveInPlace(effect_);
  forces.noalias() = T_ * effect_;
}

void NullSpace::matrix(const VectorX& q, MatrixX& P) {
  rate_.resize(system_.size());
  P.resize(system_.size(), dimension_);
  for (int i = 0; i < dimension_; ++i) {
    twist_ = T_.col(i);
    system_.rates(q, twist_, rate_);
    P.col(i) = rate_;
  }
}

bool NullSpace::retract(const VectorX& q0, const VectorX& nu, double t0, double t1, VectorX& q1) {
  if (tree_.closure().empty()) return follow(q0, nu, t0, t1, q1);
  move_.noalias() = Z_ * nu;
  return follow(q0, move_, t0, t1, q1);
}

bool NullSpace::follow(const VectorX& q0, const VectorX& rates, double t0, double t1, VectorX& q1) {
  tree_.retract(q0, rates, t0, t1, q1);
  return tree_.closure().empty() || close(q1, t1, tree_.dimension() - dimension_);
}

}
