#include "tendril/rods/strain_rod.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>
#include <random>

namespace tendril {
namespace {

using se3::StepMap;
constexpr std::array bothMaps{StepMap::Exponential, StepMap::Cayley};

VectorX randomVector(Eigen::Index size, unsigned seed, double scale) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return uniform(random); });
}

const Pose clamp{so3::exp(Vector3(0.3, -0.5, 0.8)), {0.2, -0.1, 0.4}};

/// Every kind of rod: both maps, with constant and linear strains, and rods that stretch.
std::vector<StrainRod> curledRods(int elements = 7) {
  const RodProperties inextensible{
      .length = 1.3, .stiffness = {1.2, 0.7, 0.9}, .weight = {1, -3, 2}, .natural = [](double s) { return Vector3(s, 1 - s, 0.5); }};
  RodProperties stretching = inextensible;
  stretching.stretchStiffness = Vector3(40, 50, 90);
  return {StrainRod(inextensible, elements, StepMap::Exponential), StrainRod(inextensible, elements, StepMap::Cayley),
          StrainRod(inextensible, elements, StepMap::Cayley, RodWeight::Trapezoid, RodStrains::Linear),
          StrainRod(stretching, elements, StepMap::Exponential), StrainRod(stretching, elements, StepMap::Cayley)};
}

/// y . r + Y : R, dead loads on the end and its directors.
struct DeadLoad {
  Vector3 y = {0.4, -1.1, 0.7};
  Matrix3 Y = (Matrix3() << 0.3, -0.2, 0.9, 0.5, 0.1, -0.6, -0.4, 0.8, 0.2).finished();
  double value(const Pose& end) const { return y.dot(end.x) + Y.cwiseProduct(end.R).sum(); }
  StrainRod::EndFunction at(const Pose& end) const {
    StrainRod::EndFunction f{.y = y};
    for (int I = 0; I < 3; ++I) {
      const Vector3 d = end.R.col(I), load = Y.col(I);
      f.couple += d.cross(load);
      f.curvature += d * load.transpose() - d.dot(load) * Matrix3::Identity();
    }
    return f;
  }
};

double valueOf(StrainRod& rod, const VectorX& u, double scale, const DeadLoad& load) {
  rod.place(clamp, u);
  return scale * rod.energy() + load.value(rod.frame(rod.elements()));
}

TEST(StrainRod, DerivativesAreExact) {
  for (StrainRod& rod : curledRods()) {
    const VectorX u = randomVector(rod.size(), 1, 3);
    const DeadLoad load;
    constexpr double scale = 0.8, e = 1e-4;
    const auto gradientAt = [&](const VectorX& at) {
      VectorX g = VectorX::Zero(rod.size());
      rod.place(clamp, at);
      rod.addEnergyGradient(scale, g);
      rod.addEndGradient(load.at(rod.frame(rod.elements())), 1, g);
      return g;
    };
    const VectorX g = gradientAt(u);
    MatrixX H;
    rod.hessian(scale, load.at(rod.frame(rod.elements())), H);
    EXPECT_LT((H - H.transpose()).norm(), 1e-14 * H.norm());
    VectorX product;
    const VectorX direction = randomVector(rod.size(), 4, 1);
    rod.secondVariation(scale, load.at(rod.frame(rod.elements())), {}).times(direction, product);
    EXPECT_LT((product - H * direction).norm(), 1e-13 * H.norm() * direction.norm());
    for (int i = 0; i < rod.size(); ++i) {
      const VectorX d = e * VectorX::Unit(rod.size(), i);
      const double difference = (8 * (valueOf(rod, u + d, scale, load) - valueOf(rod, u - d, scale, load)) -
                                 (valueOf(rod, u + 2 * d, scale, load) - valueOf(rod, u - 2 * d, scale, load))) /
                                (12 * e);
      EXPECT_NEAR(g[i], difference, 1e-9 * g.norm());
      const VectorX column = (8 * (gradientAt(u + d) - gradientAt(u - d)) - (gradientAt(u + 2 * d) - gradientAt(u - 2 * d))) / (12 * e);
      EXPECT_LT((H.col(i) - column).norm(), 1e-9 * H.norm()) << i;
    }
  }
}

/// Forces at nodes: their potential sum f . r, its gradient and Hessian, and the motions of nodes that both are made of.
TEST(StrainRod, ForcesAtNodesHaveExactDerivatives) {
  for (StrainRod& rod : curledRods()) {
    const VectorX u = randomVector(rod.size(), 4, 3);
    const StrainRod::NodeForces f = randomVector(3 * (rod.elements() + 1), 5, 1).reshaped(3, rod.elements() + 1);
    constexpr double e = 1e-4;
    const auto gradientAt = [&](const VectorX& at) {
      VectorX g = VectorX::Zero(rod.size());
      rod.place(clamp, at);
      rod.addNodeGradient(f, g);
      return g;
    };
    const auto valueAt = [&](const VectorX& at) {
      rod.place(clamp, at);
      double sum = 0;
      for (int k = 0; k <= rod.elements(); ++k) sum += f.col(k).dot(rod.frame(k).x);
      return sum;
    };
    const VectorX g = gradientAt(u);
    VectorX byMotions = VectorX::Zero(rod.size());
    for (int k = 0; k <= rod.elements(); ++k) {
      MatrixX motion = MatrixX::Zero(3, rod.size());
      rod.addNodeMotion(k, 2, motion);
      byMotions += motion.transpose() * f.col(k) / 2;
    }
    EXPECT_LT((g - byMotions).norm(), 1e-13 * g.norm());
    MatrixX H, withEnergy, energy;
    rod.hessian(0, {}, f, H);
    rod.hessian(0.8, {}, f, withEnergy);
    rod.hessian(0.8, {}, energy);
    EXPECT_LT((withEnergy - energy - H).norm(), 1e-13 * energy.norm());
    for (int i = 0; i < rod.size(); ++i) {
      const VectorX d = e * VectorX::Unit(rod.size(), i);
      EXPECT_NEAR(g[i], (8 * (valueAt(u + d) - valueAt(u - d)) - (valueAt(u + 2 * d) - valueAt(u - 2 * d))) / (12 * e), 1e-9 * g.norm());
      const VectorX column = (8 * (gradientAt(u + d) - gradientAt(u - d)) - (gradientAt(u + 2 * d) - gradientAt(u - 2 * d))) / (12 * e);
      EXPECT_LT((H.col(i) - column).norm(), 1e-9 * H.norm()) << i;
    }
  }
}

