#include "support/dense.h"
#include "tendril/elements/super_helix.h"

#include "rig.h"
#include "support/validator.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/elements/mechanism.h"
#include "tendril/model/assembly.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tendril::test {
namespace {

SectionProperties sectionOf(double dampingTime = 0) {
  SectionProperties section;
  section.stiffness.diagonal() << 0, 0, 0, 0.7, 1.3, 2.1;
  section.stiffness(3, 4) = section.stiffness(4, 3) = 0.2;
  MassProperties slice{1.2, Vector3(0, 0.03, -0.02), Vector3(0.05, 0.02, 0.03).asDiagonal()};
  section.mass = slice.spatial();
  section.dampingTime = dampingTime;
  return section;
}

/// Three elements of unequal length, naturally curved.
SuperHelix rodOn(ModelBuilder& builder, int begin, double dampingTime = 0) {
  SuperHelix rod{.name = "rod 'curl'", .begin = begin, .strains = {}, .lengths = {0.3, 0.5, 0.4}, .natural = {}};
  rod.section = sectionOf(dampingTime);
  for (int i = 0; i < 3; ++i) {
    rod.natural.push_back(Vector3(0.5, 1 - 0.3 * i, 0.4 * i));
    rod.strains.push_back(builder.addVector(rod.name + ", element " + std::to_string(i), rod.natural.back() + Vector3(0.2, -0.3, 0.1),
                                            Vector3(0.3, 0.1, -0.2)));
  }
  return rod;
}

struct Curl {
  explicit Curl(double dampingTime = 0) {
    begin = builder.addPose("rod 'curl'", 0, poseOf(0.2, 0.1, -0.3, 0.3, 0.5, -0.2));
    SuperHelix rod = rodOn(builder, begin, dampingTime);
    int node = begin;
    for (int i = 0; i < 3; ++i) {
      const double h = rod.lengths[std::size_t(i)];
      node = attachFrame(builder, "rod 'curl'", i + 1, std::make_unique<HelixFrame>(builder, node, rod.strains[std::size_t(i)], h));
      nodes.push_back(node);
    }
    builder.term<SuperHelices>().add(std::move(rod));
  }
  ModelBuilder builder;
  int begin = -1;
  std::vector<int> nodes;
};

}

TEST(SuperHelix, PassesTheValidatorWhereItFloats) {
  Curl curl;
  validate(*curl.builder.build(), {.internal = true});
}

TEST(SuperHelix, PassesTheValidatorWithWeightDampingAndABodyAtItsTip) {
  Curl curl(0.1);
  curl.builder.setGravity({{1, 2, -9.81}, TimeFunction::proportional()});
  const Marker& tip = curl.builder.bodyMarker("tip", curl.nodes.back(), poseOf(0.1, 0, 0, 0.2));
  const int body =
      addRigidBody(curl.builder, "bob", {1.5, {0, 0.1, 0}, Vector3(0.2, 0.3, 0.25).asDiagonal()}, tip.frame(curl.builder.state()));
  curl.builder.term<Joints>().add(JointKind::Spherical, "hook", tip, curl.builder.bodyMarker("bob", body));
  curl.builder.term<Joints>().add(JointKind::Fixed, "clamp", curl.builder.groundMarker("wall", curl.builder.pose(curl.begin)),
                                  curl.builder.bodyMarker("begin", curl.begin));
  validate(*curl.builder.build());
}

/// Frames anywhere along an element, with an offset.
TEST(SuperHelix, CarriesFramesAnywhere) {
  Curl curl;
  const Marker& early = curl.builder.bodyMarker(
      "early", attachFrame(curl.builder, "early", -1,
                           std::make_unique<HelixFrame>(curl.builder, curl.begin, curl.begin + 1, 0.1, poseOf(0.1, 0.2, -0.1, 0.3, 0.1))));
  curl.builder.term<PointMasses>().add("bead", early, 0.3);
  validate(*curl.builder.build(), {.internal = true});
}

