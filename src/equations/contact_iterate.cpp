#include "equations/contact_iterate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tendril {

namespace {
/// Constraints whose compliance is looked at.
constexpr int samples = 8;
constexpr double eps = std::numeric_limits<double>::epsilon();

double median(std::vector<double>& values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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
  if (!similar(present, weighed_) || !similar(kkt().assembly().multiplierScale, weighedScale_)) weighed_ = 0;
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

void ContactIterate::weigh() {
  std::vector<int> present;
  for (int j = 0; j < count(); ++j) {
    if (isPresent(j)) present.push_back(j);
  }
  weighed_ = int(present.size());
  if (present.empty()) return;
  weighedScale_ = kkt().assembly().multiplierScale;

  // What floats until contact holds it has no compliance of its own; that of its diagonal tells the size.
  isHeld_ = kkt().factorise();
  normal_.clear(), tangent_.clear();
  const int taken = std::min(samples, weighed_);
  for (int k = 0; k < taken; ++k) {
    const Vector3 D = compliance(present[std::size_t((2 * k + 1) * weighed_ / (2 * taken))]);
    normal_.push_back(D[0]);
    tangent_.push_back((D[1] + D[2]) / 2);
  }
  const double normal = median(normal_), tangent = median(tangent_);
  rho_.normal = normal > 0 && std::isfinite(normal) ? 1 / normal : weighedScale_;
  rho_.tangent = tangent > 0 && std::isfinite(tangent) ? 1 / tangent : rho_.normal;
}

/// Magnitude of the diagonal of B A^-1 B^T.
Vector3 ContactIterate::compliance(int j) {
  const Model& model = kkt().model();
  const auto entries = problem_->gradient(problem_->constraints()[j]);
  Vector3 D = Vector3::Zero();
  if (isHeld_) {
    upper_.resize(model.nv());
    lower_.setZero(model.nc());
    for (int i = 0; i < 3; ++i) {
      upper_.setZero();
      for (const GradientEntry& entry : entries) upper_.segment<6>(offset(entry.block)) += entry.B.row(i);
      if (kkt().solve(upper_, lower_, x_, y_)) D[i] = std::abs(motion(j, x_)[i]);
    }
  }
  if (D[0] > 0) return D;
  const SparseMatrix& A = kkt().preparedMatrix();
  for (const GradientEntry& entry : entries) {
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
  for (int j = 0; j < count(); ++j) {
    if (!isPresent(j)) continue;
    const double c = ContactLawEquations::at(gap(j), F_->col(j), friction(j), rho_).c.lpNorm<Eigen::Infinity>();
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
