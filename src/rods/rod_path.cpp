#include "tendril/rods/rod_path.h"

#include "rods/rod_program.h"
#include "tendril/model/error.h"
#include "tendril/solvers/staged_ldlt.h"

#include <Eigen/LU>
#include <Eigen/QR>

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <utility>

namespace tendril {

/// G and its derivatives in scaled unknowns: the strains L u over the root of their number, multipliers over those of the first buckling,
/// the parameter over its interval; rows of G likewise, so that the matrix stays symmetric.
class RodPath::Equations {
 public:
  Equations(RodFamily family, const RodPathOptions& options) : family_(std::move(family)), options_(options) {
    at(options.from);
    n_ = rod_->size(), m_ = program_->structure().equalities();
    const Vector3& K = rod_->properties().stiffness;
    const double buckling = 4 * std::numbers::pi * std::numbers::pi * K.minCoeff() / K.maxCoeff();
    scale_.resize(n_ + m_ + 1);
    scale_.head(n_).setConstant(std::sqrt(options.elements));
    scale_.segment(n_, m_).setConstant(buckling);
    scale_[n_ + m_] = std::abs(options.to - options.from);
    G_.resize(n_ + m_), more_.resize(n_ + m_), less_.resize(n_ + m_);
    A_.resize(n_ + m_, n_ + m_), b_.resize(n_ + m_);
    values_.equality.resize(m_);
    inertiaMatrix_ = StagedMatrix({n_ + m_}, 0);
  }

  int size() const { return n_ + m_ + 1; }
  double parameter(const VectorX& y) const { return y[n_ + m_] * scale_[n_ + m_]; }
  double scaledParameter(double p) const { return p / scale_[n_ + m_]; }
  VectorX parameterAxis() const { return VectorX::Unit(size(), n_ + m_); }
  const StrainRod& rod() const { return *rod_; }
  RodSupport support(const VectorX& y) const { return program_->support(multipliers(y)); }
  VectorX strains(const VectorX& y) const { return scaled(y) / rod_->properties().length; }
  /// dp of c: how the supports move along with the parameter, against which a force does work.
  double workOfSupports(const VectorX& direction) const { return direction.segment(n_, m_).dot(b_.tail(m_)); }

  /// The point with these strains at a parameter, multipliers by least squares.
  VectorX place(const VectorX& strains, double p) {
    at(p);
    VectorX y = VectorX::Zero(size());
    y.head(n_) = rod_->properties().length * strains.cwiseQuotient(scale_.head(n_));
    y[n_ + m_] = scaledParameter(p);
    residual(y, G_);
    if (m_ > 0) {
      const MatrixX Jt = MatrixX(program_->jacobian().transpose());
      const VectorX gradient = G_.head(n_).cwiseQuotient(scale_.head(n_));
      const VectorX mu = Eigen::CompleteOrthogonalDecomposition<MatrixX>(Jt).solve(-gradient);
      y.segment(n_, m_) = mu.cwiseQuotient(scale_.segment(n_, m_));
    }
    return y;
  }

  /// Moves to y and evaluates; the rod stands there afterwards.
  double evaluate(const VectorX& y) {
    residual(y, G_);
    return G_.lpNorm<Eigen::Infinity>();
  }
  const VectorX& value() const { return G_; }

  /// [G'; border^T], after evaluate().
  void matrix(const VectorX& y, const VectorX& border, MatrixX& B) {
    // The families are linear in the parameter but for rotations, where differences of this size leave about 1e-9 of Newton's matrix.
    constexpr double step = 1e-4;
    const int last = n_ + m_;
    VectorX moved = y;
    moved[last] = y[last] + step;
    residual(moved, more_);
    moved[last] = y[last] - step;
    residual(moved, less_);
    b_ = (more_ - less_) / (2 * step);
    residual(y, G_);
    symmetric(y);
    B.resize(last + 1, last + 1);
    B.topLeftCorner(last, last) = A_;
    B.topRightCorner(last, 1) = b_;
    B.row(last) = border.transpose();
  }

