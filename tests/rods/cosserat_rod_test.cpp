#include "tendril/rods/cosserat_rod.h"

#include "rods/cosserat_program.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tendril {
namespace {

constexpr std::array bothModels{CosseratModel::Vertex, CosseratModel::Edge};

VectorX randomVector(Eigen::Index size, unsigned seed, double scale) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return uniform(random); });
}

const Matrix3 cornerTurn = so3::exp(Vector3(0.6, -0.2, 0.4));
constexpr int cornerAt = 3;

/// Different stiffnesses everywhere, curved and stretched at rest, with a corner and forces, in a random shape.
CosseratRod anyRod(CosseratModel model, RodHold begin, RodHold end) {
  CosseratRod rod({.length = 2,
                   .bending = {1.2, 0.7, 0.9},
                   .shearing = {30, 40, 70},
                   .naturalCurvature = [](double s) { return Vector3(0.4, -0.3 * s, 0.2); },
                   .naturalStretch = [](double s) { return Vector3(0.1, 0.05 * s, 0.9); },
                   .weight = {1, -3, 2}},
                  7, model);
  rod.addCorner(cornerAt, cornerTurn);
  rod.addForce(2, {0.5, 1, -2});
  rod.hold(RodEnd::Begin, begin, {1, 2, -1});
  rod.hold(RodEnd::End, end, {0.3, -0.2, 1});
  rod.placeUnstrained({so3::exp(Vector3(0.4, 1.1, -0.3)), {0.3, -0.2, 0.5}});
  rod.loadFactor = 0.8;
  rod.move(randomVector(rod.size(), 5, 0.3));
  return rod;
}

/// Energy of that rod as the strains (7.42), (7.48) have it, functions of directors that need not be orthonormal.
double directorEnergy(const CosseratRod& rod) {
  const CosseratProperties& p = rod.properties();
  const double h = rod.step();
  const auto quadratic = [](const Vector3& C, const Vector3& strain) { return 0.5 * strain.dot(C.cwiseProduct(strain)); };
  const auto bending = [&](const Matrix3& from, const Matrix3& to, double length, double s) {
    const Matrix3 A = from.transpose() * to, skew = A - A.transpose();
    const Vector3 u = 2 / (length * (1 + A.trace())) * Vector3(skew(2, 1), skew(0, 2), skew(1, 0));
    return length * quadratic(p.bending, u - p.naturalCurvature(s));
  };
  const auto stretching = [&](const Matrix3& mean, int i) {
    const Vector3 v = mean.transpose() * (rod.position(i + 1) - rod.position(i)) / h;
    return h * quadratic(p.shearing, v - p.naturalStretch((i + 0.5) * h));
  };
  const auto turned = [&](const Matrix3& R, int vertex) -> Matrix3 { return vertex == cornerAt ? Matrix3(R * cornerTurn) : R; };
  double sum = rod.loadEnergy();
  if (rod.model() == CosseratModel::Vertex) {
    for (int i = 0; i < rod.edges(); ++i) {
      const Matrix3 from = turned(rod.frame(i), i), &to = rod.frame(i + 1);
      sum += bending(from, to, h, (i + 0.5) * h) + stretching(0.5 * (from + to), i);
    }
  } else {
    for (int i = 0; i < rod.edges(); ++i) sum += stretching(rod.frame(i + 1), i);
    for (int k = 0; k < rod.vertices(); ++k)
      sum += bending(turned(rod.frame(k), k), rod.frame(k + 1), k == 0 || k == rod.edges() ? h / 2 : h, k * h);
  }
  return sum;
}

TEST(CosseratRod, DerivativesAreExactForAllSupports) {
  for (const CosseratModel model : bothModels) {
    for (const auto& [begin, end] : {std::pair{RodHold::Free, RodHold::Free}, std::pair{RodHold::Clamped, RodHold::Free},
                                     std::pair{RodHold::Pinned, RodHold::Hinged}, std::pair{RodHold::Hinged, RodHold::Clamped}}) {
      CosseratRod rod = anyRod(model, begin, end);
      CosseratProgram program(rod);
      requireConsistent(program);
      EXPECT_LT(checkDerivatives(program).worst(), 1e-7) << checkDerivatives(program).describe();
    }
  }
}

TEST(CosseratRod, NullSpaceMatrixOfTheDirectorsGivesTheMomentsAndForces) {
  // P^T dV/dq with dV/dq by differences in R^12, the directors free; energies of single segments are functions of the directors.
  constexpr double h = 1e-6;
  for (const CosseratModel model : bothModels) {
    CosseratRod rod = anyRod(model, RodHold::Free, RodHold::Free);
    VectorX g(rod.size()), q(rod.pointSize());
    rod.gradient(g);
    rod.getPoint(q);
    const auto energyAt = [&](const VectorX& at) {
      rod.setPoint(at);
      return directorEnergy(rod);
    };
    EXPECT_NEAR(energyAt(q), rod.energy(), 1e-12 * std::abs(rod.energy()));
    for (const CosseratRod::Unknown& unknown : rod.unknowns()) {
      const Eigen::Index at = unknown.isPosition ? 3 * unknown.index : 3 * rod.vertices() + 9 * unknown.index;
      const Eigen::Index rows = unknown.isPosition ? 3 : 9;
      MatrixX P = MatrixX::Identity(rows, 3);
      for (Eigen::Index k = 0; !unknown.isPosition && k < 3; ++k) P.middleRows<3>(3 * k) = -so3::hat(q.segment<3>(at + 3 * k));
      VectorX slope(rows);
      for (Eigen::Index i = 0; i < rows; ++i) {
        VectorX forth = q, back = q;
        forth[at + i] += h, back[at + i] -= h;
        slope[i] = (energyAt(forth) - energyAt(back)) / (2 * h);
      }
      EXPECT_LT((P.transpose() * slope - g.segment<3>(unknown.offset)).norm(), 2e-7 * (1 + slope.norm()));
    }
  }
}

