// The same rod in two sets of coordinates: strains, and frames held together by multipliers.
#include "tendril/elements/mechanism.h"
#include "tendril/rods/rod_equilibrium.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>
#include <string>

namespace tendril {
namespace {

/// An inextensible beam whose elements are helices, under point loads at its nodes, is the strain rod with the exponential map: equal
/// stationary points, node by node (Blumentals 2017: single and multiple shooting of one map are the same).
TEST(StrainRod, IsTheInextensibleBeamInStrains) {
  constexpr int n = 12;
  constexpr double L = 1, EI1 = 1, EI2 = 0.6, GJ = 0.7;
  const Vector3 weight(0, -12, 5);
  const Matrix3 frame = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished(); // tangent d3 along x

  StrainRod rod({.length = L, .stiffness = {EI1, EI2, GJ}, .weight = weight}, n);
  const RodEquilibrium found = solveEquilibrium(rod, {.begin = {frame, Vector3::Zero()}});
  ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;

  // Section frame of a beam: tangent, then d1 and d2 of the rod.
  Matrix6 stiffness = Matrix6::Identity();
  stiffness.diagonal().tail<3>() << GJ, EI1, EI2;
  MechanismBuilder b;
  const auto beam = b.beam("rod", Curve::straight(Vector3::Zero(), {L, 0, 0}, Vector3(frame.col(1))), {.stiffness = stiffness},
                           {.elements = n, .model = BeamModel::InextensibleKirchhoff});
  b.clamp("root", beam.start());
  for (int i = 0; i <= n; ++i) {
    const Vector3 load = L / n * (i == 0 || i == n ? 0.5 : 1.0) * weight;
    b.force("weight " + std::to_string(i), beam.node(i), load, LoadDirection::Dead, TimeFunction::proportional());
  }
  const Mechanism m = b.build();
  LoadStepping statics(*m.model, {.steps = 10});
  statics.start();
  while (!statics.finished()) ASSERT_TRUE(statics.advance().stable());

  for (int i = 0; i <= n; ++i) {
    const Pose H = loadPose(statics.state().q.data() + m.model->blocks()[std::size_t(m.beams[0].nodes[std::size_t(i)])].q);
    EXPECT_LT((rod.frame(i).x - H.x).norm(), 1e-8) << i;
    EXPECT_LT((rod.frame(i).R.col(2) - H.R.col(0)).norm(), 1e-8) << i;
    EXPECT_LT((rod.frame(i).R.col(0) - H.R.col(1)).norm(), 1e-8) << i;
  }
  EXPECT_NEAR(rod.elasticEnergy(), m.model->energy(statics.state()).elastic, 1e-9);
}

}
}
