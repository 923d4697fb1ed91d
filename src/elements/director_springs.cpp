#include "frame_strains.h"
#include "tendril/elements/springs.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <type_traits>

namespace tendril {

namespace {

/// A scalar function of two frames with its derivatives.
struct ScalarStrain {
  double value = 0;
  Vector24 gradient = Vector24::Zero();
  Matrix24 hessian = Matrix24::Zero();
};

/// Distance of the origins.
struct OriginDistance {
  static ScalarStrain strain(const DirectorFrames& Y, double, bool wantsHessian) {
    ScalarStrain s;
    const Vector3 x = Y[1].col(0) - Y[0].col(0);
    s.value = x.norm();
    const Vector3 n = x / s.value;
    s.gradient.segment<3>(0) = -n, s.gradient.segment<3>(12) = n;
    if (!wantsHessian) return s;
    const Matrix3 across = (Matrix3::Identity() - n * n.transpose()) / s.value;
    s.hessian.block<3, 3>(0, 0) = s.hessian.block<3, 3>(12, 12) = across;
    s.hessian.block<3, 3>(0, 12) = s.hessian.block<3, 3>(12, 0) = -across;
    return s;
  }
};

/// Discrete derivative of V = k (l - l0)^2 / 2 in l^2: D V = k (1 - 2 l0 / (l_0 + l_1)) x, x the vector between the origins halfway.
void discreteGradientOfDistance(double k, double rest, const DirectorFrames& Y0, const DirectorFrames& Y1, Vector24& gradient,
                                Matrix24* byEnd) {
  const Vector3 x0 = Y0[1].col(0) - Y0[0].col(0), x1 = Y1[1].col(0) - Y1[0].col(0), x = 0.5 * (x0 + x1);
  const double sum = x0.norm() + x1.norm(), factor = rest > 0 ? k * (1 - 2 * rest / sum) : k;
  gradient.setZero();
  gradient.segment<3>(0) = -factor * x, gradient.segment<3>(12) = factor * x;
  if (!byEnd) return;
  Matrix3 K = 0.5 * factor * Matrix3::Identity();
  if (rest > 0) K += 2 * k * rest / (sum * sum) * x * x1.normalized().transpose();
  byEnd->setZero();
  byEnd->block<3, 3>(0, 0) = byEnd->block<3, 3>(12, 12) = K;
  byEnd->block<3, 3>(0, 12) = byEnd->block<3, 3>(12, 0) = -K;
}

/// Angle about the third axes, tan phi = (R21 - R12) / (R11 + R22) with R_ij = d_i^1 . d_j^2: AxisAngle where frames are orthonormal.
struct AngleAboutAxis {
  static ScalarStrain strain(const DirectorFrames& Y, double near, bool wantsHessian) {
    static const std::array<Matrix8, 2> W = weights();
    const Columns columns = columnsOf(Y), onSine = columns * W[0], onCosine = columns * W[1];
    const double sine = 0.5 * columns.cwiseProduct(onSine).sum(), cosine = 0.5 * columns.cwiseProduct(onCosine).sum();
    const double square = sine * sine + cosine * cosine;
    const Eigen::Map<const Vector24> s(onSine.data()), c(onCosine.data());
    ScalarStrain phi;
    phi.value = near + std::remainder(std::atan2(sine, cosine) - near, 2 * std::numbers::pi);
    phi.gradient = (cosine * s - sine * c) / square;
    if (!wantsHessian) return phi;
    addHessian(cosine * W[0] - sine * W[1], 1 / square, phi.hessian);
    const double pure = 2 * sine * cosine / (square * square), mixed = (sine * sine - cosine * cosine) / (square * square);
    phi.hessian += pure * (c * c.transpose() - s * s.transpose()) + mixed * (s * c.transpose() + c * s.transpose());
    return phi;
  }

