#include "rods/contact_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tendril {

namespace {

constexpr double nearShare = 0.5;   ///< of the radius: gaps below take part
constexpr double closed = 1e-11;    ///< of supports, over the length
constexpr double rounding = 1e-14;  ///< of both: corrections end there, since gaps of neighbours that differ bend the rod in between
constexpr double overlapOf = 5e-10; ///< of the radius: what rounding and the last correction may leave

}

ContactProgram::ContactProgram(const StrainRod& scaled, const RodEnds& ends, RodSurroundings surroundings)
    : rod_(scaled), ahead_(scaled), ends_(ends), contacts_(std::move(surroundings)), unit_(rod_.elasticity().cwiseSqrt().cwiseInverse()) {
  place(rod_.strains());
}

void ContactProgram::place(const VectorX& strains) {
  rod_.place(ends_.begin(), strains);
  closure_.resize(ends_.rows());
  ends_.evaluate(rod_.frame(rod_.elements()), closure_);
  touches_ = contacts_.find(rod_, nearShare * radius());
}

double ContactProgram::leastGap() const {
  double least = nearShare * radius();
  for (const RodTouch& t : touches_) least = std::min(least, t.gap);
  return least;
}

StrainRod::NodeForces ContactProgram::nodesOf(const StrainRod& rod) {
  StrainRod::NodeForces all(3, rod.elements() + 1);
  for (int k = 0; k <= rod.elements(); ++k) all.col(k) = rod.frame(k).x;
  return all;
}

double ContactProgram::longestFactor(const VectorX& w) {
  ahead_.place(ends_.begin(), rod_.strains() + unit_.cwiseProduct(w));
  return contacts_.longestFactor(nodes(), nodesOf(ahead_));
}

VectorX ContactProgram::gradient() {
  VectorX g = VectorX::Zero(rod_.size());
  rod_.addEnergyGradient(1, g);
  return unit_.cwiseProduct(g);
}

void ContactProgram::differentiate() {
  const Pose& end = rod_.frame(rod_.elements());
  VectorX row;
  J_.resize(ends_.rows(), rod_.size());
  for (int k = 0; k < ends_.rows(); ++k) {
    row.setZero(rod_.size());
    rod_.addEndGradient(ends_.weighted(end, VectorX::Unit(ends_.rows(), k)), 1, row);
    J_.row(k) = unit_.cwiseProduct(row);
  }
  G_.resize(Eigen::Index(touches_.size()), rod_.size());
  gaps_.resize(G_.rows());
  forces_.setZero(3, rod_.elements() + 1);
  for (Eigen::Index k = 0; k < G_.rows(); ++k) {
    const RodTouch& touch = touches_[std::size_t(k)];
    touch.addGradient(1, forces_);
    row.setZero(rod_.size());
    rod_.addNodeGradient(forces_, row);
    G_.row(k) = unit_.cwiseProduct(row);
    gaps_[k] = touch.gap;
    touch.addGradient(-1, forces_);
  }
}

void ContactProgram::vary(const VectorX& lambda, const VectorX& mu) {
  mu_ = mu;
  forces_.setZero(3, rod_.elements() + 1);
  for (std::size_t k = 0; k < touches_.size(); ++k) touches_[k].addGradient(-mu_[Eigen::Index(k)], forces_);
  variation_ = rod_.secondVariation(1, ends_.weighted(rod_.frame(rod_.elements()), lambda), forces_);
}

void ContactProgram::product(const VectorX& w, VectorX& Hw) {
  strains_ = unit_.cwiseProduct(w);
  variation_->times(strains_, change_);
  if (mu_.size() > 0 && mu_.maxCoeff() > 0) {
    rod_.nodeMotions(strains_, motions_);
    forces_.setZero(3, rod_.elements() + 1);
    for (std::size_t k = 0; k < touches_.size(); ++k)
      if (const double mu = mu_[Eigen::Index(k)]; mu > 0) touches_[k].addCurvature(rod_, -mu, motions_, forces_);
    rod_.addNodeGradient(forces_, change_);
  }
  Hw = unit_.cwiseProduct(change_);
}

ContactProgram::Keys ContactProgram::keysOf(const std::vector<int>& rows) const {
  Keys keys;
  for (const int k : rows) keys.push_back(touches_[std::size_t(k)].key());
  return keys;
}

std::vector<int> ContactProgram::rowsOf(const Keys& keys) const {
  std::vector<int> rows;
  for (int k = 0; k < int(touches_.size()); ++k)
    if (std::find(keys.begin(), keys.end(), touches_[std::size_t(k)].key()) != keys.end()) rows.push_back(k);
  return rows;
}

bool ContactProgram::project(const VectorX& w0) {
  if (!nearest_.solve(w0, J_, -closure_, G_, -gaps_, rowsOf(pushing_))) return false;
  pushing_ = keysOf(nearest_.active());
  return true;
}

/// The nearest change of w that obeys the linearised constraints, with some contacts closed.
bool ContactProgram::correct(const std::vector<int>& closedRows) {
  MatrixX A(J_.rows() + Eigen::Index(closedRows.size()), rod_.size());
  VectorX a(A.rows());
  A << J_, MatrixX(G_(closedRows, Eigen::all));
  a << -closure_, -VectorX(gaps_(closedRows));
  return nearest_.solve(VectorX::Zero(rod_.size()), A, a, G_, -gaps_);
}

bool ContactProgram::restore(const VectorX& strains, const StrainRod::NodeForces& from, const Keys& held) {
  constexpr int most = 12, closing = 3; // corrections, of which the first close what is held
  VectorX x = strains;
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most; ++i) {
    place(x);
    const std::vector<int> holds = i < closing ? rowsOf(held) : std::vector<int>{};
    double off = -leastGap(); // overlap, or a held contact that is open
    for (const int k : holds) off = std::max(off, touches_[std::size_t(k)].gap);
    const double miss = closure_.size() > 0 ? closure_.lpNorm<Eigen::Infinity>() : 0, wrong = std::max(miss, off);
    const bool isEnough = miss <= closed && off <= overlapOf * radius();
    if (isEnough && (wrong <= rounding || wrong > 0.1 * before)) return contacts_.longestFactor(from, nodes()) >= 1;
    if (!std::isfinite(wrong) || (i > closing + 1 && wrong > 0.5 * before)) return false;
    before = wrong;
    differentiate();
    if (!correct(holds)) return false;
    x += unit_.cwiseProduct(nearest_.point());
  }
  return false;
}

}
