#include "rig.h"
#include "support/allocation_counter.h"
#include "support/dense.h"

#include "tendril/elements/beams.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/elements/mechanism.h"
#include "tendril/elements/springs.h"
#include "tendril/lie/so3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/director_system.h"
#include "tendril/model/error.h"

#include <Eigen/LU>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

using namespace tendril;
using namespace tendril::test;

namespace {

VectorX randomVector(Eigen::Index size, unsigned seed, double scale = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  VectorX v(size);
  for (double& x : v) x = uniform(random);
  return v;
}

Matrix6 someMatrix(unsigned seed) {
  Matrix6 root;
  root.reshaped() = randomVector(36, seed);
  return root * root.transpose();
}

State randomState(const Model& model, unsigned seed, double size = 0.4) {
  State state = model.initialState();
  state.t = 0.3;
  model.retract(state.q, randomVector(model.nv(), seed, size), state.q);
  state.v = randomVector(model.nv(), seed + 1);
  state.a.setZero(model.nv());
  state.lambda = randomVector(model.nc(), seed + 2);
  return state;
}

/// A configuration with directors that are neither of length one nor perpendicular, as halfway between two nodes in time.
VectorX disturbed(const Model& model, unsigned seed) { return randomState(model, seed).q + randomVector(model.nq(), seed + 7, 0.15); }

VectorX moved(const Model& model, const VectorX& q, const Pose& by) {
  VectorX result = q;
  for (const Block& block : model.blocks()) {
    for (int i = 0; i < 4; ++i) result.segment<3>(block.q + 3 * i) = by.R * q.segment<3>(block.q + 3 * i);
    result.segment<3>(block.q) += by.x;
  }
  return result;
}

enum class Kind { Linear, LinearFreeLengthZero, Torsion, Bushing };
constexpr Kind springKinds[] = {Kind::Linear, Kind::LinearFreeLengthZero, Kind::Torsion, Kind::Bushing};

void addSpring(ModelBuilder& builder, Kind kind, const Marker& a, const Marker& b) {
  const std::string name = "spring " + std::to_string(int(kind));
  switch (kind) {
  case Kind::Linear:
    builder.term<LinearSprings>().add(name, a, b, {3, 0.7, 0.4});
    break;
  case Kind::LinearFreeLengthZero:
    builder.term<LinearSprings>().add(name, a, b, {3, 0.7, 0.0});
    break;
  case Kind::Torsion:
    builder.term<TorsionSprings>().add(name, a, b, {3, 0.7, 0.3});
    break;
  case Kind::Bushing:
    builder.term<Bushings>().add(name, a, b, someMatrix(1), someMatrix(2), Bushings::Rest::Initial);
    break;
  }
}

void addLoads(Rig& rig, const std::string& marker) {
  rig.builder.term<Loads>().add("dead", rig.marker(marker), LoadDirection::Dead, {1, -2, 0.5}, {0.3, 0.4, -0.7}, wavy(1));
  rig.builder.term<Loads>().add("follower", rig.marker(marker), LoadDirection::Follower, {0.4, 1.5, -1}, {-0.6, 0.2, 0.9}, wavy(0.5));
}

SectionProperties someSection(double dampingTime = 0.2) {
  Matrix6 mass = Matrix6::Zero();
  mass.diagonal() << 1.3, 1.3, 1.3, 0.05, 0.02, 0.03;
  return SectionProperties::general(someMatrix(5), mass, dampingTime);
}

/// A curved beam of three elements with loads along it.
Mechanism curvedBeam(BeamModel model = BeamModel::SimoReissner, int elements = 3, bool isLoaded = true) {
  MechanismBuilder builder;
  const auto beam = builder.beam("beam", Curve::helix({0, 0, 0}, {0, 0, 1}, {1, 0, 0}, 1, 0.4, 0.4), someSection(),
                                 {.elements = elements, .model = model});
  if (isLoaded) {
    Vector6 perLength;
    perLength << 1, 2, -1, 0.3, 0.2, -0.5;
    builder.distributed(beam, perLength, LoadDirection::Dead, wavy(1));
    builder.distributed(beam, perLength, LoadDirection::Follower, wavy(1));
  }
  return builder.build();
}

/// Energy -> gradient -> Hessian, and the derivatives of forces and constraints, along random directions by central differences.
void checkDerivatives(const Model& model, unsigned seed) {
  const DirectorSystem system(model);
  const VectorX q = disturbed(model, seed), rate = randomVector(system.size(), seed + 20), lambda = randomVector(system.constraints(), 5);
  const double t = 0.3, h = 1e-5;
  VectorX gradient = VectorX::Zero(system.size()), force = gradient, g, gRate;
  SparseMatrix H = system.matrix(), K = system.matrix(), C = system.matrix(), G = system.gradient(), W = system.matrix();
  system.addPotentialGradient(q, t, 1, gradient);
  system.addPotentialHessian(q, t, 1, H);
  system.addForces(q, rate, t, 1, force, &K, &C);
  system.constraint(q, t, g);
  system.constraintGradient(q, t, G);
  system.constraintRate(q, t, gRate);
  system.addConstraintHessian(lambda, t, 1, W);
  const auto gradientAt = [&](const VectorX& at) {
    VectorX result = VectorX::Zero(system.size());
    system.addPotentialGradient(at, t, 1, result);
    return result;
  };
  const auto forceAt = [&](const VectorX& at, const VectorX& speed) {
    VectorX result = VectorX::Zero(system.size());
    system.addForces(at, speed, t, 1, result);
    return result;
  };
  const auto constraintAt = [&](const VectorX& at, double time) {
    VectorX result;
    system.constraint(at, time, result);
    return result;
  };
  const auto constraintForceAt = [&](const VectorX& at) -> VectorX {
    SparseMatrix gradientThere = system.gradient();
    system.constraintGradient(at, t, gradientThere);
    return gradientThere.transpose() * lambda;
  };
  const double size = 1 + gradient.norm() + MatrixX(H).norm() + force.norm();
  for (unsigned k = 0; k < 4; ++k) {
    const VectorX d = randomVector(system.size(), seed + 100 + k);
    const double slope = (system.potential(q + h * d, t) - system.potential(q - h * d, t)) / (2 * h);
    EXPECT_NEAR(gradient.dot(d), slope, 1e-8 * size);
    EXPECT_LT((H * d - (gradientAt(q + h * d) - gradientAt(q - h * d)) / (2 * h)).norm(), 1e-8 * size);
    EXPECT_LT((K * d - (forceAt(q + h * d, rate) - forceAt(q - h * d, rate)) / (2 * h)).norm(), 1e-8 * size);
    EXPECT_LT((C * d - (forceAt(q, rate + h * d) - forceAt(q, rate - h * d)) / (2 * h)).norm(), 1e-8 * size);
    EXPECT_LT((G * d - (constraintAt(q + h * d, t) - constraintAt(q - h * d, t)) / (2 * h)).norm(), 1e-8 * size);
    EXPECT_LT((W * d - (constraintForceAt(q + h * d) - constraintForceAt(q - h * d)) / (2 * h)).norm(), 1e-8 * size);
  }
  EXPECT_LT((gRate - (constraintAt(q, t + h) - constraintAt(q, t - h)) / (2 * h)).norm(), 1e-8 * size);
  EXPECT_LT(MatrixX(H - SparseMatrix(H.transpose())).norm(), 1e-13 * size);
}

/// What acts between two frames alone: V does not change under a rigid motion, and forces are in balance.
void checkInvariance(const Model& model, unsigned seed) {
  const DirectorSystem system(model);
  const VectorX q = disturbed(model, seed), qdot = randomVector(system.size(), seed + 3);
  const Pose by = poseOf(0.7, -1.2, 0.4, 0.8, -0.5, 1.1);
  const double V = system.potential(q, 0);
  EXPECT_NEAR(system.potential(moved(model, q, by), 0), V, 1e-13 * (1 + std::abs(V)));
  VectorX gradient = VectorX::Zero(system.size()), force = gradient;
  system.addPotentialGradient(q, 0, 1, gradient);
  system.addForces(q, qdot, 0, 1, force);
  for (const VectorX& f : {gradient, force}) {
    const Momentum sum = system.momentum(q, f);
    EXPECT_LT(sum.linear.norm() + sum.angular.norm(), 1e-13 * (1 + f.norm()));
  }
}

/// The discrete derivative D V takes up V(q1) - V(q0) along q1 - q0, has no moment about the configuration halfway, and is differentiated
/// exactly.
void checkDiscreteGradient(const Model& model, bool isInternal) {
  const DirectorSystem system(model);
  const VectorX q0 = disturbed(model, 31), q1 = q0 + randomVector(model.nq(), 32, 0.2);
  const auto gradientAt = [&](const VectorX& end) {
    VectorX result = VectorX::Zero(system.size());
    system.addDiscreteGradient(q0, end, 0.3, 0.3, 1, result);
    return result;
  };
  VectorX gradient = VectorX::Zero(system.size());
  SparseMatrix K = system.matrix();
  system.addDiscreteGradient(q0, q1, 0.3, 0.3, 1, gradient, &K);
  const double change = system.potential(q1, 0.3) - system.potential(q0, 0.3), size = 1 + gradient.norm() + K.norm();
  EXPECT_NEAR(gradient.dot(q1 - q0), change, 1e-13 * size);
  const double h = 1e-5;
  const VectorX d = randomVector(system.size(), 33);
  EXPECT_LT((K * d - (gradientAt(q1 + h * d) - gradientAt(q1 - h * d)) / (2 * h)).norm(), 1e-8 * size);
  if (!isInternal) return;
  const Momentum sum = system.momentum(0.5 * (q0 + q1), gradient);
  EXPECT_LT(sum.linear.norm() + sum.angular.norm(), 1e-13 * size);
}

/// r of the model without the forces of inertia, which the massless rig does not have, and with those multipliers.
VectorX forcesOfModel(const Model& model, const State& state) {
  Assembly assembly(model);
  Request request;
  request.tangent = false;
  assembly.begin(request);
  model.evaluate(state, assembly);
  return assembly.residual();
}

VectorX forcesOfDirectors(const DirectorSystem& system, const State& state) {
  VectorX qdot, sum = VectorX::Zero(system.size()), reduced;
  system.rates(state.q, state.v, qdot);
  system.addPotentialGradient(state.q, state.t, 1, sum);
  system.addForces(state.q, qdot, state.t, -1, sum);
  system.pullBack(state.q, sum, reduced);
  return reduced;
}

/// Equilibrium in redundant coordinates and multipliers by Newton's method; q is where it starts.
void settle(const DirectorSystem& system, VectorX& q, double t) {
  const int n = system.size(), m = system.constraints();
  VectorX lambda = VectorX::Zero(m), g;
  const VectorX atRest = VectorX::Zero(n);
  for (int iteration = 0; iteration < 30; ++iteration) {
    VectorX r = VectorX::Zero(n);
    SparseMatrix K = system.matrix(), G = system.gradient();
    system.addPotentialGradient(q, t, 1, r);
    system.addPotentialHessian(q, t, 1, K);
    system.addForces(q, atRest, t, -1, r);
    SparseMatrix follow = system.matrix();
    VectorX unused = VectorX::Zero(n);
    system.addForces(q, atRest, t, 1, unused, &follow);
    system.constraint(q, t, g);
    system.constraintGradient(q, t, G);
    system.addConstraintHessian(lambda, t, 1, K);
    MatrixX A = MatrixX::Zero(n + m, n + m);
    A.topLeftCorner(n, n) = MatrixX(K) - MatrixX(follow);
    A.topRightCorner(n, m) = MatrixX(G).transpose();
    A.bottomLeftCorner(m, n) = MatrixX(G);
    VectorX b(n + m);
    b << -(r + G.transpose() * lambda), -g;
    const VectorX step = solve(A, b);
    q += step.head(n), lambda += step.tail(m);
    if (step.head(n).norm() < 1e-12) return;
  }
  ADD_FAILURE() << "no equilibrium";
}

constexpr JointKind jointKinds[] = {JointKind::Fixed,          JointKind::Revolute,          JointKind::Prismatic,  JointKind::Cylindrical,
                                    JointKind::Spherical,      JointKind::Universal,         JointKind::Planar,     JointKind::Distance,
                                    JointKind::DrivenRotation, JointKind::DrivenTranslation, JointKind::AngleDrive, JointKind::LengthDrive};

JointParameters fitting() {
  JointParameters p;
  p.reference = JointReference::Pose;
  p.motion = {"from rest", [](double t) { return Jet{0.3 * t + 0.5 * t * t, 0.3 + t, 1}; }};
  p.tolerance = 10; // the axes of a universal joint coincide in this reference instead of being perpendicular
  return p;
}

bool hasAngle(JointKind kind) { return kind == JointKind::DrivenRotation || kind == JointKind::AngleDrive; }

}

