#include "tendril/equations/kkt_system.h"

#include "tendril/model/attached_frames.h"
#include "tendril/solvers/rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tendril {

namespace {

/// The compliance e of the class comment.
constexpr double proximal = 1e-12;
/// Rows of G nearer than this to the span of the others are redundant.
constexpr double rankTolerance = 1e-9;

enum Group { Force, Moment, General, Length, Angle };
constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<int> diagonalPositions(const SparseMatrix& A, int from) {
  std::vector<int> positions;
  for (int c = from; c < A.cols(); ++c) {
    const int* begin = A.innerIndexPtr() + A.outerIndexPtr()[c];
    const int* end = A.innerIndexPtr() + A.outerIndexPtr()[c + 1];
    positions.push_back(int(std::lower_bound(begin, end, c) - A.innerIndexPtr()));
  }
  return positions;
}

}

KktSystem::KktSystem(const Model& model, const KktTolerances& tolerances, Redundancy treatment)
    : model_(model), tolerances_(tolerances), treatment_(treatment), assembly_(model),
      diagonal_(diagonalPositions(assembly_.matrix(), model.nv())), isMoment_(model.nv(), 2), unit_(VectorX::Ones(model.nv() + model.nc())),
      rhs_(model.nv() + model.nc()), solution_(model.nv() + model.nc()) {
  for (int row = 0; row < model.nc(); ++row) {
    if (model.constraintQuantities()[row] == RowQuantity::Angle) unit_[model.nv() + row] = model.characteristicLength();
  }
  for (const Block& b : model.blocks()) {
    if (b.kind != Block::Kind::Pose) continue;
    std::fill_n(isMoment_.begin() + b.v, 3, char(0));
    std::fill_n(isMoment_.begin() + b.v + 3, 3, char(1));
    unit_.segment<3>(b.v + 3).setConstant(1 / model.characteristicLength());
  }
  if (const AttachedFrames* frames = model.term<AttachedFrames>()) { // coordinates of vector blocks count by what they move
    VectorX movement = VectorX::Zero(model.nv());
    frames->addMovement(model.initialState(), model.characteristicLength(), movement);
    for (int i = 0; i < model.nv(); ++i)
      if (isMoment_[i] == 2 && movement[i] > 0) unit_[i] = 1 / movement[i];
  }
}

bool KktSystem::evaluate(const State& state, const Request& request) {
  assembly_.begin(request);
  evaluated_ = &state;
  model_.evaluate(state, assembly_);
  if (request.tangent) prepared_ = false;
  return assembly_.refusedBlock() < 0;
}

void KktSystem::balance() {
  const SparseMatrix& A = assembly_.matrix();
  std::array<double, 3> sum{};
  std::array<int, 3> count{};
  const AttachedFrames* frames = model_.term<AttachedFrames>();
  for (int b = 0; b < int(model_.blocks().size()); ++b) {
    if (frames && frames->isAttached(b)) continue; // what resists its motion is in the blocks that it follows
    const Block& block = model_.blocks()[std::size_t(b)];
    for (int c = block.v; c < block.v + block.nv; ++c) {
      const double value = std::abs(A.coeff(c, c)) * (isMoment_[c] == 2 ? unit_[c] * unit_[c] : 1);
      if (value > 0) sum[isMoment_[c]] += value, ++count[isMoment_[c]];
    }
  }
  const auto mean = [&](int kind) { return count[kind] > 0 ? sum[kind] / count[kind] : std::numeric_limits<double>::infinity(); };
  const double length = model_.characteristicLength();
  const double s = std::min({mean(0), mean(1) / (length * length), mean(2)});
  if (std::isfinite(s)) assembly_.multiplierScale = s;
  forget();
}

// ---- redundant constraints -------------------------------------------------------------------------------------------------------------

