#include "tendril/model/model.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

using namespace tendril;

namespace {

template <class Action> std::string messageOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Pose someA{so3::exp(Vector3(0.3, -0.2, 0.5)), Vector3(1, 2, 3)};
const Pose someB{so3::exp(Vector3(-1, 0.4, 0.2)), Vector3(1, 5, 7)};

/// A term with one constraint row on the first block, to see names and signs: g = c . delta with constant gradient, r = -G^T lambda.
class OneRow final : public Term {
 public:
  void declare(Layout& layout) override {
    constraint_ = layout.addConstraint("joint 'row'", {RowQuantity::Length, RowQuantity::Angle});
    cb_ = layout.couple(constraint_, 0);
    bc_ = layout.couple(0, constraint_);
    bb_ = layout.couple(0, 0);
    row = layout.constraintRow(constraint_);
    size = layout.characteristicLength();
    states = int(layout.initialState().q.size());
  }
  void embed(DirectorSystem&) const override {}
  void evaluate(const State& state, Assembly& assembly) const override {
    assembly.addForce(0, (-G.transpose() * state.lambda.segment<2>(row)).eval());
    assembly.addConstraint(constraint_, Eigen::Vector2d(7, 8));
    assembly.addForceRate(0, Vector6::Constant(3).eval());
    assembly.addConstraintRate(constraint_, Eigen::Vector2d(5, 6));
    if (!assembly.request().tangent) return;
    assembly.addGradient(cb_, bc_, G);
    assembly.addStiffness(bb_, Matrix6::Identity());
    assembly.addRate(bb_, 0, (assembly.request().damping * Matrix6::Constant(2)).eval());
  }
  void addConstraintBias(const State&, VectorX& bias) const override { bias.segment<2>(row) += Eigen::Vector2d(1, 2); }

  Eigen::Matrix<double, 2, 6> G = Eigen::Matrix<double, 2, 6>::Constant(0.5);
  int row = -1, states = 0;
  double size = 0;

 private:
  int constraint_ = -1, cb_ = -1, bc_ = -1, bb_ = -1;
};

struct ModelTest : ::testing::Test {
  ModelTest() {
    builder.addPose("body 'b'", -1, someA);
    builder.addPose("beam 'cable'", 17, someB);
    builder.addVector("strip 's'", Eigen::Vector2d(0.1, 0.2), Eigen::Vector2d(3, 4));
    builder.term<OneRow>();
    model = builder.build();
  }
  ModelBuilder builder;
  std::unique_ptr<const Model> model;
};

}

TEST_F(ModelTest, HasItsSizesAndInitialState) {
  EXPECT_EQ(model->nq(), 26);
  EXPECT_EQ(model->nv(), 14);
  EXPECT_EQ(model->nc(), 2);
  const State state = model->initialState();
  EXPECT_EQ(state.q.size(), 26);
  EXPECT_EQ(state.v.size(), 14);
  EXPECT_EQ(state.a, VectorX::Zero(14));
  EXPECT_EQ(state.lambda, VectorX::Zero(2));
  EXPECT_EQ(loadPose(state.q.data() + 12).R, someB.R);
  EXPECT_EQ(state.v.tail<2>(), Eigen::Vector2d(3, 4));
  EXPECT_DOUBLE_EQ(model->characteristicLength(), 5);
  EXPECT_DOUBLE_EQ(model->term<OneRow>()->size, 5);
  EXPECT_EQ(model->term<OneRow>()->states, 26);
}

TEST_F(ModelTest, NamesItsUnknowns) {
  EXPECT_EQ(model->nameOfVelocity(0), "body 'b', translation along d1");
  EXPECT_EQ(model->nameOfVelocity(5), "body 'b', rotation about d3");
  EXPECT_EQ(model->nameOfVelocity(7), "beam 'cable', node 17, translation along d2");
  EXPECT_EQ(model->nameOfVelocity(13), "strip 's', coordinate 1");
  EXPECT_EQ(model->nameOfConstraint(0), "joint 'row', row 1");
  EXPECT_EQ(model->nameOfConstraint(1), "joint 'row', row 2");
  EXPECT_EQ(model->constraintQuantities(), (std::vector{RowQuantity::Length, RowQuantity::Angle}));
}

TEST_F(ModelTest, RetractAndDifferenceAreInverse) {
  const State state = model->initialState();
  const VectorX delta = VectorX::LinSpaced(14, -0.9, 1.1);
  VectorX q(26), back(14);
  model->retract(state.q, delta, q);
  model->difference(state.q, q, back);
  EXPECT_LE((back - delta).norm(), 1e-13);
  const Pose expected = someA * se3::exp(delta.head<6>());
  EXPECT_LE((loadPose(q.data()).R - expected.R).norm() + (loadPose(q.data()).x - expected.x).norm(), 1e-14);
  EXPECT_EQ(q.tail<2>(), (state.q.tail<2>() + delta.tail<2>()).eval());

  VectorX inPlace = state.q;
  model->retract(inPlace, delta, inPlace);
  EXPECT_EQ(inPlace, q);
}

TEST_F(ModelTest, DirectorsStayOrthonormalOverManySteps) {
  VectorX q = model->initialState().q;
  const VectorX delta = VectorX::LinSpaced(14, -0.09, 0.11);
  for (int i = 0; i < 20000; ++i) model->retract(q, delta, q);
  const Matrix3 R = loadPose(q.data()).R;
  EXPECT_LE((R.transpose() * R - Matrix3::Identity()).norm(), 1e-14);
}