  /// Negative directions of H on the kernel of J; of the matrix last made.
  int unstable() {
    for (int j = 0; j < n_ + m_; ++j)
      for (int i = j; i < n_ + m_; ++i) inertiaMatrix_.values()[inertiaMatrix_.position(i, j)] = A_(i, j);
    ldlt_.factorise(inertiaMatrix_);
    const Eigen::Index rank = m_ > 0 ? MatrixX(A_.topRightCorner(n_, m_)).colPivHouseholderQr().rank() : 0;
    return ldlt_.inertia().negative - int(rank);
  }

 private:
  void at(double p) {
    if (program_ && p == p_) return;
    program_.reset();
    rod_ = std::make_unique<StrainRod>(family_.rod(p), options_.elements, options_.map, options_.weight);
    program_ = std::make_unique<StrainProgram>(*rod_, family_.ends(p));
    p_ = p;
  }

  VectorX scaled(const VectorX& y) const { return y.head(n_).cwiseProduct(scale_.head(n_)); }
  VectorX multipliers(const VectorX& y) const { return y.segment(n_, m_).cwiseProduct(scale_.segment(n_, m_)); }

  void residual(const VectorX& y, VectorX& G) {
    at(parameter(y));
    program_->x = scaled(y);
    if (!program_->evaluate(values_)) {
      G.setConstant(std::numeric_limits<double>::infinity());
      return;
    }
    rod_->place(family_.ends(p_).begin, strains(y));
    gradient_.setZero(n_);
    program_->rod().addEnergyGradient(1, gradient_);
    if (m_ > 0) gradient_ += program_->jacobian().transpose() * multipliers(y);
    G.head(n_) = gradient_.cwiseProduct(scale_.head(n_));
    G.tail(m_) = values_.equality.cwiseProduct(scale_.segment(n_, m_));
  }

  void symmetric(const VectorX& y) {
    A_.topLeftCorner(n_, n_) = program_->hessian(1, multipliers(y));
    A_.bottomLeftCorner(m_, n_) = program_->jacobian();
    A_.topRightCorner(n_, m_) = program_->jacobian().transpose();
    A_.bottomRightCorner(m_, m_).setZero();
    A_ = scale_.head(n_ + m_).asDiagonal() * A_ * scale_.head(n_ + m_).asDiagonal();
  }

