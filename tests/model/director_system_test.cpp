#include "tendril/model/director_system.h"

#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

using namespace tendril;

namespace {

Pose poseOf(double x, double y, double z, double a, double b, double c) { return {so3::exp(Vector3(a, b, c)), Vector3(x, y, z)}; }

Matrix34 columns(const Pose& pose) {
  Matrix34 Y;
  Y << pose.x, pose.R;
  return Y;
}

/// Mass on a frame, and a constraint that may have no form in director coordinates.
class Lump final : public Term {
 public:
  void declare(Layout& layout) override {
    if (marker) return;
    constraint_ = layout.addConstraint("joint 'odd'", {RowQuantity::Length});
    layout.couple(constraint_, 0), layout.couple(0, constraint_);
  }
  void evaluate(const State&, Assembly&) const override {}
  void embed(DirectorSystem& system) const override {
    if (marker) system.addMass(marker->directors(), inertia);
  }

  const Marker* marker = nullptr;
  Matrix4 inertia = Matrix4::Zero();

 private:
  int constraint_ = -1;
};

TimeFunction wavy() {
  return {"wavy", [](double t) { return Jet{std::sin(2 * t), 2 * std::cos(2 * t), -4 * std::sin(2 * t)}; }};
}

/// Two nodes, a vector block between them, and markers of every kind.
struct Nodes {
  Nodes() {
    builder.addPose("beam 'b'", 0, poseOf(0.1, 0.2, 0.3, 0.3, -0.2, 0.1));
    builder.addVector("strains 's'", Eigen::Vector2d(1, 2), Eigen::Vector2d(3, 4));
    builder.addPose("beam 'b'", 1, poseOf(0.9, -0.3, 0.2, -0.1, 0.4, 0.6));
    builder.bodyMarker("body", 2, offset);
    builder.segmentMarker("segment", 0, 2, 0.3, offset);
    builder.segmentMarker("end", 0, 2, 1, offset);
    builder.groundMarker("ground", poseOf(0.3, -0.1, 0.2, 0.1, 0.2, 0.3));
    GroundMotion motion;
    motion.translation = {wavy(), TimeFunction::proportional(), wavy()};
    motion.axis = Vector3(1, 2, 2) / 3;
    motion.angle = wavy();
    builder.movingMarker("moving", poseOf(0.2, 0.1, -0.3, -0.2, 0.1, 0.5), motion);
  }
  const Pose offset = poseOf(0.02, 0.1, -0.05, 0.3, -0.6, 0.2);
  ModelBuilder builder;
};

}

TEST(DirectorFrame, IsTheFrameOfTheMarker) {
  Nodes nodes;
  const auto model = nodes.builder.build();
  State state = model->initialState();
  state.t = 0.7;
  for (const char* name : {"body", "end", "ground", "moving"}) {
    SCOPED_TRACE(name);
    const Marker& marker = model->marker(name);
    const DirectorFrame frame = marker.directors();
    EXPECT_LT((frame.at(state.q, state.t) - columns(marker.frame(state))).norm(), 1e-14);
    const Pose by = poseOf(1, 2, 3, 0.4, 0.5, 0.6);
    EXPECT_LT((frame.moved(by).at(state.q, state.t) - columns(marker.frame(state) * by)).norm(), 1e-14);
    const VectorX qdot = VectorX::LinSpaced(model->nq(), -1, 2);
    const double h = 1e-5;
    const Matrix34 rate = (frame.at(state.q + h * qdot, state.t + h) - frame.at(state.q - h * qdot, state.t - h)) / (2 * h);
    EXPECT_LT((frame.rate(qdot, state.t) - rate).norm(), 1e-9);
  }
}

TEST(DirectorFrame, IsInterpolatedBetweenNodes) {
  Nodes nodes;
  const auto model = nodes.builder.build();
  const VectorX q = model->initialState().q;
  const Matrix34 expected = 0.7 * columns(loadPose(q.data())) + 0.3 * columns(loadPose(q.data() + 14));
  Matrix4 B = Matrix4::Identity();
  B.rightCols<3>().bottomRows<3>() = nodes.offset.R;
  B.col(0).tail<3>() = nodes.offset.x;
  EXPECT_LT((model->marker("segment").directors().at(q, 0) - expected * B).norm(), 1e-14);
}