namespace {

/// The same rod as inextensible Kirchhoff beams: nodes where those of the rod are, velocities and strains alike.
struct Twins {
  explicit Twins(const Vector3& gravity) {
    rods.setGravity({gravity, TimeFunction::constant()}), beams.setGravity({gravity, TimeFunction::constant()});
    const Pose begin = poseOf(0.2, 0.1, -0.3, 0.3, 0.5, -0.2);
    Vector6 twist;
    twist << 0.4, -0.2, 0.3, 0.5, -0.6, 0.7;
    int node = rods.addPose("rod", 0, begin, twist);
    SuperHelix rod = rodOn(rods, node);
    int before = beams.addPose("beam", 0, begin, twist);
    SectionProperties section = rod.section;
    section.stiffness.diagonal().head<3>().setOnes();
    const int number = beams.term<Beams>().addSection(section);
    beamNodes.push_back(before), rodNodes.push_back(node);
    for (int i = 0; i < 3; ++i) {
      const double h = rod.lengths[std::size_t(i)];
      node = attachFrame(rods, "rod", i + 1, std::make_unique<HelixFrame>(rods, node, rod.strains[std::size_t(i)], h));
      const int next = beams.addPose("beam", i + 1, rods.pose(node), rods.state().v.segment<6>(rods.block(node).v));
      Vector6 d0;
      d0 << h, 0, 0, h * rod.natural[std::size_t(i)];
      beams.term<Beams>().addElement("beam", before, next, h, d0, number, BeamModel::InextensibleKirchhoff);
      rodNodes.push_back(node), beamNodes.push_back(next);
      before = next;
    }
    rods.term<SuperHelices>().add(std::move(rod));
  }
  ModelBuilder rods, beams;
  std::vector<int> rodNodes, beamNodes;
};

/// Accelerations by the dense equations M a - G^T lambda = -f, G a = -b.
VectorX accelerations(const Model& model) {
  State state = model.initialState();
  const int nv = model.nv(), nc = model.nc();
  Assembly assembly(model);
  assembly.begin({.motion = true, .tangent = true, .stiffness = false, .inertia = 1});
  model.evaluate(state, assembly);
  MatrixX A(assembly.matrix());
  VectorX bias(nc), rhs(nv + nc);
  model.constraintBias(state, bias);
  rhs << -assembly.residual(), bias; // the lower rows of the matrix are -G
  return solve(A, rhs).head(nv);
}

}

/// The inextensible beam with its constraints eliminated: accelerations of all nodes are equal, with weight, velocities and forces.
TEST(SuperHelix, AcceleratesAsAnInextensibleKirchhoffBeam) {
  Twins twins({1, -2, -9.81});
  const auto rods = twins.rods.build(), beams = twins.beams.build();
  const VectorX ofRod = accelerations(*rods), ofBeam = accelerations(*beams);
  for (std::size_t i = 0; i < twins.rodNodes.size(); ++i) {
    const Vector6 a = ofRod.segment<6>(rods->blocks()[std::size_t(twins.rodNodes[i])].v);
    const Vector6 b = ofBeam.segment<6>(beams->blocks()[std::size_t(twins.beamNodes[i])].v);
    EXPECT_LE((a - b).norm(), 1e-9 * b.norm()) << "node " << i << ": " << a.transpose() << " and " << b.transpose();
  }
  const State r = rods->initialState(), b = beams->initialState();
  EXPECT_NEAR(rods->energy(r).total(), beams->energy(b).total(), 1e-12 * std::abs(beams->energy(b).total()) + 1e-12);
  EXPECT_LE((rods->momentum(r).linear - beams->momentum(b).linear).norm(), 1e-12);
  EXPECT_LE((rods->momentum(r).angular - beams->momentum(b).angular).norm(), 1e-12);
}

}
