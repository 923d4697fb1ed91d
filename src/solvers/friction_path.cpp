#include "friction_path.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

constexpr double nearness = 0.5;    ///< |F| / sqrt(eps) on the way
constexpr double centre = 1e-2;     ///< the same where Newton's method at one eps is done
constexpr double settled = 0.05;    ///< the same for the convex problems of a jump
constexpr double smallest = 0.9;    ///< a step that lowers eps by less has met a fold
constexpr double drop = 0.5;        ///< of eps, across a fold
constexpr double shortStep = 0.2;   ///< a step of Newton's method that is shorter leads nowhere
constexpr double leastWeight = 0.3; ///< of the present slip in the shift
constexpr double proximal = 1e-7;   ///< makes W regular
constexpr int mostCentred = 6, mostSettled = 20;

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
  size_ = std::max(system.q.norm() / std::sqrt(double(std::max(1, system.contacts()))), 1e-150);
  eps_ = 10 * size_ * size_;
  r_.setZero(system.rows());
  F_.setZero(system.rows());
  rate_.setZero(system.rows());
  held_.setZero(system.contacts());
  for (int i = 0; i < system.contacts(); ++i) {
    const FrictionLaw& law = system.laws[i];
    if (law.discCount > 1) return false;
    if (law.kind == FrictionLaw::Kind::Unilateral) r_[system.first[i]] = std::sqrt(eps_) / discOf(law).mu;
  }
  follow();
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
      rate += (weight_ / rounded * delta(eps_) * kappa_ / size_) * G.col(0);
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

bool FrictionPath::step() {
  double f = evaluate(r_, eps_, weight_);
  while (jumping_ && f <= settled * std::sqrt(eps_)) {
    settle();
    f = evaluate(r_, eps_, weight_);
  }
  differentiate();
  if (!equations_->factorise(proximal)) return false;
  for (int i = 0; i < system_->contacts(); ++i) equations_->contacts()[i].F = F_.segment(system_->first[i], system_->laws[i].size);
  if (!equations_->solve(correction_)) return false;
  if (!jumping_) return stepFollowing(f);
  const double length = descend(f);
  if (length > shortStep) return true;
  if (length == 0 && weight_ == leastWeight) return false;
  weight_ = std::max(leastWeight, 0.7 * weight_);
  return true;
}

bool FrictionPath::stepFollowing(double f) {
  if (f <= nearness * std::sqrt(eps_)) {
    for (int i = 0; i < system_->contacts(); ++i) equations_->contacts()[i].F = rate_.segment(system_->first[i], system_->laws[i].size);
    if (!equations_->solve(prediction_)) return false;
    if (lower()) return true;
  }
  if (f > centre * std::sqrt(eps_) && centred_++ < mostCentred && descend(f) > shortStep) return true;
  jump();
  return true;
}

/// Correction and prediction together, to the smallest eps that the result is near enough to the path at.
bool FrictionPath::lower() {
  for (double share = 1e-3; share<smallest; share = share> 0.2 ? 1 - 0.6 * (1 - share) : 2.5 * share) {
    const double eps = share * eps_;
    trial_ = r_ + correction_ + (eps - eps_) * prediction_;
    if (!(evaluate(trial_, eps, 1) <= nearness * std::sqrt(eps))) continue;
    r_.swap(trial_);
    eps_ = eps;
    centred_ = 0;
    return true;
  }
  return false;
}

/// Newton's step at this eps, halved until |F| falls; its length, or zero.
double FrictionPath::descend(double f) {
  for (double length = 1; length > 1e-3; length *= 0.5) {
    trial_ = r_ + length * correction_;
    if (!(evaluate(trial_, eps_, weight_) <= (1 - 0.1 * length) * f)) continue;
    r_.swap(trial_);
    return length;
  }
  return 0;
}

void FrictionPath::follow() {
  jumping_ = false;
  weight_ = 1;
  centred_ = 0;
}

/// To below the fold, with the shift that the path ended with.
void FrictionPath::jump() {
  evaluate(r_, eps_, 1);
  eps_ *= drop;
  for (int i = 0; i < system_->contacts(); ++i) held_[i] = roundedSlip(i, eps_);
  jumping_ = true;
  weight_ = 0.5;
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
  if (f <= nearness * std::sqrt(eps_)) return follow();
  if (++settled_ % mostSettled == 0) eps_ *= drop;
  if (change < change_) weight_ = 1 - 0.5 * (1 - weight_);
  change_ = change;
}

}