/// Strains and energy know nothing of where the rod is; frames follow.
TEST(StrainRod, IsInvariantUnderRigidMotions) {
  for (const StepMap map : bothMaps) {
    StrainRod rod({.length = 1.3, .stiffness = {1.2, 0.7, 0.9}}, 9, map);
    const VectorX u = randomVector(rod.size(), 2, 3);
    rod.place({}, u);
    const double energy = rod.energy();
    const Pose end = rod.frame(9);
    rod.place(clamp, u);
    EXPECT_EQ(rod.energy(), energy);
    const Pose moved = clamp * end;
    EXPECT_LT((rod.frame(9).x - moved.x).norm() + (rod.frame(9).R - moved.R).norm(), 1e-14);
  }
}

/// Node distances: exp keeps the arclength of a helix, the genuine Cayley map is short of it by O(h^3) and does not shorten pure twist.
TEST(StrainRod, PureTwistKeepsTheLength) {
  for (const StepMap map : bothMaps) {
    StrainRod rod({.length = 2}, 4, map);
    rod.place({}, VectorX(Eigen::Vector3d(0, 0, 1.7).replicate(4, 1)));
    EXPECT_NEAR(rod.frame(4).x.z(), 2, 1e-14);
    EXPECT_NEAR(rod.turns(), 1.7 * 2 / (2 * M_PI), 1e-14);
  }
}

/// Lengths, stiffnesses and weights in other units are the same rod.
TEST(StrainRod, ScaledIsTheSameRod) {
  for (StrainRod& rod : curledRods()) {
    rod.place(clamp, rod.natural() + randomVector(rod.size(), 5, 0.5));
    StrainRod unit = rod.scaled();
    const double L = rod.properties().length, EI = rod.properties().stiffness.maxCoeff();
    EXPECT_EQ(unit.properties().length, 1);
    EXPECT_NEAR(unit.energy() * EI / L, rod.energy(), 1e-13);
    EXPECT_LT((L * unit.frame(7).x - rod.frame(7).x).norm(), 1e-14);
  }
}

/// Linear strains: nodes of a curve of varying curvature to second order, and of constant curvature as the Cayley map has it.
TEST(StrainRod, LinearStrainsReconstructToSecondOrder) {
  const auto strain = [](double s) { return Vector3(std::cos(2 * s), 0.5 * std::sin(3 * s), 1 - s); };
  const auto xi = [&](double s) {
    Vector6 x;
    x << 0, 0, 1, strain(s);
    return x;
  };
  const Pose exact = se3::reconstruct<4>(StepMap::Exponential, xi, 2, 2000);
  std::vector<double> errors;
  for (const int n : {20, 40, 80}) {
    StrainRod rod({.length = 2}, n, StepMap::Cayley, RodWeight::Trapezoid, RodStrains::Linear);
    VectorX u(rod.size());
    for (int i = 0; i <= n; ++i) u.segment<3>(3 * i) = strain(2.0 * i / n);
    rod.place({}, u);
    errors.push_back((rod.frame(n).x - exact.x).norm());
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.1);
}

/// A rod that stretches under a pull along itself, and shears as it is told.
TEST(StrainRod, StretchesAndShears) {
  StrainRod rod({.length = 2, .stretchStiffness = Vector3(10, 20, 30)}, 4);
  VectorX u = rod.natural();
  for (int i = 0; i < 4; ++i) u.segment<3>(6 * i + 3) = Vector3(0.1, -0.2, 1.3);
  rod.place({}, u);
  EXPECT_LT((rod.frame(4).x - Vector3(0.2, -0.4, 2.6)).norm(), 1e-15);
  EXPECT_NEAR(rod.elasticEnergy(), 10 * 0.01 + 20 * 0.04 + 30 * 0.09, 1e-14);
  EXPECT_LT((rod.stress(2).tail<3>() - Vector3(1, -4, 9)).norm(), 1e-14);
}

TEST(StrainRod, RefusesWhatIsNoRod) {
  EXPECT_THROW(StrainRod({}, 3, StepMap::Exponential, RodWeight::Trapezoid, RodStrains::Linear), InputError);
  EXPECT_THROW(StrainRod({.stretchStiffness = Vector3(1, 1, 0)}, 3), InputError);
  EXPECT_THROW(StrainRod({}, 0), InputError);
  EXPECT_THROW(StrainRod({.length = -1}, 3), InputError);
  EXPECT_THROW(StrainRod({.stiffness = {1, 0, 1}}, 3), InputError);
  EXPECT_THROW(StrainRod({.natural = [](double s) { return Vector3(1 / (s - s), 0, 0); }}, 3), InputError);
}

}
}