// ---- derivatives, invariance -----------------------------------------------------------------------------------------------------------

TEST(DirectorElements, SpringsAndLoadsHaveExactDerivatives) {
  for (const PairNames& names : pairs) {
    for (const Kind kind : springKinds) {
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + ", kind " + std::to_string(int(kind)));
      Rig rig;
      rig.builder.setGravity({{1, 2, -9}, wavy(1)});
      addSpring(rig.builder, kind, rig.marker(names.first), rig.marker(names.second));
      addLoads(rig, "segment");
      checkDerivatives(*rig.builder.build(), 11);
    }
  }
}

TEST(DirectorElements, JointsHaveExactDerivatives) {
  for (const PairNames& names : pairs) {
    for (const JointKind kind : jointKinds) {
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + ", " + std::string(nameOf(kind)));
      Rig rig;
      rig.builder.term<Joints>().add(kind, "joint", rig.marker(names.first), rig.marker(names.second), fitting());
      checkDerivatives(*rig.builder.build(), 12);
    }
  }
}

TEST(DirectorElements, BeamsHaveExactDerivatives) {
  for (BeamModel model : {BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff})
    checkDerivatives(*curvedBeam(model).model, 13);
}

TEST(DirectorElements, AreInvariantAndInBalance) {
  for (const PairNames& names : pairs) {
    if (!names.internal) continue;
    for (const Kind kind : springKinds) {
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + ", kind " + std::to_string(int(kind)));
      Rig rig;
      addSpring(rig.builder, kind, rig.marker(names.first), rig.marker(names.second));
      checkInvariance(*rig.builder.build(), 14);
    }
  }
  checkInvariance(*curvedBeam(BeamModel::SimoReissner, 3, false).model, 15);
}

