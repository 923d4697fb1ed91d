#include "friction_path.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

constexpr double least = 0.5, perContact = 0.03; ///< |F| / sqrt(eps) on the way: the larger of the one and the other times sqrt(contacts)
constexpr double smallest = 0.9;                 ///< a step straight down that lowers eps by less is taken along the curve
constexpr double settled = 0.05;                 ///< |F| / sqrt(eps) for the convex problems of a jump
constexpr double drop = 0.5;                     ///< of eps, across folds
constexpr double shortStep = 0.2;                ///< a step of Newton's method that is shorter leads nowhere
constexpr double leastWeight = 0.3;              ///< of the present slip in the shift
constexpr int mostSettled = 20;
constexpr double farthest = 20, nearest = 1e-3;       ///< steps along the curve, in its metric
constexpr double leastPull = 1e-7, largestPull = 0.1; ///< towards the present impulses: makes W regular; more where Newton's step fails

/// The disc of a contact, or none.
struct Disc {
  int first = 1, size = 0;
  double mu = 1;
};

Disc discOf(const FrictionLaw& law) {
  if (law.discCount == 0 || law.discs[0].coefficient == 0) return {};
  return {law.discs[0].first, law.discs[0].size, law.discs[0].coefficient};
}

/// P(x) by the spectral values of x.
class RoundedProjection {
 public:
  RoundedProjection(const ContactVector& x, double eps) : eps_(eps), direction_(ContactVector::Zero(x.size() - 1)) {
    const double length = x.tail(direction_.size()).norm();
    if (length > 0) direction_ = x.tail(direction_.size()) / length;
    low_ = spectral(x[0] - length);
    high_ = spectral(x[0] + length);
  }
  ContactVector value() const { return compose(low_.value, high_.value); }
  ContactVector byEps() const { return compose(1 / low_.root, 1 / high_.root); }
  ContactMatrix derivative() const {
    const int m = int(direction_.size());
    const double slopeLow = low_.value / low_.root, slopeHigh = high_.value / high_.root;
    const double mean = 0.5 * (slopeLow + slopeHigh), half = 0.5 * (slopeHigh - slopeLow), width = high_.at - low_.at;
    const double across = width > 1e-12 * (low_.root + high_.root) ? (high_.value - low_.value) / width : mean;
    ContactMatrix G(m + 1, m + 1);
    G(0, 0) = mean;
    G.block(0, 1, 1, m) = half * direction_.transpose();
    G.block(1, 0, m, 1) = half * direction_;
    G.block(1, 1, m, m) = across * ContactMatrix::Identity(m, m) + (mean - across) * direction_ * direction_.transpose();
    return G;
  }

 private:
  struct Spectral {
    double at, root, value; ///< l, (l^2 + 4 eps)^1/2, (l + root) / 2
  };
  Spectral spectral(double l) const {
    const double root = std::sqrt(l * l + 4 * eps_);
    return {l, root, l > 0 ? 0.5 * (l + root) : 2 * eps_ / (root - l)}; // no cancellation
  }
  ContactVector compose(double low, double high) const {
    ContactVector x(direction_.size() + 1);
    x[0] = 0.5 * (low + high);
    x.tail(direction_.size()) = 0.5 * (high - low) * direction_;
    return x;
  }

  double eps_;
  ContactVector direction_;
  Spectral low_, high_;
};

/// z of a contact.
ContactVector impulseInCone(const Disc& disc, const double* r) {
  ContactVector z(disc.size + 1);
  z[0] = disc.mu * r[0];
  for (int k = 0; k < disc.size; ++k) z[k + 1] = r[disc.first + k];
  return z;
}

/// y of a contact.
ContactVector velocityInDual(const Disc& disc, const double* u, double shift) {
  ContactVector y(disc.size + 1);
  y[0] = u[0] / disc.mu + shift;
  for (int k = 0; k < disc.size; ++k) y[k + 1] = u[disc.first + k];
  return y;
}

/// Rows and columns of normal and disc into those of the contact.
void place(const Disc& disc, const ContactMatrix& part, ContactMatrix& whole) {
  const int m = disc.size, f = disc.first;
  whole(0, 0) = part(0, 0);
  whole.block(0, f, 1, m) = part.block(0, 1, 1, m);
  whole.block(f, 0, m, 1) = part.block(1, 0, m, 1);
  whole.block(f, f, m, m) = part.block(1, 1, m, m);
}

}

