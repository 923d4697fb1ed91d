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

StrainRod curled(StepMap map, int elements = 7) {
  return {{.length = 1.3, .stiffness = {1.2, 0.7, 0.9}, .weight = {1, -3, 2}, .natural = [](double s) { return Vector3(s, 1 - s, 0.5); }},
          elements,
          map};
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
  for (const StepMap map : bothMaps) {
    StrainRod rod = curled(map);
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

TEST(StrainRod, RefusesWhatIsNoRod) {
  EXPECT_THROW(StrainRod({}, 0), InputError);
  EXPECT_THROW(StrainRod({.length = -1}, 3), InputError);
  EXPECT_THROW(StrainRod({.stiffness = {1, 0, 1}}, 3), InputError);
  EXPECT_THROW(StrainRod({.natural = [](double s) { return Vector3(1 / (s - s), 0, 0); }}, 3), InputError);
}

}
}