TEST(DirectorElements, DiscreteGradientsBalanceTheEnergy) {
  for (const PairNames& names : pairs) {
    if (names.movingGround) continue;
    for (const Kind kind : springKinds) {
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + ", kind " + std::to_string(int(kind)));
      Rig rig;
      addSpring(rig.builder, kind, rig.marker(names.first), rig.marker(names.second));
      if (!names.internal) rig.builder.setGravity({{1, 2, -9}});
      checkDiscreteGradient(*rig.builder.build(), names.internal);
    }
  }
  checkDiscreteGradient(*curvedBeam(BeamModel::SimoReissner, 3, false).model, true);
}

// ---- the same mechanics as in pose coordinates -----------------------------------------------------------------------------------------

TEST(DirectorElements, ForcesOfSpringsAndLoadsAreThoseOfTheModel) {
  for (const PairNames& names : {PairNames{"one", "two", true, false}, {"ground", "two", false, false}, {"one", "moving", false, true}}) {
    for (const Kind kind : {Kind::Linear, Kind::LinearFreeLengthZero, Kind::Torsion}) {
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + ", kind " + std::to_string(int(kind)));
      Rig rig(Rig::Mass::None);
      addSpring(rig.builder, kind, rig.marker(names.first), rig.marker(names.second));
      addLoads(rig, "one");
      const auto model = rig.builder.build();
      const DirectorSystem system(*model);
      for (unsigned seed : {1u, 20u}) {
        const State state = randomState(*model, seed);
        const VectorX expected = forcesOfModel(*model, state);
        EXPECT_LT((forcesOfDirectors(system, state) - expected).norm(), 1e-13 * expected.norm());
        EXPECT_NEAR(system.potential(state.q, state.t), model->energy(state).elastic, 1e-13);
      }
    }
  }
}