bool KktSystem::findRedundancy(const State& state) {
  if (model_.nc() == 0) return false;
  evaluate(state, {.motion = false, .tangent = true});
  const RankReport report = findDependentRows(assembly_.gradient(), rankTolerance);
  if (report.dependentRows == redundant_) return false;
  setRedundantRows(report.dependentRows);
  return true;
}

void KktSystem::setRedundantRows(const std::vector<int>& dependent) {
  redundant_ = dependent;
  if (treatment_ == Redundancy::Share) return;

  off_ = redundant_;
  cleared_.clear();
  const std::set<int> rows(off_.begin(), off_.end());
  const SparseMatrix& A = assembly_.matrix();
  for (int c = 0; c < A.cols(); ++c) {
    for (int k = A.outerIndexPtr()[c]; k < A.outerIndexPtr()[c + 1]; ++k) {
      if (rows.count(A.innerIndexPtr()[k] - model_.nv()) || rows.count(c - model_.nv())) cleared_.push_back(k);
    }
  }
  forget();
}

std::string KktSystem::describeRedundancy() const {
  if (redundant_.empty()) return {};
  std::string text = std::to_string(redundant_.size()) + " of " + std::to_string(model_.nc()) +
                     " constraint rows are redundant (the reactions given are those of least norm): ";
  std::string last;
  int named = 0;
  for (int row : redundant_) {
    const std::string& name = model_.constraintName(row);
    if (name == last) continue;
    if (++named > 8) return text + ", ...";
    text += (named > 1 ? ", " : "") + name;
    last = name;
  }
  return text;
}

VectorX KktSystem::minimumNorm(const State& state) {
  if (redundant_.empty()) return state.lambda;
  evaluate(state, {.motion = false, .tangent = true});
  VectorX weights(model_.nc());
  const double length = model_.characteristicLength();
  for (int row = 0; row < model_.nc(); ++row) {
    weights[row] = model_.constraintQuantities()[row] == RowQuantity::Length ? 1 : 1 / (length * length);
  }
  return minimumNormMultipliers(assembly_.gradient(), state.lambda, weights, rankTolerance);
}

// ---- solution --------------------------------------------------------------------------------------------------------------------------

void KktSystem::measure(const State& state, std::span<ResidualGroup> groups) const {
  std::array<double, groupCount> worst{};
  const auto raise = [&worst](int group, double value) {
    // Written so that a NaN is kept.
    if (!(std::abs(value) <= worst[group])) worst[group] = std::abs(value);
  };
  const VectorX& r = assembly_.residual();
  for (int i = 0; i < r.size(); ++i) {
    if (isMoment_[i] == 2)
      raise(General, r[i] * unit_[i]);
    else
      raise(isMoment_[i] == 0 ? Force : Moment, r[i]);
  }
  const VectorX& g = assembly_.constraint();
  for (int i = 0; i < g.size(); ++i) raise(model_.constraintQuantities()[i] == RowQuantity::Length ? Length : Angle, g[i]);

  const ForceScale& scale = assembly_.scale();
  const double count = double(std::max(scale.count, 1L)), length = model_.characteristicLength();
  const double force = std::max(scale.force, scale.moment / length) / count;
  const double largest = state.q.size() > 0 ? state.q.lpNorm<Eigen::Infinity>() : 0;
  groups[Force] = {"force", worst[Force], force, tolerances_.force, 0, 4 * scale.forceRoundoff + 8 * eps * scale.force};
  groups[Moment] = {"moment",
                    worst[Moment],
                    force * length,
                    tolerances_.force,
                    0,
                    4 * scale.momentRoundoff + 8 * eps * (scale.moment + scale.force * length)};
  // Coordinates that frames follow are measured by what they move, so their forces with those on the frames.
  groups[General] = {"generalized force", worst[General], scale.general / count, tolerances_.force, 0, 8 * eps * scale.general};
  if (model_.term<AttachedFrames>())
    groups[General] = {"generalized force", worst[General], force, tolerances_.force, 0, groups[Force].roundOff};
  groups[Length] = {"constraint length", worst[Length], length, tolerances_.constraint, 0, 16 * eps * largest};
  groups[Angle] = {"constraint angle", worst[Angle], 1, tolerances_.constraint, 0, 64 * eps};
  for (ResidualGroup& group : groups.first(groupCount)) group.absoluteTolerance = group.roundOff;
  // Rounding of the shear forces reaches the moments with a lever. It is no target: it counts only where the iteration makes no more
  // progress.
  groups[Moment].roundOff += 4 * scale.forceRoundoff * length;
}

