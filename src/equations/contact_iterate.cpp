#include "equations/contact_iterate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tendril {

namespace {
/// Constraints whose compliance is looked at.
constexpr int samples = 8;
/// Error of friction forces over the largest normal force.
constexpr double forceTolerance = 1e-9;
/// Compliance below this share of that of the diagonal is rounding.
constexpr double leastCompliance = 1e-6;
/// Compliance of held normals, relative: redundant ones share.
constexpr double proximal = 1e-10;
constexpr double eps = std::numeric_limits<double>::epsilon();

double median(std::vector<double>& values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Values of some of the constraints, evenly chosen.
template <class Value> std::vector<double> sampled(const std::vector<int>& constraints, Value value) {
  std::vector<double> values;
  const std::size_t taken = std::min<std::size_t>(samples, constraints.size());
  for (std::size_t k = 0; k < taken; ++k) values.push_back(value(constraints[(2 * k + 1) * constraints.size() / (2 * taken)]));
  return values;
}

bool similar(double a, double b) { return a <= 2 * b && b <= 2 * a; }
}

void ContactIterate::begin(ContactProblem& problem, double weight, Eigen::Matrix3Xd& F) {
  problem_ = &problem;
  weight_ = weight;
  F_ = &F;
  isFirst_ = true;
  const auto constraints = problem.constraints();
  const int present = int(std::count_if(constraints.begin(), constraints.end(), [](const ContactConstraint& c) { return c.isPresent; }));
  int closed = 0;
  for (int j = 0; j < int(std::min<Eigen::Index>(F.cols(), Eigen::Index(constraints.size()))); ++j) closed += isClosedAtStart(j);
  const bool isLike = similar(present, weighed_) && similar(closed, weighedClosed_);
  if (!isLike || !similar(kkt().assembly().multiplierScale, weighedScale_)) weighed_ = 0;
}

bool ContactIterate::evaluate() {
  if (!problem_->evaluate()) return false;
  const int count = int(problem_->constraints().size()), known = int(F_->cols());
  F_->conservativeResize(3, count);
  if (count > known) F_->rightCols(count - known).setZero();
  laws_.resize(std::size_t(count));
  for (int j = 0; j < count; ++j) {
    if (!isPresent(j)) F_->col(j).setZero();
  }
  if (weighed_ == 0) weigh();
  const double tolerance = problem_->gapTolerance();
  for (int j = 0; j < count; ++j) {
    Vector3 g = gap(j);
    // What touches at the start but for rounding begins closed: it may be all that holds a body.
    if (isFirst_ && std::abs(g[0]) <= tolerance) g[0] = 0;
    laws_[j] = isPresent(j) ? ContactLawEquations::at(g, F_->col(j), friction(j), weights()) : ContactLawEquations{};
    if (F_->col(j).isZero(0)) continue;
    for (const GradientEntry& entry : problem_->gradient(problem_->constraints()[j])) {
      kkt().assembly().addForce(entry.block, Vector6(-entry.B.transpose() * F_->col(j)));
    }
  }
  isFirst_ = false;
  measure();
  return true;
}

void ContactIterate::apply(const ContactIncrement& increment) {
  const double factor = std::min(increment.longest, problem_->longestFactor(increment.delta));
  problem_->applyStep(increment.delta, increment.deltaLambda, factor);
  *F_ += factor * increment.F;
}

// ---- what a step is made of ------------------------------------------------------------------------------------------------------------

Vector3 ContactIterate::gap(int j) const {
  const ContactConstraint& c = problem_->constraints()[j];
  return {c.gap, c.slip[0], c.slip[1]};
}

void ContactIterate::hold(const std::vector<ContactLawEquations>& earlier) {
  for (std::size_t j = 0; j < std::min(laws_.size(), earlier.size()); ++j) {
    if (isPresent(int(j))) laws_[j] = ContactLawEquations::held(earlier[j], gap(int(j)), F_->col(int(j)), friction(int(j)), weights());
  }
}

Vector3 ContactIterate::motion(int j, const Eigen::Ref<const VectorX>& delta) const {
  Vector3 sum = Vector3::Zero();
  for (const GradientEntry& entry : problem_->gradient(problem_->constraints()[j])) {
    sum += entry.B * delta.segment<6>(offset(entry.block));
  }
  return sum;
}

void ContactIterate::addForce(int j, const Vector3& f, Eigen::Ref<VectorX> rhs) const {
  for (const GradientEntry& entry : problem_->gradient(problem_->constraints()[j])) {
    const int v = offset(entry.block);
    rhs.segment<6>(v) += kkt().unit().segment<6>(v).cwiseProduct(entry.B.transpose() * f);
  }
}

const std::vector<StiffnessBlock>& ContactIterate::stiffness() {
  stiffness_.clear();
  problem_->stiffness(*F_, stiffness_);
  return stiffness_;
}

Matrix6 ContactIterate::scaled(const StiffnessBlock& block) const {
  const VectorX& unit = kkt().unit();
  return unit.segment<6>(offset(block.row)).asDiagonal() * block.K * unit.segment<6>(offset(block.column)).asDiagonal();
}

void ContactIterate::setIncrement(Eigen::Ref<VectorX> solution, ContactIncrement& increment) const {
  const Model& model = kkt().model();
  solution.array() *= kkt().unit().array();
  increment.delta = solution.head(model.nv());
  increment.deltaLambda = kkt().assembly().multiplierScale * solution.tail(model.nc());
}

bool ContactIterate::isClosedAtStart(int j) const {
  return isPresent(j) && ((*F_)(0, j) > 0 || std::abs(gap(j)[0]) <= problem_->gapTolerance());
}

void ContactIterate::weigh() {
  std::vector<int> present, open;
  for (int j = 0; j < count(); ++j) {
    if (!isPresent(j)) continue;
    present.push_back(j);
    if (!isClosedAtStart(j)) open.push_back(j);
  }
  weighed_ = int(present.size());
  weighedClosed_ = weighed_ - int(open.size());
  if (present.empty()) return;
  weighedScale_ = kkt().assembly().multiplierScale;

  // What floats until contact holds it has no compliance of its own; that of its diagonal tells the size.
  isHeld_ = kkt().factorise();
  const bool isPressed = weighedClosed_ > 0 && holdNormals();
  const auto free = [&](int j) { return isHeld_ ? compliance(j) : diagonalCompliance(j); };
  // Where held normals leave no way at all, as at the fourth corner of a brick, they tell nothing of the size either.
  const auto pressed = [&](int j) -> Vector3 {
    if (!isPressed) return free(j);
    const Vector3 size = diagonalCompliance(j), D = heldCompliance(j);
    return (D.array() > leastCompliance * size.array()).select(D, size);
  };
  const auto alongSurface = [](const Vector3& D) { return 2 / (1 / D[1] + 1 / D[2]); }; // the stiffer direction counts
  const auto medianOf = [](std::vector<double> values, double otherwise) {
    const double middle = median(values);
    return middle > 0 && std::isfinite(middle) ? middle : otherwise;
  };
  const double normal = medianOf(sampled(present, [&](int j) { return free(j)[0]; }), 1 / weighedScale_);
  const double tangent = medianOf(sampled(present, [&](int j) { return alongSurface(pressed(j)); }), normal);
  rho_ = {1 / normal, 1 / tangent};
  // Normals that are held yield no more.
  const double last = open.empty() ? medianOf(sampled(present, [&](int j) { return diagonalCompliance(j)[0]; }), normal)
                                   : medianOf(sampled(open, [&](int j) { return pressed(j)[0]; }), normal);
  compliance_ = {isPressed ? last : normal, tangent, tangent};
}

bool ContactIterate::holdNormals() {
  const Model& model = kkt().model();
  const VectorX& unit = kkt().unit();
  const double s = kkt().assembly().multiplierScale;
  int size = model.nv() + model.nc();
  held_.begin();
  const auto visit = [&](auto&& piece) {
    int row = model.nv() + model.nc();
    for (int j = 0; j < count(); ++j) {
      if (!isClosedAtStart(j)) continue;
      for (const GradientEntry& entry : problem_->gradient(problem_->constraints()[j])) piece(row, entry);
      ++row;
    }
    size = row;
  };
  visit([&](int row, const GradientEntry& entry) {
    held_.declare({row, offset(entry.block), 1, 6});
    held_.declare({offset(entry.block), row, 6, 1});
  });
  for (int row = model.nv() + model.nc(); row < size; ++row) held_.declare({row, row, 1, 1});
  const SparseMatrix& A = kkt().preparedMatrix();
  const bool isNew = held_.layOut(A, size);
  visit([&](int, const GradientEntry& entry) {
    const Eigen::Matrix<double, 1, 6> n = -s * entry.B.row(0).cwiseProduct(unit.segment<6>(offset(entry.block)).transpose());
    held_.add(n);
    held_.add(n.transpose());
  });
  for (int row = model.nv() + model.nc(); row < size; ++row) held_.add(Eigen::Matrix<double, 1, 1>(-proximal * s));
  if (isNew) heldLu_.analyse(held_.matrix(), held_.groups(model));
  return heldLu_.factorise(held_.matrix());
}

Vector3 ContactIterate::heldCompliance(int j) {
  const Model& model = kkt().model();
  Vector3 D = Vector3::Zero();
  for (int i = 0; i < 3; ++i) {
    heldRhs_.setZero(held_.matrix().rows());
    addForce(j, Vector3::Unit(i), heldRhs_);
    heldLu_.solve(heldRhs_);
    x_ = heldRhs_.head(model.nv()).cwiseProduct(kkt().unit().head(model.nv()));
    D[i] = std::abs(motion(j, x_)[i]);
  }
  return D;
}

/// Magnitude of the diagonal of B A^-1 B^T.
Vector3 ContactIterate::compliance(int j) {
  const Model& model = kkt().model();
  Vector3 D = Vector3::Zero();
  upper_.resize(model.nv());
  lower_.setZero(model.nc());
  for (int i = 0; i < 3; ++i) {
    upper_.setZero();
    for (const GradientEntry& entry : problem_->gradient(problem_->constraints()[j])) {
      upper_.segment<6>(offset(entry.block)) += entry.B.row(i);
    }
    if (kkt().solve(upper_, lower_, x_, y_)) D[i] = std::abs(motion(j, x_)[i]);
  }
  return D[0] > 0 ? D : diagonalCompliance(j);
}

Vector3 ContactIterate::diagonalCompliance(int j) const {
  Vector3 D = Vector3::Zero();
  const SparseMatrix& A = kkt().preparedMatrix();
  for (const GradientEntry& entry : problem_->gradient(problem_->constraints()[j])) {
    for (int i = 0; i < 6; ++i) {
      const int row = offset(entry.block) + i;
      const double stiffness = std::abs(A.coeff(row, row)) / (kkt().unit()[row] * kkt().unit()[row]);
      if (stiffness > 0) D += entry.B.col(i).cwiseAbs2() / stiffness;
    }
  }
  return D;
}

// ---- how good it is --------------------------------------------------------------------------------------------------------------------

void ContactIterate::measure() {
  kkt().measure(problem_->state(), std::span(groups_).first<KktSystem::groupCount>());
  double violation = 0;
  worst_ = -1;
  // What slips has a force to be judged by, whatever slips count as zero; no finer than rounding leaves forces of the model.
  const double noForce = std::max(forceTolerance * largestForce(), groups_.front().roundOff);
  const double lengthOfForce = noForce > 0 ? problem_->gapTolerance() / noForce : 0;
  for (int j = 0; j < count(); ++j) {
    if (!isPresent(j)) continue;
    const ContactLawEquations law = ContactLawEquations::at(gap(j), F_->col(j), friction(j), rho_);
    double c = law.c.lpNorm<Eigen::Infinity>();
    if (law.status == ContactStatus::Slip) {
      c = std::max(c, lengthOfForce * (F_->col(j).tail<2>() - friction(j) * (*F_)(0, j) * law.tau).norm());
    }
    // Written so that a NaN is kept.
    if (!(c <= violation)) violation = c, worst_ = j;
  }
  const VectorX& q = problem_->state().q;
  const double tolerance = problem_->gapTolerance(), largest = q.size() > 0 ? q.lpNorm<Eigen::Infinity>() : 0;
  groups_[KktSystem::groupCount] = {"contact", violation, 0, 0, tolerance, 16 * eps * largest};
  merit_ = 0;
  for (const ResidualGroup& group : groups_) {
    const double scaled = group.value / (group.threshold() > 0 ? group.threshold() : 1);
    merit_ += scaled * scaled;
  }
  merit_ = std::sqrt(merit_);
}

bool ContactIterate::isFinite() const { return std::isfinite(merit_); }

bool ContactIterate::passes() const {
  return std::all_of(groups_.begin(), groups_.end(), [](const ResidualGroup& g) { return g.passes(); });
}

bool ContactIterate::isNegligible() const {
  return std::all_of(groups_.begin(), groups_.end(), [](const ResidualGroup& g) { return g.passes() || g.value <= g.roundOff; });
}

double ContactIterate::residual() const {
  const bool atRoundOff = isNegligible();
  double worst = 0;
  for (const ResidualGroup& group : groups_) {
    const double allowed = atRoundOff ? std::max(group.threshold(), group.roundOff) : group.threshold();
    worst = std::max(worst, allowed > 0 ? group.value / allowed : group.value);
  }
  return worst;
}

int ContactIterate::active() const {
  int active = 0;
  for (int j = 0; j < count(); ++j) active += (*F_)(0, j) > 0;
  return active;
}

int ContactIterate::closed() const {
  return int(std::count_if(laws_.begin(), laws_.end(), [](const ContactLawEquations& law) { return law.status != ContactStatus::Open; }));
}

std::string ContactIterate::describeWorst() const {
  std::string text = kkt().describeWorst() + ";";
  for (const ResidualGroup& g : groups_) {
    if (!g.passes()) text += fmt::format(" {} {:.3g} (allowed {:.3g});", g.name, g.value, g.threshold());
  }
  if (worst_ < 0) return text;
  const ContactConstraint& c = problem_->constraints()[worst_];
  const Vector3 F = F_->col(worst_);
  return text + fmt::format(" contact worst at {}: gap {:.3g}, slip {:.3g}, force {:.3g} and {:.3g} along the surface;",
                            problem_->describe(c), c.gap, c.slip.norm(), F[0], F.tail<2>().norm());
}

}