TEST(DirectorElements, ForcesOfBushingsAreThoseOfTheModelToSecondOrder) {
  Rig rig(Rig::Mass::None);
  addSpring(rig.builder, Kind::Bushing, rig.marker("one"), rig.marker("two"));
  const auto model = rig.builder.build();
  const DirectorSystem system(*model);
  std::vector<double> errors;
  for (const double size : {0.02, 0.01}) {
    State state = randomState(*model, 3, size);
    state.v.setZero();
    errors.push_back((forcesOfDirectors(system, state) - forcesOfModel(*model, state)).norm());
  }
  EXPECT_GT(std::log2(errors[0] / errors[1]), 2.9);
  State state = model->initialState();
  state.a.setZero(model->nv()), state.v = randomVector(model->nv(), 4);
  const VectorX expected = forcesOfModel(*model, state);
  EXPECT_GT(expected.norm(), 0.1);
  EXPECT_LT((forcesOfDirectors(system, state) - expected).norm(), 1e-13 * expected.norm());
}

TEST(DirectorElements, RowsAndForcesOfJointsAreThoseOfTheModel) {
  for (const PairNames& names : {PairNames{"one", "two", true, false}, {"ground", "two", false, false}, {"one", "moving", false, true}}) {
    for (const JointKind kind : jointKinds) {
      if (hasAngle(kind)) continue;
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + ", " + std::string(nameOf(kind)));
      Rig rig(Rig::Mass::None);
      rig.builder.term<Joints>().add(kind, "joint", rig.marker(names.first), rig.marker(names.second), fitting());
      const auto model = rig.builder.build();
      const DirectorSystem system(*model);
      for (unsigned seed : {1u, 20u, 300u}) {
        const State state = randomState(*model, seed, 1.0);
        Assembly assembly(*model);
        assembly.begin({});
        model->evaluate(state, assembly);
        VectorX g, reduced;
        SparseMatrix G = system.gradient();
        system.constraint(state.q, state.t, g);
        EXPECT_LT(g.head(system.internalConstraints()).norm(), 1e-13);
        EXPECT_LT((g.tail(model->nc()) - assembly.constraint()).norm(), 1e-13);
        VectorX lambda = VectorX::Zero(system.constraints());
        lambda.tail(model->nc()) = state.lambda;
        system.constraintGradient(state.q, state.t, G);
        system.pullBack(state.q, G.transpose() * lambda, reduced);
        EXPECT_LT((reduced + assembly.residual()).norm(), 1e-13); // r holds -G^T lambda
      }
    }
  }
}

