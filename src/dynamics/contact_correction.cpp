#include "dynamics/contact_correction.h"

#include "tendril/lie/se3.h"
#include "tendril/model/increment.h"

namespace tendril {

namespace {

/// tau over h where it is free: so long that tolerance and rounding of lengths, which are those of positions, mean nothing to velocities.
constexpr double leverOfVelocities = 1e3;

}

ContactCorrection::ContactCorrection(KktSystem& kkt, ContactConstraints& contacts, const ContactNewtonOptions& options, double gapTolerance)
    : kkt_(kkt), contacts_(contacts), gapTolerance_(gapTolerance), x_(kkt.model().nv()), options_(options), newton_(std::in_place) {}

const ContactNewtonReport& ContactCorrection::solve(const State& smooth, double h) {
  smooth_ = &smooth;
  h_ = h;
  restart();
  memory_.recall(contacts_.constraints(), F_);
  return newton_->solve(*this, options_, F_);
}

void ContactCorrection::restart() {
  state_ = *smooth_;
  x_.setZero();
  move();
}

void ContactCorrection::applyStep(const VectorX& delta, const VectorX& deltaLambda, double factor) {
  const std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
  const std::vector<Block>& blocks = model().blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].kind == Block::Kind::Pose) {
      x_.segment<6>(blocks[b].v).noalias() += factor * (maps[b] * delta.segment<6>(blocks[b].v));
    } else {
      x_.segment(blocks[b].v, blocks[b].nv) += factor * delta.segment(blocks[b].v, blocks[b].nv);
    }
  }
  state_.lambda += factor * deltaLambda;
  move();
}

void ContactCorrection::setVelocityMaps(bool moves) {
  std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
  maps.assign(model().blocks().size(), Matrix6::Identity());
  for (std::size_t b = 0; b < maps.size() && moves; ++b) {
    const Block& block = model().blocks()[b];
    if (block.kind == Block::Kind::Pose) maps[b] = se3::tangentInverse(x_.segment<6>(block.v));
  }
}

std::vector<double> ContactCorrection::save() {
  newton_.emplace();
  return memory_.save();
}

void ContactCorrection::restore(std::span<const double> forces) {
  newton_.emplace();
  memory_.restore(forces);
}

// ---- (2) position ----------------------------------------------------------------------------------------------------------------------

bool PositionCorrection::evaluate() {
  setVelocityMaps(true);
  if (!kkt_.evaluate(state_, {.motion = true, .tangent = true, .damping = 0, .inertia = inertiaWeight(h_)})) return false;
  contacts_.evaluate(state_);
  return true;
}

void PositionCorrection::move() {
  model().retract(smooth_->q, x_, state_.q);
  state_.a = smooth_->a + inertiaWeight(h_) * x_;
}

double PositionCorrection::longestFactor(const VectorX& delta) const { return longestTurn(model(), delta); }

// ---- (3) velocity ----------------------------------------------------------------------------------------------------------------------

void VelocityCorrection::beginStep() {
  lasting_.clear();
  recall(last_);
  const auto constraints = contacts_.constraints();
  for (std::size_t j = 0; j < constraints.size(); ++j) {
    if (!(last_(0, Eigen::Index(j)) > 0)) continue;
    for (const GradientEntry& entry : contacts_.gradient(constraints[j])) lasting_.push_back({j, entry});
  }
}

void VelocityCorrection::turn(const Eigen::Matrix3Xd& positionForces) {
  turned_.clear();
  std::size_t last = contacts_.constraints().size();
  for (const Lasting& lasting : lasting_) {
    const Vector3 F = positionForces.col(Eigen::Index(lasting.constraint)) / 2;
    turned_.emplace_back(lasting.entry.block, lasting.entry.B.transpose() * F);
    if (lasting.constraint == last) continue;
    last = lasting.constraint;
    for (const GradientEntry& entry : contacts_.gradient(contacts_.constraints()[last])) {
      turned_.emplace_back(entry.block, -entry.B.transpose() * F);
    }
  }
}

void VelocityCorrection::prepare(const VectorX* q, const VectorX& before, double h, const std::vector<char>& takesPart) {
  q_ = q;
  moves_ = !q;
  tau_ = moves_ ? h / 2 : leverOfVelocities * h;
  const auto originals = contacts_.constraints();
  constraints_.assign(originals.begin(), originals.end());
  rebound_.assign(originals.size(), Vector3::Zero());
  for (std::size_t j = 0; j < originals.size(); ++j) {
    constraints_[j].isPresent = originals[j].isPresent && takesPart[j];
    if (!constraints_[j].isPresent) continue;
    const Vector3 V = relativeVelocity(originals[j], before);
    const double e = originals[j].law->restitution, tau = originals[j].law->tangentialRestitution;
    if (V[0] < 0) rebound_[j] << e * V[0], tau * V.tail<2>();
  }
}

Vector3 VelocityCorrection::relativeVelocity(const ContactConstraint& c, const VectorX& v) const {
  Vector3 V = contacts_.drift(c);
  for (const GradientEntry& entry : contacts_.gradient(c)) V += entry.B * v.segment<6>(model().blocks()[std::size_t(entry.block)].v);
  return V;
}

bool VelocityCorrection::evaluate() {
  setVelocityMaps(moves_);
  const Request request{
      .motion = true, .tangent = true, .stiffness = moves_, .timeRate = true, .damping = 1 / tau_, .inertia = 1 / (tau_ * h_)};
  if (!kkt_.evaluate(state_, request)) return false;
  for (const auto& [block, force] : turned_) kkt_.assembly().addForce(block, Vector6(-force));
  holdRatesOfJoints();
  const auto originals = contacts_.constraints();
  for (std::size_t j = 0; j < constraints_.size(); ++j) {
    if (!constraints_[j].isPresent) continue;
    const Vector3 V = relativeVelocity(originals[j], state_.v) + rebound_[j];
    constraints_[j].gap = tau_ * V[0];
    constraints_[j].slip = tau_ * V.tail<2>();
  }
  return true;
}

/// In place of g stands tau (G v + dg/dt).
void VelocityCorrection::holdRatesOfJoints() {
  const int nv = model().nv();
  Assembly& assembly = kkt_.assembly();
  rate_ = assembly.constraintRate();
  const SparseMatrix& A = assembly.matrix();
  for (int c = 0; c < nv; ++c) {
    for (SparseMatrix::InnerIterator entry(A, c); entry; ++entry) {
      if (entry.row() >= nv) rate_[entry.row() - nv] -= entry.value() / assembly.multiplierScale * state_.v[c];
    }
  }
  rate_ = (tau_ * rate_ - assembly.constraint()).eval();
  const Pattern& pattern = model().pattern();
  for (int block = int(model().blocks().size()); block < pattern.blocks(); ++block) {
    const UnknownBlock& rows = pattern.unknowns(block);
    assembly.addConstraint(block, rate_.segment(rows.offset - nv, rows.size));
  }
}

void VelocityCorrection::move() {
  if (moves_) {
    model().retract(smooth_->q, x_, state_.q);
  } else {
    state_.q = *q_;
  }
  state_.v = smooth_->v + x_ / tau_;
  state_.a = smooth_->a + x_ / (tau_ * h_);
}

}
