#include "cosserat_rod.h"
#include "elastica.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(CosseratCantilever, ReproducesThe45DegreeBend) {
  const auto tip = [](double load, double torsion) { return solveCantilever(bend45(load, torsion)).front().position; };
  EXPECT_LT((tip(600, 1.0 / 6) - Vector3d(15.6848, 47.1504, 53.4749)).cwiseAbs().maxCoeff(), 6e-5);
  EXPECT_LT((tip(600, 0.140577) - Vector3d(15.5578, 46.8919, 53.6074)).cwiseAbs().maxCoeff(), 6e-5);
  EXPECT_LT((tip(300, 0.140577) - Vector3d(22.33, 58.84, 40.08)).norm(), 0.6); // Simo & Vu-Quoc 1986, 8 linear elements
}

TEST(CosseratCantilever, HangsTheHelix) {
  const auto tip = [](RodModel model) { return solveCantilever(helixUnderGravity(model), {1.0}, 60).front().position; };
  EXPECT_LT((tip(RodModel::SimoReissner) - Vector3d(0.0473318, -0.0000951, -0.2752296)).norm(), 3e-7);
  EXPECT_NEAR(tip(RodModel::KirchhoffLove)[2], -0.274101, 1e-6);
  EXPECT_NEAR(tip(RodModel::InextensibleKirchhoff)[2], -0.273939, 1e-6);
}

TEST(CosseratCantilever, AgreesWithTheHeavyElastica) {
  CosseratCantilever rod;
  rod.forceCompliance.setZero();
  rod.lineLoad = {0, 0, -10};
  const Vector3d tip = solveCantilever(rod).front().position;
  const Vector2d elastica = heavyElasticaTip(10);
  EXPECT_NEAR(tip[0], elastica[0], 1e-8);
  EXPECT_NEAR(tip[2], elastica[1], 1e-8);
}

TEST(CosseratCantilever, RollsUpUnderAnEndMoment) {
  CosseratCantilever rod;
  rod.tipMoment = {0, 0, M_PI};
  const Vector3d tip = solveCantilever(rod).front().position;
  EXPECT_NEAR(tip[0], 0, 1e-9);
  EXPECT_NEAR(tip[1], 2 / M_PI, 1e-9);
}

TEST(CosseratCantilever, StretchesAndTwists) {
  CosseratCantilever rod;
  rod.forceCompliance = {0.01, 0, 0};
  rod.tipForce = {2, 0, 0};
  rod.tipMoment = {0.5, 0, 0};
  const RodSection tip = solveCantilever(rod).front();
  EXPECT_NEAR(tip.position[0], 1.02, 1e-12);
  EXPECT_NEAR(std::atan2(tip.frame(2, 1), tip.frame(1, 1)), 0.5, 1e-10);
}

TEST(CosseratCantilever, ConvergesWithOrderFour) {
  const auto tip = [](int steps) { return solveCantilever(bend45(600), {1.0}, 20, steps).front().position; };
  const Vector3d fine = tip(320);
  const double ratio = (tip(20) - fine).norm() / (tip(40) - fine).norm();
  EXPECT_GT(ratio, 13);
  EXPECT_LT(ratio, 20);
}

}
}