TEST_F(ModelTest, AssemblesWithSignsScaleAndMaps) {
  State state = model->initialState();
  state.lambda << 2, 3;
  Assembly assembly(*model);
  assembly.multiplierScale = 4;
  assembly.velocityMaps().assign(3, Matrix6::Identity());
  assembly.velocityMaps()[0] = 3 * Matrix6::Identity();
  assembly.begin({.timeRate = true, .damping = 0.5});
  model->evaluate(state, assembly);
  EXPECT_EQ(assembly.residual().head<6>(), Vector6::Constant(-2.5));
  EXPECT_EQ(assembly.residual().tail<8>().norm(), 0);
  EXPECT_EQ(assembly.constraint(), Eigen::Vector2d(7, 8));
  EXPECT_EQ(assembly.constraintRate(), Eigen::Vector2d(5, 6));
  EXPECT_EQ(assembly.forceRate().head<6>(), Vector6::Constant(3));
  const MatrixX S(assembly.matrix());
  EXPECT_EQ((S.topLeftCorner<6, 6>()), (Matrix6::Identity() + Matrix6::Constant(3)).eval());
  EXPECT_EQ((S.block<2, 6>(14, 0)), (Eigen::Matrix<double, 2, 6>::Constant(-2)));
  EXPECT_EQ((S.block<6, 2>(0, 14)), (Eigen::Matrix<double, 6, 2>::Constant(-2)));
  EXPECT_EQ((MatrixX(assembly.gradient()).leftCols<6>()), (Eigen::Matrix<double, 2, 6>::Constant(0.5)));

  // begin() starts from zero.
  assembly.begin({});
  EXPECT_EQ(assembly.residual().norm() + assembly.constraint().norm() + MatrixX(assembly.matrix()).norm(), 0);
  VectorX bias = VectorX::Constant(2, 9);
  model->constraintBias(state, bias);
  EXPECT_EQ(bias, Eigen::Vector2d(1, 2));
}

TEST_F(ModelTest, MeasuresForcesByTheirDimension) {
  Assembly assembly(*model);
  assembly.begin({});
  Vector6 f;
  f << 3, 4, 0, 0, 0, 2;
  assembly.addForce(0, f);
  assembly.addForce(1, VectorX(f));
  assembly.addForce(2, Eigen::Vector2d(6, 8));
  EXPECT_DOUBLE_EQ(assembly.scale().force, 10);
  EXPECT_DOUBLE_EQ(assembly.scale().moment, 4);
  EXPECT_DOUBLE_EQ(assembly.scale().general, 10);
  EXPECT_EQ(assembly.scale().count, 3);
}

TEST(ModelBuilderTest, RefusesWrongInput) {
  EXPECT_NE(messageOf([] { ModelBuilder().build(); }).find("nothing that moves"), std::string::npos);
  ModelBuilder builder;
  Pose bad;
  bad.x[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(messageOf([&] { builder.addPose("body 'b'", -1, bad); }).find("body 'b' is not finite"), std::string::npos);
  EXPECT_NE(messageOf([&] { builder.addVector("strip", VectorX::Zero(2), VectorX::Zero(3)); }).find("of one size"), std::string::npos);
  const int b = builder.addPose("body 'b'", -1, {});
  builder.bodyMarker("tip", b);
  EXPECT_NE(messageOf([&] { builder.groundMarker("tip", {}); }).find("two markers are named 'tip'"), std::string::npos);
  builder.groundMarker("", {});
  builder.groundMarker("", {}); // unnamed ones may be many
  GroundMotion still;
  still.axis.setZero();
  EXPECT_NE(messageOf([&] { builder.movingMarker("turntable", {}, still); }).find("'turntable'"), std::string::npos);
  const auto model = builder.build();
  EXPECT_NE(messageOf([&] { model->marker("tap"); }).find("no marker is named 'tap'"), std::string::npos);
  EXPECT_EQ(&model->marker("tip"), model->findMarker("tip"));
  EXPECT_EQ(model->findMarker("tap"), nullptr);
}

TEST(ModelBuilderTest, RefusesBlocksThatItDoesNotHave) {
  ModelBuilder builder;
  const int pose = builder.addPose("body 'b'", -1, {}), vector = builder.addVector("strip", VectorX::Zero(2), VectorX::Zero(2));
  for (const int b : {-1, 2}) {
    EXPECT_NE(messageOf([&] { builder.bodyMarker("", b); }).find("there is no block"), std::string::npos);
    EXPECT_NE(messageOf([&] { builder.segmentMarker("", pose, b, 0.5); }).find("there is no block"), std::string::npos);
    EXPECT_NE(messageOf([&] { builder.setVelocity(b, Vector6::Zero()); }).find("there is no block"), std::string::npos);
  }
  EXPECT_NE(messageOf([&] { builder.bodyMarker("", vector); }).find("vector block"), std::string::npos);
  builder.build();
  EXPECT_NE(messageOf([&] { builder.bodyMarker("", pose); }).find("empty"), std::string::npos);
}

TEST(ModelBuilderTest, GathersManyBlocks) {
  ModelBuilder builder;
  for (int i = 0; i < 100; ++i) builder.addPose("beam 'b'", i, {Matrix3::Identity(), Vector3(i, 0, 0)}, Vector6::Constant(i));
  builder.setVelocity(50, Vector6::Constant(-1));
  const auto model = builder.build();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(loadPose(model->initialState().q.data() + 12 * i).x[0], i);
    EXPECT_EQ(model->initialState().v[6 * i], i == 50 ? -1 : i);
  }
  EXPECT_EQ(model->pattern().matrix().nonZeros(), 100 * 36);
}
