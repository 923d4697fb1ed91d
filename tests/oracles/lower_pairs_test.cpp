#include "lower_pairs.h"

#include <gtest/gtest.h>

#include <random>

namespace tendril::oracles {
namespace {

using Matrix3d = Eigen::Matrix3d;

class Numbers {
 public:
  double within(double bound) { return std::uniform_real_distribution<>(-bound, bound)(engine_); }
  VectorXd vector(int n, double bound) {
    return VectorXd::NullaryExpr(n, [&](Eigen::Index) { return within(bound); });
  }
  DirectorBody body() { return {vector(3, 1), LowerPairFormulas::exp(vector(3, 1))}; }

 private:
  std::mt19937 engine_{7};
};

/// A pair of bodies anywhere, moved together so that the pair holds.
struct Example {
  Example(PairFormula kind, Numbers& numbers) {
    pair = {kind, numbers.vector(3, 1), numbers.vector(3, 1), LowerPairFormulas::exp(numbers.vector(3, 2))};
    one = numbers.body(), two = numbers.body();
    const auto g = pair.geometry(one, two);
    if (kind == PairFormula::Cylindrical || kind == PairFormula::Prismatic)
      two.phi -= g.delta - 0.4 * g.n;
    else if (kind == PairFormula::Planar)
      two.phi -= g.n.dot(g.delta) * g.n;
    else
      two.phi -= g.delta;
  }
  LowerPairFormulas pair;
  DirectorBody one, two;
};

constexpr PairFormula kinds[] = {PairFormula::Spherical,   PairFormula::RelativeRevolute, PairFormula::Revolute,
                                 PairFormula::Cylindrical, PairFormula::Prismatic,        PairFormula::Planar};

TEST(LowerPairs, UpdatesHoldTheConstraintsWhateverTheirSize) {
  Numbers numbers;
  for (PairFormula kind : kinds) {
    SCOPED_TRACE(int(kind));
    for (int i = 0; i < 20; ++i) {
      const Example e(kind, numbers);
      DirectorBody one = e.one, two = e.two;
      e.pair.move(numbers.vector(6 + e.pair.freedom(), 0.5), one, two);
      EXPECT_LT(e.pair.constraints(one, two, e.one, e.two).lpNorm<Eigen::Infinity>(), 1e-14);
    }
  }
}

TEST(LowerPairs, NullSpaceMatrixIsTheDerivativeOfTheUpdate) {
  Numbers numbers;
  constexpr double h = 1e-5;
  for (PairFormula kind : kinds) {
    SCOPED_TRACE(int(kind));
    const Example e(kind, numbers);
    const int n = 6 + e.pair.freedom();
    const MatrixXd P = e.pair.secondTwist(e.one, e.two);
    for (int i = 0; i < n; ++i) {
      DirectorBody one[2] = {e.one, e.one}, two[2] = {e.two, e.two};
      for (int side = 0; side < 2; ++side) e.pair.move(VectorXd::Unit(n, i) * (side ? h : -h), one[side], two[side]);
      const Matrix3d spin = (two[1].d - two[0].d) * e.two.d.transpose() / (2 * h);
      Eigen::Matrix<double, 6, 1> twist;
      twist << (two[1].phi - two[0].phi) / (2 * h), spin(2, 1), spin(0, 2), spin(1, 0);
      EXPECT_LT((twist - P.col(i)).lpNorm<Eigen::Infinity>(), 1e-9);
    }
  }
}

/// What the printed updates leave of the constraints is of second order in the step: the axis turns while body 1 moves along it.
TEST(LowerPairs, PrintedUpdatesOfCylindricalAndPlanarPairsViolateTheirConstraints) {
  Numbers numbers;
  for (PairFormula kind : {PairFormula::Cylindrical, PairFormula::Planar}) {
    double sum = 0;
    constexpr int samples = 200;
    for (int i = 0; i < samples; ++i) {
      const Example e(kind, numbers);
      DirectorBody one = e.one, two = e.two;
      const VectorXd mu = numbers.vector(6 + e.pair.freedom(), 0.3);
      e.pair.moveAsPrinted(mu, one, two);
      const auto before = e.pair.geometry(e.one, e.two), after = e.pair.geometry(one, two);
      const VectorXd violation = e.pair.constraints(one, two, e.one, e.two);
      const Vector3d u = mu.head<3>(), lost = kind == PairFormula::Cylindrical ? Vector3d(before.n.dot(u) * before.n)
                                                                               : Vector3d(u - before.n.dot(u) * before.n);
      if (kind == PairFormula::Cylindrical) {
        EXPECT_NEAR(violation[0], -after.m1.dot(lost), 1e-14);
        EXPECT_NEAR(violation[1], -after.m2.dot(lost), 1e-14);
      } else {
        EXPECT_NEAR(violation[0], -after.n.dot(lost), 1e-14);
      }
      sum += violation.squaredNorm();
    }
    const double typical = std::sqrt(sum / samples);
    RecordProperty(kind == PairFormula::Cylindrical ? "cylindrical" : "planar", std::to_string(typical));
    EXPECT_GT(typical, 1e-2);
    EXPECT_LT(typical, 1e-1);
  }
}

/// Without the identity given back, a revolute joint slides along its axis and a prismatic one turns about it.
TEST(LowerPairs, RevoluteAndPrismaticPairsDoNotFollowByEliminationAlone) {
  Numbers numbers;
  for (PairFormula kind : {PairFormula::Revolute, PairFormula::Prismatic}) {
    const Example e(kind, numbers);
    const auto g = e.pair.geometry(e.one, e.two);
    const auto largestViolation = [&](const MatrixXd& P) {
      double largest = 0;
      for (int i = 0; i < P.cols(); ++i) {
        Eigen::Matrix<double, 6, 1> t1 = Eigen::Matrix<double, 6, 1>::Zero();
        if (i < 6) t1[i] = 1;
        const Vector3d w1 = t1.tail<3>(), w2 = P.col(i).tail<3>();
        const Vector3d slip = Vector3d(P.col(i).head<3>()) + w2.cross(g.rho2) - t1.head<3>() - w1.cross(g.rho1 + g.delta);
        largest = std::max(largest, kind == PairFormula::Revolute ? slip.norm() : (w2 - w1).norm());
      }
      return largest;
    };
    EXPECT_LT(largestViolation(e.pair.secondTwist(e.one, e.two)), 1e-14);
    EXPECT_GT(largestViolation(e.pair.secondTwistByElimination(e.one, e.two)), 0.1);
  }
}

/// exp(-(n x hat n) theta), read as it is printed, is no rotation; what removes the spin about the axis is exp(-hat((n . theta) n)).
TEST(LowerPairs, PrintedRotationOfTheAxisIsNoRotation) {
  Numbers numbers;
  const Vector3d n = numbers.vector(3, 1).normalized(), theta = numbers.vector(3, 0.3);
  const Matrix3d nilpotent = n * n.cross(theta).transpose(), printed = Matrix3d::Identity() - nilpotent; // its square is zero
  EXPECT_LT((nilpotent * nilpotent).norm(), 1e-15);
  EXPECT_GT((printed.transpose() * printed - Matrix3d::Identity()).norm(), 0.1);
}

}
}