  RodFamily family_;
  RodPathOptions options_;
  std::unique_ptr<StrainRod> rod_;
  std::unique_ptr<StrainProgram> program_;
  double p_ = 0;
  int n_ = 0, m_ = 0;
  VectorX scale_, G_, more_, less_, b_, gradient_;
  MatrixX A_;
  ProgramValues values_;
  StagedMatrix inertiaMatrix_;
  StagedLdlt ldlt_;
};

namespace {

double signOfDeterminant(const Eigen::PartialPivLU<MatrixX>& lu) {
  double sign = double(lu.permutationP().determinant());
  for (Eigen::Index i = 0; i < lu.rows(); ++i) sign *= lu.matrixLU()(i, i) < 0 ? -1 : 1;
  return sign;
}

/// Right and left singular vectors of the least singular value, by inverse iteration: borders that leave a matrix regular where it has
/// none.
std::pair<VectorX, VectorX> leastSingular(const MatrixX& B) {
  const Eigen::PartialPivLU<MatrixX> lu(B), transposed(B.transpose());
  VectorX right = VectorX::NullaryExpr(B.rows(), [](Eigen::Index i) { return std::sin(double(i + 1)); }), left;
  for (int i = 0; i < 4; ++i) {
    left = transposed.solve(right).normalized();
    right = lu.solve(left).normalized();
  }
  return {right, left};
}

void check(const RodFamily& family, const RodPathOptions& options) {
  if (!family.rod || !family.ends) throw InputError("rod: a path needs a rod and its supports for every parameter");
  if (options.elements > 400)
    throw InputError(fmt::format("rod: {} elements are more than the 400 whose path is followed; take fewer", options.elements));
  if (!(options.from != options.to) || !std::isfinite(options.from) || !std::isfinite(options.to))
    throw InputError("rod: a path needs an interval of the parameter, from one number to another");
  if (!(options.step > 0 && options.largestStep >= options.step)) throw InputError("rod: steps along a path must be positive");
  if (options.branchPoints < 0 || options.maxPoints < 1) throw InputError("rod: a path needs a number of points");
}

}

RodPath::RodPath(RodFamily family, RodPathOptions options) : options_(std::move(options)) {
  check(family, options_);
  equations_ = std::make_unique<Equations>(family, options_);
  StrainRod rod(family.rod(options_.from), options_.elements, options_.map, options_.weight);
  if (options_.start.size() > 0 && options_.start.size() != rod.size())
    throw InputError("rod: the first guess needs three strains an element");
  const RodEnds ends = family.ends(options_.from);
  rod.place(ends.begin, options_.start.size() > 0 ? options_.start : rod.natural());
  place_.y = equations_->place(rod.strains(), options_.from);
  if (equations_->evaluate(place_.y) > 1e-9) {
    const RodEquilibrium found = solveEquilibrium(rod, ends);
    if (!found.isSolved) throw NumericalFailure("rod: no equilibrium was found at the begin of the path: " + found.message);
    place_.y = equations_->place(rod.strains(), options_.from);
  }
}

RodPath::~RodPath() = default;
RodPath::RodPath(RodPath&&) noexcept = default;

const StrainRod& RodPath::rod() const { return equations_->rod(); }

bool RodPath::finished() const { return hasBegun_ && isAtEnd_ && pending_.empty(); }

const RodPathPoint& RodPath::advance() {
  point_.note.clear();
  point_.isFold = false, point_.branchPoint = -1;
  iterations_ = 0;
  if (!hasBegun_)
    begin();
  else if (isAtEnd_)
    beginBranch();
  else
    step();
  report();
  return point_;
}

/// The first tangent leads towards the end of the interval or, where the parameter stands still, against the supports.
void RodPath::begin() {
  hasBegun_ = true;
  const VectorX axis = equations_->parameterAxis();
  MatrixX B;
  if (!correct(place_.y, axis, VectorX(place_.y))) {
    // A straight rod has any force: it stands already.
    if (equations_->evaluate(place_.y) > 1e-9)
      throw NumericalFailure(fmt::format("rod: the begin of the path is no equilibrium, its residual is {:.2e}", residual_));
  }
  equations_->matrix(place_.y, axis, B);
  const Eigen::FullPivLU<MatrixX> lu(B.topRows(B.rows() - 1));
  const MatrixX kernel = lu.kernel();
  VectorX tangent = kernel.col(0).normalized();
  if (kernel.cols() > 1 || kernel.col(0).isZero())
    throw NumericalFailure(
        fmt::format("rod: the path begins where {} paths meet; begin elsewhere, or let its stiffnesses differ", kernel.cols()));
  const double along = tangent.dot(axis), work = equations_->workOfSupports(tangent);
  const bool isForward = std::abs(along) > 1e-8 ? along * (options_.to - options_.from) > 0 : work * (options_.to - options_.from) > 0;
  if (!isForward) tangent = -tangent;
  complete(place_, tangent);
  ds_ = options_.step;
}

void RodPath::beginBranch() {
  const Start start = std::move(pending_.front());
  pending_.pop_front();
  isAtEnd_ = false, points_ = 0;
  ds_ = options_.step;
  Place next;
  for (int halvings = 0;; ++halvings) {
    const VectorX at = start.y + ds_ * start.direction;
    next.y = at;
    if (correct(next.y, start.direction, at)) break;
    ds_ /= 2;
    if (halvings > 10)
      throw NumericalFailure(fmt::format("rod: branch {} was not found, though it begins at {:.6g}; the residual is {:.2e}", start.branch,
                                         equations_->parameter(start.y), residual_));
  }
  complete(next, start.direction);
  place_ = std::move(next);
  point_.branch = start.branch;
  ++points_;
}

void RodPath::step() {
  Place next;
  constexpr double least = 1e-6;
  while (!tryStep(ds_, next)) {
    ds_ /= 2;
    if (ds_ < least)
      throw NumericalFailure(fmt::format("rod: the path was lost at a parameter of {:.6g} on branch {}, with a residual of {:.2e}",
                                         equations_->parameter(place_.y), point_.branch, residual_));
  }
  if (iterations_ <= 3) ds_ = std::min(1.5 * ds_, options_.largestStep);
  const double along = place_.tangent.dot(equations_->parameterAxis()), further = next.tangent.dot(equations_->parameterAxis());
  point_.isFold = along * further < 0 && std::abs(along - further) > 1e-6;
  if (next.sign * place_.sign < 0)
    passBranchPoint(place_, next);
  else if (std::abs(next.unstable - place_.unstable) > 1)
    point_.note = fmt::format("{} directions lost or won their stability at once: no simple branch point; let the stiffnesses differ",
                              std::abs(next.unstable - place_.unstable));
  double bound = 0;
  ++points_;
  if (leaves(next, bound))
    endAt(next, bound);
  else
    place_ = std::move(next);
  const bool isMain = point_.branch == 0;
  if (points_ >= options_.maxPoints || (isMain && options_.branchPoints > 0 && int(branchPoints_.size()) >= options_.branchPoints))
    isAtEnd_ = true;
}

/// Refused where the path bends so much that the next point may lie on another one.
bool RodPath::tryStep(double ds, Place& next) {
  const VectorX at = place_.y + ds * place_.tangent;
  next.y = at;
  iterations_ = 0;
  if (!correct(next.y, place_.tangent, at)) return false;
  if ((next.y - at).norm() > 0.3 * ds) return false;
  complete(next, place_.tangent);
  return next.tangent.dot(place_.tangent) > 0.9;
}

bool RodPath::correct(VectorX& y, const VectorX& border, const VectorX& at) {
  constexpr int most = 8;
  constexpr double met = 1e-11;
  MatrixX B;
  VectorX rhs(equations_->size());
  residual_ = equations_->evaluate(y);
  for (int i = 0; i < most && std::isfinite(residual_); ++i) {
    if (residual_ < met && std::abs(border.dot(y - at)) < met) return true;
    equations_->matrix(y, border, B);
    rhs << -equations_->value(), -border.dot(y - at);
    const VectorX step = B.partialPivLu().solve(rhs);
    ++iterations_;
    if (!step.allFinite() || step.norm() > 1e3) return false;
    y += step;
    residual_ = equations_->evaluate(y);
  }
  return residual_ < 100 * met;
}

void RodPath::complete(Place& place, const VectorX& border) {
  MatrixX B;
  equations_->evaluate(place.y);
  equations_->matrix(place.y, border, B);
  const Eigen::PartialPivLU<MatrixX> lu(B);
  place.tangent = lu.solve(VectorX::Unit(equations_->size(), equations_->size() - 1)).normalized();
  if (place.tangent.dot(border) < 0) place.tangent = -place.tangent;
  place.sign = signOfDeterminant(lu);
  place.unstable = equations_->unstable();
}

/// Between two points by the last unknown of [G' q; t^T q; p^T 0] (v, tau) = (0, 1), in the plane t . (y - y0) = sigma: false position in
/// the form of Illinois to a fraction of the step, and the rest by interpolation, since Newton's matrix is singular at the point itself.
void RodPath::passBranchPoint(const Place& from, const Place& to) {
  const Eigen::Index size = equations_->size();
  MatrixX B, bordered(size + 1, size + 1);
  // First by the sign of the determinant: from far away, the borders below would be those of another branch point, and its symmetry hide
  // this one.
  constexpr int halvings = 8;
  VectorX before = from.y, after = to.y;
  double begin = 0, end = from.tangent.dot(to.y - from.y);
  for (int i = 0; i < halvings; ++i) {
    const double sigma = 0.5 * (begin + end);
    VectorX y = 0.5 * (before + after);
    if (!correct(y, from.tangent, from.y + sigma * from.tangent)) break;
    equations_->matrix(y, from.tangent, B);
    const bool isBefore = signOfDeterminant(Eigen::PartialPivLU<MatrixX>(B)) == from.sign;
    (isBefore ? before : after) = std::move(y);
    (isBefore ? begin : end) = sigma;
  }
  equations_->evaluate(after);
  equations_->matrix(after, from.tangent, B);
  const auto [p, q] = leastSingular(B);
  struct Try {
    double sigma;
    VectorX y, v;
    double tau;
  };
  const auto test = [&, &p = p, &q = q](double sigma, VectorX y) {
    if (sigma > 0) correct(y, from.tangent, from.y + sigma * from.tangent);
    equations_->evaluate(y);
    equations_->matrix(y, from.tangent, B);
    bordered.topLeftCorner(size, size) = B;
    bordered.topRightCorner(size, 1) = q;
    bordered.bottomLeftCorner(1, size) = p.transpose();
    bordered(size, size) = 0;
    const VectorX solution = bordered.partialPivLu().solve(VectorX::Unit(size + 1, size));
    return Try{sigma, std::move(y), solution.head(size), solution[size]};
  };
  Try low = test(begin, before), high = test(end, after);
  if (low.tau * high.tau > 0) return; // a pole of the test function, not a branch
  const double length = high.sigma - low.sigma;
  int side = 0;
  double weightLow = low.tau, weightHigh = high.tau;
  for (int i = 0; i < 60 && high.sigma - low.sigma > 1e-2 * length; ++i) {
    double share = weightLow / (weightLow - weightHigh);
    if (!(share > 0.01 && share < 0.99) || i % 4 == 3) share = 0.5;
    const double sigma = low.sigma + share * (high.sigma - low.sigma);
    Try middle = test(sigma, low.y + share * (high.y - low.y));
    const bool isLow = middle.tau * low.tau > 0;
    (isLow ? low : high) = std::move(middle);
    if (isLow) {
      weightLow = low.tau;
      if (side == 1) weightHigh /= 2;
      side = 1;
    } else {
      weightHigh = high.tau;
      if (side == -1) weightLow /= 2;
      side = -1;
    }
  }
  const double share = low.tau / (low.tau - high.tau);
  const VectorX y = low.y + share * (high.y - low.y);
  VectorX direction = low.v + share * (high.v - low.v);
  direction -= from.tangent.dot(direction) * from.tangent;
  direction.normalize();
  equations_->evaluate(y);
  RodBranchPoint found{equations_->parameter(y), equations_->support(y), equations_->strains(y), equations_->strains(direction)};
  found.direction.normalize();
  point_.branchPoint = int(branchPoints_.size());
  if (point_.branch != 0) {
    point_.note = fmt::format("another branch meets this one at a parameter of {:.6g}; it is not followed", found.parameter);
    point_.branchPoint = -1;
    return;
  }
  branchPoints_.push_back(std::move(found));
  const int number = int(branchPoints_.size());
  if (!options_.follows) return;
  pending_.push_back({y, direction, 2 * number - 1});
  pending_.push_back({y, -direction, 2 * number});
}

bool RodPath::leaves(const Place& next, double& bound) const {
  const double low = std::min(options_.from, options_.to), high = std::max(options_.from, options_.to), margin = 1e-9 * (high - low);
  const double p = equations_->parameter(next.y);
  bound = p < low ? low : high;
  return p < low - margin || p > high + margin;
}

/// Comes to stand at the bound itself.
void RodPath::endAt(const Place& next, double bound) {
  const VectorX axis = equations_->parameterAxis();
  const double before = equations_->parameter(place_.y), after = equations_->parameter(next.y);
  VectorX at = place_.y + (bound - before) / (after - before) * (next.y - place_.y);
  at[at.size() - 1] = equations_->scaledParameter(bound);
  Place last;
  last.y = at;
  if (correct(last.y, axis, at)) {
    complete(last, next.tangent);
    place_ = std::move(last);
  } else {
    point_.note = "the end of the interval lies at a fold, where the path was left";
  }
  isAtEnd_ = true;
}

void RodPath::report() {
  residual_ = equations_->evaluate(place_.y);
  point_.parameter = equations_->parameter(place_.y);
  point_.end = equations_->support(place_.y);
  point_.energy = equations_->rod().energy();
  point_.unstable = place_.unstable;
  point_.isEnd = isAtEnd_;
  point_.iterations = iterations_;
  point_.residual = residual_;
}

}