/// Against the definition, over point masses.
TEST(PseudoInertia, HoldsTheSecondMomentsOfMass) {
  Matrix4 S = Matrix4::Zero();
  Matrix6 M = Matrix6::Zero();
  for (int i = 0; i < 6; ++i) {
    const Vector3 X(std::sin(1 + i), std::cos(3 * i), 0.4 * i);
    const double m = 1 + 0.3 * i;
    Eigen::Vector4d one;
    one << 1, X;
    S += m * one * one.transpose();
    Matrix36 velocity; // of the point, per twist
    velocity << Matrix3::Identity(), -so3::hat(X);
    M += m * velocity.transpose() * velocity;
  }
  EXPECT_LT((pseudoInertia(M) - S).norm(), 1e-13 * S.norm());
}

TEST(DirectorSystem, MassOfAFrameBetweenNodes) {
  Nodes nodes;
  Lump& lump = nodes.builder.term<Lump>();
  lump.marker = nodes.builder.findMarker("segment");
  Matrix4 root;
  root.reshaped() = VectorX::LinSpaced(16, -1, 1.3).cwiseProduct(VectorX::LinSpaced(16, 1, -2));
  lump.inertia = root * root.transpose();
  const auto model = nodes.builder.build();
  const DirectorSystem system(*model);
  const VectorX qdot = VectorX::LinSpaced(model->nq(), -1, 2).array().sin();
  const Matrix34 rate = lump.marker->directors().rate(qdot, 0);
  EXPECT_NEAR(0.5 * qdot.dot(system.mass() * qdot), 0.5 * (rate * lump.inertia * rate.transpose()).trace(), 1e-13);
  EXPECT_EQ((MatrixX(system.mass()) - MatrixX(system.mass()).transpose()).norm(), 0);
}

TEST(DirectorSystem, InternalConstraintsAndVelocities) {
  Nodes nodes;
  const auto model = nodes.builder.build();
  const DirectorSystem system(*model);
  EXPECT_EQ(system.size(), 26);
  EXPECT_EQ(system.internalConstraints(), 12);
  EXPECT_EQ(system.constraints(), 12);
  VectorX q = model->initialState().q, g, qdot;
  system.constraint(q, 0, g);
  EXPECT_LT(g.norm(), 1e-14);
  q.segment<3>(14 + 6) *= 1.1; // d2 of the second node
  q.segment<3>(14 + 9) += 0.2 * q.segment<3>(14 + 3);
  system.constraint(q, 0, g);
  const VectorX expected = (VectorX(6) << 0, (1.21 - 1) / 2, 0.04 / 2, 0, 0, 0.2).finished();
  EXPECT_LT((g.tail(6) - expected).norm(), 1e-14);

  q = model->initialState().q;
  const VectorX v = VectorX::LinSpaced(model->nv(), -1, 2);
  system.rates(q, v, qdot);
  EXPECT_EQ(qdot[12], v[6]); // of the vector block
  EXPECT_EQ(qdot[13], v[7]);
  SparseMatrix N = system.internalNullSpace();
  system.internalNullSpace(q, N);
  EXPECT_LT((N * v - qdot).norm(), 1e-14);
  EXPECT_EQ(system.nameOfConstraint(7).find("orthonormal directors of"), 0u);
  EXPECT_NE(system.nameOfConstraint(7).find("node 1"), std::string::npos);
  EXPECT_EQ(system.nameOfCoordinate(14 + 7).find("director d2, y, of"), 0u);
}

TEST(DirectorSystem, ConstraintsWithoutAFormAreNamed) {
  Nodes nodes;
  nodes.builder.term<Lump>();
  const auto model = nodes.builder.build();
  try {
    const DirectorSystem system(*model);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("joint 'odd'"), std::string::npos);
  }
}