/// Driven angles: sin(phi - u) where the axes are in line, and the gradient of the model where phi = u.
TEST(DirectorElements, DrivenAngleIsTheSineOfItsError) {
  for (const JointKind kind : {JointKind::DrivenRotation, JointKind::AngleDrive}) {
    Rig rig(Rig::Mass::None);
    const Marker& second = rig.marker("two");
    rig.builder.term<Joints>().add(kind, "joint", rig.marker("one"), second, fitting());
    const auto model = rig.builder.build();
    const DirectorSystem system(*model);
    State state = randomState(*model, 5, 0);
    const double u = 0.3 * state.t + 0.5 * state.t * state.t;
    const Pose body = loadPose(state.q.data() + 12), marker = second.frame(state), toBody = marker.relative(body);
    for (const double error : {-1.3, 0.0, 0.4, 2.0}) {
      storePose(marker * poseOf(0, 0, 0, 0, 0, u + error) * toBody, state.q.data() + 12);
      VectorX g, reduced;
      system.constraint(state.q, state.t, g);
      EXPECT_NEAR(g[system.constraints() - 1], std::sin(error), 1e-14);
      if (error != 0) continue;
      SparseMatrix G = system.gradient();
      system.constraintGradient(state.q, state.t, G);
      VectorX lambda = VectorX::Zero(system.constraints());
      lambda.tail(model->nc()) = state.lambda;
      system.pullBack(state.q, G.transpose() * lambda, reduced);
      EXPECT_LT((reduced + forcesOfModel(*model, state)).norm(), 1e-13);
    }
  }
}

/// The relative motion H12 <- exp(first s1) H12 exp(second s2) keeps all rows that a pair lists, however large it is.
TEST(DirectorElements, LowerPairsMoveWithinTheirConstraints) {
  const int freedoms[] = {0, 1, 1, 2, 3, 2, 3, 0, 1, 1, 0, 0};
  for (std::size_t k = 0; k < std::size(jointKinds); ++k) {
    const JointKind kind = jointKinds[k];
    SCOPED_TRACE(std::string(nameOf(kind)));
    Rig rig;
    rig.builder.term<Joints>().add(kind, "joint", rig.marker("one"), rig.marker("two"), fitting());
    const auto model = rig.builder.build();
    const DirectorSystem system(*model);
    const bool isPair = kind != JointKind::Distance && kind != JointKind::AngleDrive && kind != JointKind::LengthDrive;
    ASSERT_EQ(system.pairs().size(), isPair ? 1u : 0u);
    if (!isPair) continue;
    const LowerPair& pair = system.pairs()[0];
    EXPECT_EQ(pair.freedom(), freedoms[k]);
    EXPECT_EQ(int(pair.rows.size()), 6 - pair.freedom());
    VectorX q = model->initialState().q, g;
    const auto poseOfFrame = [&](int side) {
      const Matrix34 Y = pair.frames[side].at(q, 0);
      return Pose{Y.rightCols<3>(), Y.col(0)};
    };
    const VectorX s = randomVector(pair.freedom(), 8, 1.5);
    const Vector6 s1 = pair.first * s.head(pair.first.cols()), s2 = pair.second * s.tail(pair.second.cols());
    const Pose one = poseOfFrame(0), two = poseOfFrame(1), body = loadPose(q.data() + 12);
    storePose(one * se3::exp(s1) * one.relative(two) * se3::exp(s2) * two.relative(body), q.data() + 12);
    system.constraint(q, 0, g);
    for (int row : pair.rows) EXPECT_NEAR(g[system.internalConstraints() + row], 0, 1e-14);
  }
}

TEST(DirectorElements, MassAndGravityAreThoseOfTheModel) {
  Rig rig;
  rig.builder.setGravity({{1, 2, -9}, wavy(1)});
  const Matrix3 inertia = Vector3(0.2, 0.3, 0.4).asDiagonal();
  rig.builder.term<PointMasses>().add("mass", rig.marker("one"), 0.7, inertia);
  const auto model = rig.builder.build();
  const DirectorSystem system(*model);
  const State state = randomState(*model, 6, 1);
  VectorX qdot, p;
  system.rates(state.q, state.v, qdot);
  p = system.mass() * qdot;
  const Energy energy = model->energy(state);
  EXPECT_NEAR(0.5 * qdot.dot(p), energy.kinetic, 1e-13 * energy.kinetic);
  EXPECT_NEAR(system.potential(state.q, state.t), energy.gravitational, 1e-13 * std::abs(energy.gravitational));
  const Momentum sum = system.momentum(state.q, p), expected = model->momentum(state);
  EXPECT_LT((sum.linear - expected.linear).norm(), 1e-13 * expected.linear.norm());
  EXPECT_LT((sum.angular - expected.angular).norm(), 1e-13 * expected.angular.norm());
}

