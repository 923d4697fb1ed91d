#include "strand.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(Strand, WiresTouchTheCoreAlone) { EXPECT_GT(Strand{}.slantedGap(), 0); }

TEST(Strand, StiffnessIsTheDerivativeOfTheForces) {
  const Strand strand;
  const Matrix2d K = axialStiffness(strand);
  const Residual forces = [&](const VectorXd& x) { return VectorXd(axialForces(strand, x[0], x[1])); };
  const double e = 1e-5, w = 1e-3;
  EXPECT_LT(axialForces(strand, 0, 0).norm(), 1e-6);
  EXPECT_LT(((forces(Vector2d(e, 0)) - forces(Vector2d(-e, 0))) / (2 * e) - K.col(0)).norm(), 1e-6 * K.col(0).norm());
  EXPECT_LT(((forces(Vector2d(0, w)) - forces(Vector2d(0, -w))) / (2 * w) - K.col(1)).norm(), 1e-6 * K.col(1).norm());
  EXPECT_LT(std::abs(K(0, 1) - K(1, 0)), 1e-12 * K(0, 1));
}

/// Love's equilibrium of a thin wire that is a helix before and after: shear N = H K - G T, pressure X = N T - P K, with tension P, bending
/// moment G, torque H; resultants on the axis.
TEST(Strand, ForcesAreThoseOfLovesEquilibrium) {
  const Strand strand;
  const double r = strand.helixRadius(), e = 1e-6, w = 2e-5;
  const Vector3d q = wireStrains(strand, e, w), q0 = wireStrains(strand, 0, 0);
  const double I = Strand::secondMoment(strand.wireRadius), P = strand.E * Strand::area(strand.wireRadius) * (q[0] - 1);
  const double G = strand.E * I * (q[1] - q0[1]), H = 2 * strand.G() * I * (q[2] - q0[2]);
  const double a = std::atan2((1 + e) * strand.pitch, r * (2 * M_PI + w * strand.pitch)), s = std::sin(a), c = std::cos(a);
  const double K = c * c / r, T = s * c / r, N = H * K - G * T;
  const Vector2d wire(P * s + N * c, H * s + G * c + P * r * c - N * r * s);
  const double A = Strand::area(strand.coreRadius), J = 2 * Strand::secondMoment(strand.coreRadius);
  const Vector2d expected = strand.wires * wire + Vector2d(strand.E * A * e, strand.G() * J * w);
  const Vector2d forces = axialForces(strand, e, w);
  EXPECT_NEAR(forces[0] / expected[0], 1, 1e-5);
  EXPECT_NEAR(forces[1] / expected[1], 1, 1e-5);
  EXPECT_LT(N * T - P * K, 0) << "the core pushes outwards";
}

TEST(Strand, LongLaysAreABundleOfParallelWires) {
  Strand strand;
  strand.pitch = 1e4;
  const double A = Strand::area(strand.coreRadius) + 6 * Strand::area(strand.wireRadius),
               I = Strand::secondMoment(strand.coreRadius) + 6 * Strand::secondMoment(strand.wireRadius), r = strand.helixRadius();
  const Matrix2d K = axialStiffness(strand);
  EXPECT_NEAR(K(0, 0), strand.E * A, 1e-8 * K(0, 0));
  EXPECT_NEAR(K(1, 1), 2 * strand.G() * I, 1e-8 * K(1, 1));
  EXPECT_NEAR(slidingBendingStiffness(strand), strand.E * I, 1e-8 * strand.E * I);
  // Parallel axes (Steiner): six wires at the distance r, on average at r^2/2 from the neutral axis.
  const double steiner = strand.E * (I + 3 * Strand::area(strand.wireRadius) * r * r);
  EXPECT_NEAR(stickingBendingStiffness(strand), steiner, 1e-8 * steiner);
}

TEST(Strand, FrictionMomentIsASumOverWires) {
  // Six wires at any phase, tension by integrating the friction from the flank, where there is none left.
  const Strand strand;
  const double a = strand.layAngle(), r = strand.helixRadius(), mu = 0.2, tension = 1000;
  double mean = 0;
  const int phases = 200;
  for (int k = 0; k < phases; ++k) {
    for (int i = 0; i < 6; ++i) {
      const double psi = std::remainder(2 * M_PI * (i / 6. + k / (6. * phases)), 2 * M_PI), length = r / std::cos(a);
      const double friction = mu * tension * std::pow(std::cos(a), 2) / r * length * (M_PI / 2 - std::abs(psi));
      mean += friction * r * std::cos(psi) * std::sin(a) / phases;
    }
  }
  EXPECT_NEAR(frictionMoment(strand, mu, tension), mean, 1e-4 * mean);
}

TEST(Strand, FrictionMomentBetweenClampsTakesTheWorkOfSlip) {
  const Strand strand;
  const double a = strand.layAngle(), c = std::cos(a), r = strand.helixRadius(), mu = 0.2, tension = 1000;
  double work = 0; // per curvature and length of the axis
  const int places = 10000;
  for (int i = 0; i < 6; ++i) {
    const double start = 2 * M_PI * i / 6;
    double slip = 0;
    for (int k = 0; k < places; ++k) {
      // The strain of fibres, s^2 r cos(psi), adds up along the wire; r d(psi) = c ds.
      const double psi = start + 2 * M_PI * (k + 0.5) / places, ds = 2 * M_PI / places * r / c,
                   strain = std::pow(std::sin(a), 2) * r * std::cos(psi);
      work += mu * tension * c * c / r * std::abs(slip + strain * ds / 2) * ds / strand.pitch;
      slip += strain * ds;
    }
    EXPECT_NEAR(slip, 0, 1e-12);
  }
  EXPECT_NEAR(clampedFrictionMoment(strand, mu, tension), work, 1e-4 * work);
}

}
}