/// A rigid motion changes neither energy nor strains, and turns forces and maps.
TEST(CosseratRod, IsObjective) {
  const Pose motion{so3::exp(Vector3(1.2, -0.7, 2)), {3, -2, 1}};
  for (const CosseratModel model : bothModels) {
    CosseratRod rod = anyRod(model, RodHold::Free, RodHold::Free);
    CosseratRod moved = rod;
    VectorX q(rod.pointSize());
    rod.getPoint(q);
    for (int k = 0; k < rod.vertices(); ++k) q.segment<3>(3 * k) = motion * rod.position(k);
    for (int k = 0; k < rod.frames(); ++k) Eigen::Map<Matrix3>(q.data() + 3 * rod.vertices() + 9 * k) = motion.R * rod.frame(k);
    moved.setPoint(q);
    EXPECT_NEAR(moved.elasticEnergy(), rod.elasticEnergy(), 1e-12 * rod.elasticEnergy());
    for (int i = 0; i < rod.edges(); ++i) {
      const Vector3 n = motion.R * rod.force(i), m = motion.R * rod.angularMap(i) + motion.x.cross(n);
      EXPECT_LT((moved.force(i) - n).norm(), 1e-12 * n.norm());
      EXPECT_LT((moved.angularMap(i) - m).norm(), 1e-11 * m.norm());
      EXPECT_NEAR(moved.isotropyMap(i), rod.isotropyMap(i), 1e-11 * m.norm());
    }
  }
}

/// A rod of constant natural curvature is a discrete helix without energy, each step a turn by 2 atan(|u0| h/2).
TEST(CosseratRod, HelixWithoutLoadHasNoEnergy) {
  const Vector3 u0(3, -4, 5);
  for (const CosseratModel model : bothModels) {
    CosseratRod rod({.length = 2, .naturalCurvature = [&](double) { return u0; }}, 21, model);
    EXPECT_LT(rod.elasticEnergy(), 1e-25);
    const double h = rod.step(), angle = 2 * std::atan(u0.norm() * h / 2);
    for (int k = 1; k + 1 < rod.bends(); ++k) {
      const Vector3 turn = so3::log(rod.frame(k).transpose() * rod.frame(k + 1));
      EXPECT_LT((turn - angle * u0.normalized()).norm(), 1e-13);
    }
    VectorX g(rod.size());
    rod.gradient(g);
    EXPECT_LT(g.norm(), 1e-12);
  }
}

/// The energy grows without bound towards half a turn between neighbours, as (tan(phi/2))^2.
TEST(CosseratRod, CurvatureIsTwiceTheTangentOfHalfTheAngle) {
  CosseratRod rod({.length = 1}, 2, CosseratModel::Vertex);
  VectorX q(rod.pointSize());
  rod.getPoint(q);
  for (const double phi : {1e-9, 0.3, 2.0, 3.0}) {
    Eigen::Map<Matrix3>(q.data() + 6 + 9) = so3::exp(Vector3(0, 0, phi));
    rod.setPoint(q);
    EXPECT_NEAR(rod.curvature(0)[2], 2 * std::tan(phi / 2), 1e-12 * std::tan(phi / 2));
  }
}

TEST(CosseratRod, CornersStandWithoutEnergy) {
  const Matrix3 turn = so3::exp(Vector3(M_PI / 2, 0, 0));
  for (const auto& [model, treatment] :
       {std::pair{CosseratModel::Vertex, RodCorner::ReferenceRotation}, std::pair{CosseratModel::Edge, RodCorner::ReferenceRotation},
        std::pair{CosseratModel::Edge, RodCorner::NaturalCurvature}}) {
    CosseratRod rod({.length = 4}, 9, model);
    rod.addCorner(4, turn, treatment);
    rod.placeUnstrained({});
    EXPECT_LT(rod.elasticEnergy(), 1e-25);
    EXPECT_LT((rod.position(4) - Vector3(0, 0, 2)).norm(), 1e-13);
    EXPECT_LT((rod.position(8) - Vector3(0, -2, 2)).norm(), 1e-13);
  }
}

TEST(CosseratRod, RefusesWhatIsNoRod) {
  EXPECT_THROW(CosseratRod({.length = -1}, 5), InputError);
  EXPECT_THROW(CosseratRod({.bending = {1, 0, 1}}, 5), InputError);
  EXPECT_THROW(CosseratRod({.shearing = {1, 0, 1}}, 5), InputError);
  EXPECT_THROW(CosseratRod({}, 1), InputError);
  CosseratRod rod({}, 5, CosseratModel::Vertex);
  EXPECT_THROW(rod.addForce(5, Vector3::Zero()), InputError);
  EXPECT_THROW(rod.addCorner(0, Matrix3::Identity()), InputError);
  EXPECT_THROW(rod.addCorner(2, 2 * Matrix3::Identity()), InputError);
  EXPECT_THROW(rod.addCorner(2, Matrix3::Identity(), RodCorner::NaturalCurvature), InputError);
}

}
}