/// N is the Jacobian of the rates, a null space of the internal constraints, and pullBack its transpose.
TEST(DirectorElements, NullSpaceOfInternalConstraints) {
  const auto mechanism = curvedBeam();
  const Model& model = *mechanism.model;
  const DirectorSystem system(model);
  const State state = randomState(model, 9);
  SparseMatrix N = system.internalNullSpace(), G = system.gradient();
  system.internalNullSpace(state.q, N);
  system.constraintGradient(state.q, 0, G);
  EXPECT_LT(MatrixX(G * N).topRows(system.internalConstraints()).norm(), 1e-13);
  VectorX qdot, reduced;
  system.rates(state.q, state.v, qdot);
  EXPECT_LT((N * state.v - qdot).norm(), 1e-14);
  const VectorX p = randomVector(system.size(), 3);
  system.pullBack(state.q, p, reduced);
  EXPECT_LT((N.transpose() * p - reduced).norm(), 1e-13);
  const double h = 1e-6;
  VectorX ahead(model.nq()), back(model.nq());
  model.retract(state.q, h * state.v, ahead);
  model.retract(state.q, -h * state.v, back);
  EXPECT_LT(((ahead - back) / (2 * h) - qdot).norm(), 1e-9);
}

// ---- beams -----------------------------------------------------------------------------------------------------------------------------

TEST(DirectorBeams, AreUnstrainedInTheirReferenceShape) {
  for (BeamModel model : {BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff}) {
    const auto mechanism = curvedBeam(model, 5, false);
    const DirectorSystem system(*mechanism.model);
    const VectorX q = mechanism.model->initialState().q;
    VectorX gradient = VectorX::Zero(system.size()), g;
    system.addPotentialGradient(q, 0, 1, gradient);
    system.constraint(q, 0, g);
    EXPECT_LT(gradient.norm(), 1e-12);
    EXPECT_LT(g.norm(), 1e-13);
  }
}

/// Energies of a beam that is bent and moves against the helicoidal elements of the model: both converge to the same with order 2.
TEST(DirectorBeams, EnergiesConvergeToThoseOfTheModel) {
  std::vector<Vector3> errors;
  for (const int elements : {8, 16, 32}) {
    MechanismBuilder builder;
    builder.gravity({1, 2, -9});
    builder.beam("beam", Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 2, 0.8), someSection(),
                 {.elements = elements,
                  .velocity = {1, 0.4, 0.2},
                  .angularVelocity = {0.5, -0.7, 1.1},
                  .initial = Curve::helix({0, 0, 0}, {0, 0.6, 0.8}, {1, 0, 0}, 0.6, 0.5, 0.3)});
    const Mechanism mechanism = builder.build();
    const Model& model = *mechanism.model;
    const DirectorSystem system(model);
    const State state = model.initialState();
    VectorX qdot;
    system.rates(state.q, state.v, qdot);
    const Energy energy = model.energy(state);
    VectorX gravityAlone = VectorX::Zero(system.size());
    for (const Block& block : model.blocks()) gravityAlone.segment<3>(block.q) = model.gravity().g;
    const double gravitational = -state.q.dot(system.mass() * gravityAlone);
    errors.emplace_back(0.5 * qdot.dot(system.mass() * qdot) - energy.kinetic, gravitational - energy.gravitational,
                        system.potential(state.q, 0) - gravitational - energy.elastic);
  }
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    EXPECT_NEAR(std::log2(std::abs(errors[1][i] / errors[2][i])), 2, 0.1);
    EXPECT_NEAR(std::log2(std::abs(errors[0][i] / errors[1][i])), 2, 0.25);
  }
}