 private:
  static std::array<Matrix8, 2> weights() {
    std::array<Matrix8, 2> W{Matrix8::Zero(), Matrix8::Zero()};
    addProduct({2, 5}, 1, W[0]);
    addProduct({1, 6}, -1, W[0]);
    addProduct({1, 5}, 1, W[1]);
    addProduct({2, 6}, 1, W[1]);
    return W;
  }
};

struct SpringMember {
  std::array<DirectorFrame, 2> frames;
  double factor = 0; ///< stiffness, or damping
  double rest = 0;
};

/// V = k (e - e0)^2 / 2.
template <class Strain> class ElasticSprings final : public DirectorPotential {
 public:
  void add(const SpringMember& member) { members_.push_back(member); }
  int size() const override { return int(members_.size()); }
  const std::array<DirectorFrame, 2>& frames(int member) const override { return members_[member].frames; }
  double evaluate(int member, const DirectorFrames& Y, double, Vector24* gradient, Matrix24* hessian) const override {
    const SpringMember& spring = members_[member];
    const ScalarStrain e = Strain::strain(Y, spring.rest, hessian);
    const double stretch = e.value - spring.rest, tension = spring.factor * stretch;
    if (gradient) *gradient = tension * e.gradient;
    if (hessian) *hessian = tension * e.hessian + spring.factor * e.gradient * e.gradient.transpose();
    return 0.5 * tension * stretch;
  }
  void discreteGradient(int member, const DirectorFrames& Y0, const DirectorFrames& Y1, double t, double length, Vector24& gradient,
                        Matrix24* byEnd) const override {
    if constexpr (std::is_same_v<Strain, OriginDistance>) {
      discreteGradientOfDistance(members_[member].factor, members_[member].rest, Y0, Y1, gradient, byEnd);
    } else {
      DirectorPotential::discreteGradient(member, Y0, Y1, t, length, gradient, byEnd);
    }
  }

 private:
  std::vector<SpringMember> members_;
};

/// F = -c e' de/dy.
template <class Strain> class Dampers final : public DirectorForce {
 public:
  void add(const SpringMember& member) { members_.push_back(member); }
  int size() const override { return int(members_.size()); }
  const std::array<DirectorFrame, 2>& frames(int member) const override { return members_[member].frames; }
  void evaluate(int member, const DirectorFrames& Y, const DirectorFrames& rate, double, Vector24& force, Matrix24* stiffness,
                Matrix24* damping) const override {
    const SpringMember& damper = members_[member];
    const ScalarStrain e = Strain::strain(Y, damper.rest, stiffness);
    const Columns columns = columnsOf(rate);
    const Eigen::Map<const Vector24> ydot(columns.data());
    const double speed = e.gradient.dot(ydot);
    force = -damper.factor * speed * e.gradient;
    if (damping) *damping = -damper.factor * e.gradient * e.gradient.transpose();
    if (!stiffness) return;
    const Vector24 turning = e.hessian * ydot;
    *stiffness = -damper.factor * (speed * e.hessian + e.gradient * turning.transpose());
  }

 private:
  std::vector<SpringMember> members_;
};

/// Springs of free length zero, V = k |x2 - x1|^2 / 2.
class PullingSprings final : public DirectorPotential {
 public:
  void add(const SpringMember& member) { members_.push_back(member); }
  int size() const override { return int(members_.size()); }
  const std::array<DirectorFrame, 2>& frames(int member) const override { return members_[member].frames; }
  double evaluate(int member, const DirectorFrames& Y, double, Vector24* gradient, Matrix24* hessian) const override {
    const double k = members_[member].factor;
    const Vector3 x = Y[1].col(0) - Y[0].col(0);
    if (gradient) {
      gradient->setZero();
      gradient->segment<3>(0) = -k * x, gradient->segment<3>(12) = k * x;
    }
    if (hessian) {
      hessian->setZero();
      for (const auto& [row, column] : {std::pair{0, 0}, {12, 12}, {0, 12}, {12, 0}})
        hessian->block<3, 3>(row, column).diagonal().setConstant(row == column ? k : -k);
    }
    return 0.5 * k * x.squaredNorm();
  }
  void discreteGradient(int member, const DirectorFrames& Y0, const DirectorFrames& Y1, double, double, Vector24& gradient,
                        Matrix24* byEnd) const override {
    discreteGradientOfDistance(members_[member].factor, 0, Y0, Y1, gradient, byEnd);
  }

 private:
  std::vector<SpringMember> members_;
};

std::array<DirectorFrame, 2> framesOf(const MarkerPair& pair) { return {pair.first()->directors(), pair.second().directors()}; }

template <class Kind> void addIfAny(DirectorSystem& system, std::unique_ptr<Kind> kind) {
  if (kind->size() > 0) system.add(std::move(kind));
}

}

void LinearSprings::embed(DirectorSystem& system) const {
  auto springs = std::make_unique<ElasticSprings<OriginDistance>>();
  auto pulling = std::make_unique<PullingSprings>();
  auto dampers = std::make_unique<Dampers<OriginDistance>>();
  auto dampersOfOrigins = std::make_unique<ViscousFrames<OriginStrains>>();
  for (const Spring& spring : springs_) {
    const auto frames = framesOf(spring.pair);
    const bool isPulling = spring.freeLength == 0;
    if (isPulling)
      pulling->add({frames, spring.stiffness});
    else
      springs->add({frames, spring.stiffness, spring.freeLength});
    if (spring.damping == 0) continue;
    if (isPulling)
      dampersOfOrigins->add(frames, spring.damping * Matrix3::Identity());
    else
      dampers->add({frames, spring.damping});
  }
  addIfAny(system, std::move(springs));
  addIfAny(system, std::move(pulling));
  addIfAny(system, std::move(dampers));
  addIfAny(system, std::move(dampersOfOrigins));
}

void TorsionSprings::embed(DirectorSystem& system) const {
  auto springs = std::make_unique<ElasticSprings<AngleAboutAxis>>();
  auto dampers = std::make_unique<Dampers<AngleAboutAxis>>();
  for (const Spring& spring : springs_) {
    springs->add({framesOf(spring.pair), spring.stiffness, spring.restAngle});
    if (spring.damping > 0) dampers->add({framesOf(spring.pair), spring.damping, spring.restAngle});
  }
  addIfAny(system, std::move(springs));
  addIfAny(system, std::move(dampers));
}

void Bushings::embed(DirectorSystem& system) const {
  auto springs = std::make_unique<ElasticFrames>();
  auto dampers = std::make_unique<ViscousFrames<FrameStrains>>();
  for (const Bushing& bushing : bushings_) {
    std::array<DirectorFrame, 2> frames = framesOf(bushing.pair);
    frames[0] = frames[0].moved(bushing.reference.inverse());
    springs->add(frames, Vector6::Zero(), bushing.stiffness);
    if (!bushing.damping.isZero(0)) dampers->add(frames, bushing.damping);
  }
  addIfAny(system, std::move(springs));
  addIfAny(system, std::move(dampers));
}

}