bool FrictionPath::start(const FrictionSystem& system, FrictionEquations& equations, double kappa) {
  system_ = &system;
  equations_ = &equations;
  kappa_ = kappa;
  const int n = std::max(1, system.contacts());
  size_ = std::max(system.q.norm() / std::sqrt(double(n)), 1e-150);
  nearness_ = std::max(least, perContact * std::sqrt(double(n)));
  eps_ = 10 * size_ * size_;
  pull_ = leastPull;
  held_.setZero(n);
  follow();
  r_.setZero(system.rows());
  F_.setZero(system.rows());
  rate_.setZero(system.rows());
  for (int i = 0; i < system.contacts(); ++i) {
    const FrictionLaw& law = system.laws[i];
    if (law.discCount > 1) return false;
    if (law.kind == FrictionLaw::Kind::Unilateral) r_[system.first[i]] = std::sqrt(eps_) / discOf(law).mu;
  }
  return true;
}

double FrictionPath::roundedSlip(int contact, double eps) const {
  const Disc disc = discOf(system_->laws[contact]);
  if (disc.size == 0) return 0;
  return std::hypot(u_.segment(system_->first[contact] + disc.first, disc.size).norm(), delta(eps));
}

/// |F|; F_ and u_ come with it.
double FrictionPath::evaluate(const Eigen::VectorXd& r, double eps, double weight) {
  const FrictionSystem& system = *system_;
  system.velocities(r, w_, u_);
  for (int i = 0; i < system.contacts(); ++i) {
    const FrictionLaw& law = system.laws[i];
    const int row = system.first[i];
    if (law.kind == FrictionLaw::Kind::Bilateral) {
      F_.segment(row, law.size) = u_.segment(row, law.size);
      continue;
    }
    const Disc disc = discOf(law);
    const ContactVector z = impulseInCone(disc, &r[row]);
    const ContactVector y = velocityInDual(disc, &u_[row], weight * roundedSlip(i, eps) + (1 - weight) * held_[i]);
    const ContactVector F = z - RoundedProjection(z - y, eps).value();
    F_.segment(row, law.size) = r.segment(row, law.size); // rows of no disc
    F_[row] = F[0];
    F_.segment(row + disc.first, disc.size) = F.tail(disc.size);
  }
  return F_.norm();
}

/// The coefficients of the equations and dF/deps at r_, after evaluate(r_, eps_, weight_).
void FrictionPath::differentiate() {
  const FrictionSystem& system = *system_;
  for (int i = 0; i < system.contacts(); ++i) {
    const FrictionLaw& law = system.laws[i];
    const int row = system.first[i];
    ContactMatrix &A = equations_->contacts()[i].A, &B = equations_->contacts()[i].B;
    A.setZero(law.size, law.size);
    B.setZero(law.size, law.size);
    if (law.kind == FrictionLaw::Kind::Bilateral) {
      B.setIdentity();
      continue;
    }
    const Disc disc = discOf(law);
    const double rounded = roundedSlip(i, eps_);
    const ContactVector y = velocityInDual(disc, &u_[row], weight_ * rounded + (1 - weight_) * held_[i]);
    const RoundedProjection P(impulseInCone(disc, &r_[row]) - y, eps_);
    const ContactMatrix G = P.derivative();
    ContactMatrix byImpulse = ContactMatrix::Identity(disc.size + 1, disc.size + 1) - G, byVelocity = G;
    ContactVector rate = -P.byEps();
    if (disc.size > 0) {
      byVelocity.rightCols(disc.size) += (weight_ / rounded) * G.col(0) * y.tail(disc.size).transpose();
      rate += (weight_ * delta(eps_) * kappa_ / (size_ * rounded)) * G.col(0);
    }
    byImpulse.col(0) *= disc.mu;
    byVelocity.col(0) /= disc.mu;
    A.setIdentity();
    place(disc, byImpulse, A);
    place(disc, byVelocity, B);
    rate_[row] = rate[0];
    rate_.segment(row + disc.first, disc.size) = rate.tail(disc.size);
  }
}

bool FrictionPath::solve(const Eigen::VectorXd& F, Eigen::VectorXd& dr) {
  for (int i = 0; i < system_->contacts(); ++i) equations_->contacts()[i].F = F.segment(system_->first[i], system_->laws[i].size);
  return equations_->solve(dr);
}