namespace {

/// A straight clamped beam of length 1 with bending stiffness 1, and a dead tip force or moment that comes in four steps.
/// Internal forces of a beam do the power of its section forces on the rates of its strains, whatever the motion; damping and
/// suppressed strains included.
TEST(DirectorBeams, SectionForcesAreThoseOfTheEquations) {
  for (BeamModel beamModel : {BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff}) {
    const auto mechanism = curvedBeam(beamModel, 3, false);
    const Model& model = *mechanism.model;
    const Beams& beams = *model.term<Beams>();
    const DirectorSystem system(model);
    const State state = randomState(model, 31, 0.1);
    VectorX qdot, force = VectorX::Zero(system.size());
    system.rates(state.q, state.v, qdot);
    system.addPotentialGradient(state.q, state.t, 1, force);
    system.addForces(state.q, qdot, state.t, -1, force);
    SparseMatrix G = system.gradient();
    system.constraintGradient(state.q, state.t, G);
    VectorX lambda = VectorX::Zero(system.constraints());
    lambda.tail(model.nc()) = -state.lambda;
    force += G.transpose() * lambda;

    State ahead = state, back = state;
    const VectorX motion = randomVector(model.nv(), 77);
    const double h = 1e-5;
    model.retract(state.q, h * motion, ahead.q);
    model.retract(state.q, -h * motion, back.q);
    VectorX rate;
    system.rates(state.q, motion, rate);
    double power = 0;
    for (int e = 0; e < beams.elements(); ++e) {
      const auto strainOf = [&](const State& at) { return beams.strain(at, e, BeamInterpolation::Directors); };
      const Vector6 strainRate = (strainOf(ahead) - strainOf(back)) / (2 * h);
      power += beams.length(e) * beams.sectionForce(state, e, BeamInterpolation::Directors).dot(strainRate);
    }
    EXPECT_NEAR(power, force.dot(rate), 1e-7 * std::abs(power));
  }
}

TEST(DirectorBeams, StrainOfARollIsTheSineOfItsAngle) {
  MechanismBuilder builder;
  builder.beam("beam", Curve::straight({0, 0, 0}, {1, 0, 0}), someSection(),
               {.elements = 5, .initial = Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 1)});
  const Mechanism mechanism = builder.build();
  const Vector6 strain = mechanism.model->term<Beams>()->strain(mechanism.model->initialState(), 2, BeamInterpolation::Directors);
  EXPECT_NEAR(strain.tail<3>().norm(), std::sin(0.2) / 0.2, 1e-12); // a turn of 1 rad, a fifth of it in 0.2 m
}

Pose cantileverTip(BeamModel model, int elements, const Vector3& force, const Vector3& moment, VectorX* nodes = nullptr) {
  MechanismBuilder builder;
  Matrix6 stiffness = Matrix6::Zero();
  stiffness.diagonal() << 100, 40, 40, 1, 1, 1;
  const auto beam = builder.beam("beam", Curve::straight({0, 0, 0}, {1, 0, 0}), SectionProperties::general(stiffness, Matrix6::Identity()),
                                 {.elements = elements, .model = model});
  builder.clamp("clamp", beam.start());
  builder.force("force", beam.end(), force, LoadDirection::Dead, TimeFunction::proportional());
  builder.moment("moment", beam.end(), moment, LoadDirection::Dead, TimeFunction::proportional());
  const Mechanism mechanism = builder.build();
  const DirectorSystem system(*mechanism.model);
  VectorX q = mechanism.model->initialState().q;
  for (const double t : {0.25, 0.5, 0.75, 1.0}) settle(system, q, t);
  if (nodes) *nodes = q;
  return loadPose(q.data() + 12 * elements);
}

constexpr BeamModel beamModels[] = {BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff};

}

/// Under an end moment M all elements turn by the same phi with sin(2 phi) = 2 M h / EI, as V = EI sin(phi)^2 / (2 h): nodes on a circle,
/// which converges to that of curvature M / EI with order 2.
TEST(DirectorBeams, RollUpIsACircle) {
  const double M = std::numbers::pi;
  for (const BeamModel model : beamModels) {
    std::vector<double> errors;
    for (const int elements : {8, 16}) {
      VectorX q;
      const Pose tip = cantileverTip(model, elements, Vector3::Zero(), {0, 0, M}, &q);
      const double phi = 0.5 * std::asin(2 * M / elements);
      const double radius = 1.0 / elements / std::sin(phi);
      for (int i = 0; i <= elements; ++i) {
        const Pose node = loadPose(q.data() + 12 * i);
        EXPECT_LT((node.x - Vector3(radius * std::sin(i * phi), radius * (1 - std::cos(i * phi)), 0)).norm(), 1e-11);
      }
      errors.push_back((tip.x - Vector3(0, 2 / std::numbers::pi, 0)).norm());
    }
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.9);
  }
}

