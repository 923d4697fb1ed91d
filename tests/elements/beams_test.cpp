#include "tendril/elements/beams.h"

#include "support/validator.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace tendril::test {
namespace {

constexpr std::array models{BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff};

/// Full, symmetric positive definite stiffness of order one with couplings, and the inertia of an eccentric slice.
SectionProperties generalSection(double dampingTime) {
  const Matrix6 B = Matrix6::Identity() + 0.2 * Matrix6{{0, 1, 2, 1, 0, 1}, {1, 0, 1, 2, 1, 0}, {2, 1, 0, 0, 1, 1},
                                                        {0, 1, 1, 0, 2, 1}, {1, 1, 0, 1, 0, 2}, {1, 0, 2, 0, 1, 0}};
  const Vector3 eccentricity(0.0, 0.03, -0.02);
  const Matrix3 S = so3::hat(eccentricity);
  Matrix6 M;
  M << 1.3 * Matrix3::Identity(), -1.3 * S, 1.3 * S, Matrix3(Vector3(0.2, 0.12, 0.1).asDiagonal()) - 1.3 * S * S;
  return SectionProperties::general(B * B.transpose(), M, dampingTime);
}

Mechanism curvedBeam(BeamModel model, double dampingTime, bool heavy) {
  MechanismBuilder b;
  if (heavy) b.gravity({1.0, -2.0, -9.0}, {"swell", [](double t) { return Jet{1 + t * t, 2 * t, 2}; }});
  b.beam("rod", Curve::helix({0, 0, 0}, {0, 0.6, 0.8}, {1, 0, 0}, 0.8, 0.4, 0.3), generalSection(dampingTime),
         {.elements = 3, .model = model});
  return b.build();
}

// The inertia forces' dependence on d is left out of dr/dq (see the class comment), hence motionStiffness = false.
TEST(Beams, DerivativesEnergyAndInvarianceOfAllModels) {
  for (BeamModel model : models) {
    SCOPED_TRACE("model " + std::to_string(int(model)));
    validate(*curvedBeam(model, 0, false).model, {.motionStiffness = false, .internal = true});
    validate(*curvedBeam(model, 0.3, false).model, {.motionStiffness = false, .internal = true});
    validate(*curvedBeam(model, 0.3, true).model, {.motionStiffness = false});
  }
}

TEST(Beams, DistributedLoads) {
  for (LoadDirection direction : {LoadDirection::Dead, LoadDirection::Follower}) {
    MechanismBuilder b;
    const auto rod = b.beam("rod", Curve::straight({0, 0, 0}, {1, 0.3, 0.2}), generalSection(0), {.elements = 2});
    Vector6 load;
    load << 1, -2, 0.5, 0.3, 0.2, -0.4;
    b.distributed(rod, load, direction, {"swell", [](double t) { return Jet{1 + t * t, 2 * t, 2}; }});
    validate(*b.build().model, {.motionStiffness = false, .conservative = false});
  }
}

TEST(Beams, RefusesWhatCannotBe) {
  MechanismBuilder b;
  EXPECT_THROW(b.beam("rod", Curve::straight({0, 0, 0}, {0, 0, 0}), generalSection(0)), InputError);
  EXPECT_THROW(b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), SectionProperties{}), InputError);
  MechanismBuilder c;
  EXPECT_THROW(c.beam("ring", Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 6.2), generalSection(0), {.elements = 2}), InputError);
  MechanismBuilder d;
  d.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), generalSection(0));
  EXPECT_THROW(d.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), generalSection(0)), InputError);
}

}
}