void KktSystem::prepareMatrix() {
  if (prepared_) return;
  double* values = assembly_.matrix().valuePtr();
  const SparseMatrix& A = assembly_.matrix();
  for (int c = 0; c < A.cols(); ++c) {
    for (int k = A.outerIndexPtr()[c]; k < A.outerIndexPtr()[c + 1]; ++k) values[k] *= unit_[c] * unit_[A.innerIndexPtr()[k]];
  }
  for (int position : diagonal_) values[position] -= proximal * assembly_.multiplierScale;
  for (int position : cleared_) values[position] = 0;
  for (int row : off_) values[diagonal_[row]] = -assembly_.multiplierScale;
  prepared_ = true;
}

bool KktSystem::factorise() {
  prepareMatrix();
  if (!analysed_) {
    lu_.analyse(assembly_.matrix());
    analysed_ = true;
  }
  factorised_ = lu_.factorise(assembly_.matrix());
  return factorised_;
}

void KktSystem::forget() { analysed_ = factorised_ = false; }

const SparseMatrix& KktSystem::preparedMatrix() {
  prepareMatrix();
  return assembly_.matrix();
}

void KktSystem::prepareRightHandSide(Eigen::Ref<VectorX> rhs) const {
  rhs << -assembly_.residual(), assembly_.multiplierScale * assembly_.constraint();
  rhs.array() *= unit_.array();
  if (treatment_ == Redundancy::Share) rhs.tail(model_.nc()) += proximal * evaluated_->lambda.cwiseQuotient(unit_.tail(model_.nc()));
  for (int row : off_) rhs[model_.nv() + row] = 0;
}

bool KktSystem::solve(VectorX& delta, VectorX& deltaLambda) {
  if (!factorised_) return false;
  prepareRightHandSide(rhs_);
  lu_.solve(rhs_);
  rhs_.array() *= unit_.array();
  delta = rhs_.head(model_.nv());
  deltaLambda = assembly_.multiplierScale * rhs_.tail(model_.nc());
  return rhs_.allFinite();
}

bool KktSystem::solve(const VectorX& upper, const VectorX& lower, VectorX& x, VectorX& y) {
  if (!factorised_) return false;
  const double s = assembly_.multiplierScale;
  rhs_ << upper, -s * lower;
  rhs_.array() *= unit_.array();
  for (int row : off_) rhs_[model_.nv() + row] = 0;
  solution_ = rhs_;
  lu_.solve(solution_);
  // Two proximal iterations take the term e out of a linear solution that no Newton iteration follows.
  for (int iteration = 0; iteration < 2; ++iteration) {
    corrected_ = rhs_;
    corrected_.tail(model_.nc()) -= proximal * s * solution_.tail(model_.nc());
    for (int row : off_) corrected_[model_.nv() + row] = 0;
    lu_.solve(corrected_);
    solution_ = corrected_;
  }
  solution_.array() *= unit_.array();
  x = solution_.head(model_.nv());
  y = s * solution_.tail(model_.nc());
  return solution_.allFinite();
}

SparseMatrix KktSystem::symmetricPart() {
  prepareMatrix();
  const SparseMatrix& A = assembly_.matrix();
  return 0.5 * (A + SparseMatrix(A.transpose()));
}