/// Tip force P L^2 / EI = 2 on an inextensible, unshearable cantilever (Bisshopp & Drucker 1945), from the elliptic integrals of the
/// elastica: theta'' = -P cos(theta), theta(0) = 0, theta'(1) = 0.
TEST(DirectorBeams, ConvergeToTheElasticaWithOrderTwo) {
  const double P = 2;
  // theta'^2 = 2 P (sin a - sin theta) with the tip angle a; arclength and tip by the substitution sin theta = sin a - u^2.
  const auto integrals = [P](double a) {
    const int n = 4000;
    const double top = std::sqrt(std::sin(a));
    Vector3 sums = Vector3::Zero();
    for (int i = 0; i < n; ++i) {
      const double u = top * (i + 0.5) / n, sine = std::sin(a) - u * u, cosine = std::sqrt(1 - sine * sine);
      sums += Vector3(1 / cosine, 1, sine / cosine) * (2 / std::sqrt(2 * P) * top / n);
    }
    return sums; // length, x, y
  };
  double low = 0.1, high = 1.5;
  for (int i = 0; i < 60; ++i) (integrals(0.5 * (low + high))[0] < 1 ? low : high) = 0.5 * (low + high);
  const Vector3 exact = integrals(low);
  EXPECT_NEAR(exact[2], 0.4935, 1e-4); // the published deflection
  std::vector<double> errors;
  for (const int elements : {8, 16}) {
    const Pose tip = cantileverTip(BeamModel::InextensibleKirchhoff, elements, {0, P, 0}, Vector3::Zero());
    errors.push_back((tip.x - Vector3(exact[1], exact[2], 0)).norm());
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
}

// ---- refusals, allocation --------------------------------------------------------------------------------------------------------------

TEST(DirectorElements, WhatHasNoFormIsNamed) {
  Rig rig;
  JointParameters p = fitting();
  p.pitch = 0.8;
  rig.builder.term<Joints>().add(JointKind::Screw, "jack", rig.marker("one"), rig.marker("two"), p);
  const auto model = rig.builder.build();
  try {
    const DirectorSystem system(*model);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'jack'"), std::string::npos);
  }

  Matrix6 mass = Matrix6::Identity();
  mass(1, 1) = 2;
  MechanismBuilder builder;
  builder.beam("odd", Curve::straight({0, 0, 0}, {1, 0, 0}), SectionProperties::general(Matrix6::Identity(), mass));
  const Mechanism mechanism = builder.build();
  try {
    const DirectorSystem system(*mechanism.model);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'odd'"), std::string::npos);
  }
}

// The moment grows with the sine of the angle between the nodes of an element: beyond 90 degrees it would fall.
TEST(DirectorBeams, DoNotFoldOver) {
  const auto section = SectionProperties::of(Section::circle(0.02), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1000});
  MechanismBuilder b;
  b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 1});
  const Mechanism m = b.build();
  const DirectorSystem system(*m.model);
  const auto energy = [&](double angle) {
    State state = m.model->initialState();
    storePose({so3::exp(Vector3(0.3, 0.4, 1.2).normalized() * angle), Vector3(1, 0, 0)}, state.q.data() + 12);
    return system.potential(state.q, 0);
  };
  EXPECT_TRUE(std::isfinite(energy(1.5)));
  EXPECT_TRUE(std::isnan(energy(1.6)));

  MechanismBuilder coarse;
  coarse.beam("arc", Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 2), section, {.elements = 1});
  const Mechanism bent = coarse.build();
  EXPECT_THROW(DirectorSystem{*bent.model}, InputError);
}

TEST(DirectorElements, EvaluateWithoutAllocating) {
  MechanismBuilder builder;
  const auto beam = builder.beam("beam", Curve::straight({0, 0, 0}, {1, 0, 0}), someSection(), {.model = BeamModel::KirchhoffLove});
  builder.clamp("clamp", beam.start());
  ModelBuilder& parts = builder.model();
  const Marker& ground = builder.ground();
  for (const Kind kind : springKinds) addSpring(parts, kind, ground, beam.end());
  Vector6 perLength;
  perLength << 1, 2, -1, 0.3, 0.2, -0.5;
  builder.distributed(beam, perLength, LoadDirection::Follower, wavy(1));
  const Mechanism mechanism = builder.build();
  const Model& model = *mechanism.model;
  const DirectorSystem system(model);
  const VectorX q = disturbed(model, 2), v = randomVector(model.nv(), 3), lambda = randomVector(system.constraints(), 4);
  VectorX qdot(system.size()), r = VectorX::Zero(system.size()), g(system.constraints()), reduced(model.nv());
  SparseMatrix K = system.matrix(), C = system.matrix(), G = system.gradient(), N = system.internalNullSpace();
  const auto evaluateAll = [&] {
    double V = system.potential(q, 0);
    system.rates(q, v, qdot);
    system.addPotentialGradient(q, 0, 1, r);
    system.addPotentialHessian(q, 0, 1, K);
    system.addForces(q, qdot, 0, 1, r, &K, &C);
    system.constraint(q, 0, g);
    system.constraintRate(q, 0, g);
    system.constraintGradient(q, 0, G);
    system.addConstraintHessian(lambda, 0, 1, K);
    system.pullBack(q, r, reduced);
    system.internalNullSpace(q, N);
    return V;
  };
  evaluateAll();
  const long before = allocationCount;
  EXPECT_TRUE(std::isfinite(evaluateAll()));
  EXPECT_EQ(allocationCount, before);
}