bool FrictionPath::step() {
  double f = evaluate(r_, eps_, weight_);
  while (jumping_ && f <= settled * std::sqrt(eps_)) {
    settle();
    f = evaluate(r_, eps_, weight_);
  }
  differentiate();
  rate_ *= eps_;
  if (!equations_->factorise(pull_) || !solve(F_, correction_) || !solve(rate_, slope_)) return false;
  if (jumping_) return stepJumping(f);
  const bool isDown = equations_->determinantSign() > 0;
  const bool moved = (f <= nearness_ * std::sqrt(eps_) && ((isDown && lower()) || advance(isDown))) || correct(f);
  pull_ = moved ? std::max(leastPull, 0.1 * pull_) : 100 * pull_;
  leastEps_ = std::min(leastEps_, eps_);
  if (pull_ > largestPull) jump();
  return true;
}

bool FrictionPath::stepJumping(double f) {
  for (double length = 1; length > 1e-3; length *= 0.5) {
    trial_ = r_ + length * correction_;
    if (!tryPoint((1 - 0.1 * length) * f / std::sqrt(eps_), eps_)) continue;
    if (length <= shortStep) weight_ = std::max(leastWeight, 0.7 * weight_);
    return true;
  }
  if (weight_ == leastWeight) return false;
  weight_ = std::max(leastWeight, 0.7 * weight_);
  return true;
}

bool FrictionPath::tryPoint(double f, double eps) {
  if (!(evaluate(trial_, eps, weight_) <= f * std::sqrt(eps))) return false;
  r_.swap(trial_);
  eps_ = eps;
  return true;
}

/// Correction at this eps and prediction together, to the smallest eps that the result is near enough to the path at.
bool FrictionPath::lower() {
  for (double share = 1e-3; share<smallest; share = share> 0.2 ? 1 - 0.6 * (1 - share) : 2.5 * share) {
    trial_ = r_ + correction_ + (share - 1) * slope_;
    if (tryPoint(nearness_, share * eps_)) return true;
  }
  return false;
}

/// Newton's correction across the curve: with the part of eps in eps_ that it takes.
FrictionPath::Across FrictionPath::across() const {
  const double weight = 1 / (eps_ * system_->contacts()), square = 1 + weight * slope_.squaredNorm();
  const double eps = -weight * slope_.dot(correction_) / square;
  return {eps, std::min(1.0, 0.5 / std::abs(eps)), std::sqrt(square)};
}

/// The same along the tangent, as far as the result is near enough; eps may rise.
bool FrictionPath::advance(bool isDown) {
  const Across to = across();
  const double limit = std::min(farthest, to.speed * (isDown ? 0.999 : 3));
  for (double length = limit; length > nearest * limit; length *= 0.7) {
    const double along = (isDown ? -length : length) / to.speed, share = 1 + to.part * to.eps + along;
    if (share < 1e-3) continue;
    trial_ = r_ + to.part * correction_ + (to.part * to.eps + along) * slope_;
    if (tryPoint(nearness_, share * eps_)) return true;
  }
  return false;
}

/// Correction alone, across the curve or else at this eps, halved until |F| / sqrt(eps) falls.
bool FrictionPath::correct(double f) {
  const Across to = across();
  const double before = f / std::sqrt(eps_);
  for (const double eps : {to.eps, 0.0})
    for (double length = eps == 0 ? 1 : to.part; length > 1e-3; length *= 0.5) {
      trial_ = r_ + length * (correction_ + eps * slope_);
      if (tryPoint((1 - 0.1 * length) * before, eps_ * (1 + length * eps))) return true;
    }
  return false;
}

void FrictionPath::follow() {
  jumping_ = false;
  weight_ = 1;
  leastEps_ = eps_;
}

/// To below the least eps, with the shift of the present slip.
void FrictionPath::jump() {
  evaluate(r_, eps_, 1);
  eps_ = drop * leastEps_;
  for (int i = 0; i < system_->contacts(); ++i) held_[i] = roundedSlip(i, eps_);
  jumping_ = true;
  weight_ = 0.5;
  pull_ = leastPull;
  settled_ = 0;
  change_ = 0;
}

/// The impulses fit the shift: the shift moves on. Back to the path where that is near, further down where it stays away for long.
void FrictionPath::settle() {
  const double f = evaluate(r_, eps_, 1);
  double change = 0;
  for (int i = 0; i < system_->contacts(); ++i) {
    const double difference = roundedSlip(i, eps_) - held_[i];
    held_[i] += weight_ * difference;
    change += difference * difference;
  }
  if (f <= nearness_ * std::sqrt(eps_)) return follow();
  if (++settled_ % mostSettled == 0) eps_ *= drop;
  if (change < change_) weight_ = 1 - 0.5 * (1 - weight_);
  change_ = change;
}

}