std::optional<Inertia> KktSystem::tangentInertia(const State& state, double zeroTolerance) {
  forgetPrediction();
  evaluate(state, {.motion = false, .tangent = true});
  ldlt_.setZeroTolerance(zeroTolerance);
  ldlt_.factorise(symmetricPart());
  std::optional<Inertia> inertia = ldlt_.inertia();
  // n-(KKT) = independent rows + n-(S on null G) + rows switched off, n+(KKT) = independent rows + n+(S on null G).
  if (inertia) {
    inertia->negative -= model_.nc();
    inertia->positive -= model_.nc() - int(off_.size());
  }
  return inertia;
}

std::string KktSystem::describeWorst() const {
  std::array<ResidualGroup, groupCount> groups;
  State none;
  measure(none, groups);
  const auto ratio = [](const ResidualGroup& g) { return g.threshold() > 0 ? g.value / g.threshold() : (g.value > 0 ? 1e300 : 0); };
  const int worst = int(
      std::max_element(groups.begin(), groups.end(), [&](const ResidualGroup& a, const ResidualGroup& b) { return ratio(a) < ratio(b); }) -
      groups.begin());
  Eigen::Index row = -1;
  double value = -1;
  const bool constraint = worst == Length || worst == Angle;
  const VectorX& residual = constraint ? assembly_.constraint() : assembly_.residual();
  for (Eigen::Index i = 0; i < residual.size(); ++i) {
    const int group = constraint ? (model_.constraintQuantities()[i] == RowQuantity::Length ? Length : Angle) : Group(isMoment_[i]);
    if (group == worst && !(std::abs(residual[i]) <= value)) value = std::abs(residual[i]), row = i;
  }
  if (row < 0) return "nowhere";
  return std::string(groups[worst].name) + " at " + (constraint ? model_.nameOfConstraint(int(row)) : model_.nameOfVelocity(int(row)));
}

/// The null vectors of the symmetric part whose upper part moves something, each by the name of what moves most.
std::string KktSystem::nameFreeMotions() {
  const SparseMatrix symmetric = symmetricPart();
  ldlt_.setZeroTolerance(SparseLdltOptions{}.zeroTolerance);
  ldlt_.factorise(symmetric);
  if (!ldlt_.singular()) return {};
  const MatrixX modes = ldlt_.nullVectors();
  VectorX rowSize = VectorX::Zero(symmetric.rows());
  for (int c = 0; c < symmetric.cols(); ++c) {
    for (SparseMatrix::InnerIterator entry(symmetric, c); entry; ++entry) rowSize[entry.row()] += std::abs(entry.value());
  }
  std::string text;
  int named = 0;
  for (Eigen::Index mode = 0; mode < modes.cols(); ++mode) {
    // A soft structure is no mechanism: only what is left of the sums that cancel may be called zero.
    const VectorX v = modes.col(mode), force = symmetric * v;
    const double largest = v.cwiseAbs().maxCoeff();
    if (!((force.array() / rowSize.array().max(1e-300)).abs().maxCoeff() <= 1e-13 * largest)) continue;
    Eigen::Index row = 0;
    if (!(v.head(model_.nv()).cwiseAbs().maxCoeff(&row) > 1e-8 * largest)) continue;
    if (++named <= 6) text += (named > 1 ? "; " : "free to move: ") + model_.nameOfVelocity(int(row));
  }
  if (named > 6) text += "; and " + std::to_string(named - 6) + " more";
  return named > 0 ? text + "; add a joint, a support or a spring" : text;
}

std::string KktSystem::describeFreeMotions(const State& state) {
  forgetPrediction();
  evaluate(state, {.motion = false, .tangent = true});
  return nameFreeMotions();
}

std::string KktSystem::describeSingular() {
  std::string text = nameFreeMotions();
  if (!text.empty() || lu_.singular().column < 0) return text;
  const int column = lu_.singular().column;
  return "near " + (column < model_.nv() ? model_.nameOfVelocity(column) : model_.nameOfConstraint(column - model_.nv())) +
         ", which hardly meets any resistance";
}

}
