#include "support/files.h"
#include "tendril/contact/contact_model.h"
#include "tendril/contact/contact_report.h"
#include "tendril/elements/mechanism.h"
#include "tendril/scenes/outputs.h"

#include <cmath>

using namespace tendril;

namespace {

using Kind = ContactQuantity::Kind;

/// An "analysis" whose contacts are given.
class Given final : public Analysis {
 public:
  explicit Given(const Model& model) : state_(model.initialState()) {}
  void start() override {}
  bool finished() const override { return false; }
  const StepReport& advance() override { return step_; }
  const State& state() const override { return state_; }
  VectorX reactions() override { return {}; }
  double progress() const override { return 0; }
  const ContactReport* contacts() const override { return &report; }
  Snapshot save() override { return {}; }
  void restore(const Snapshot&) override {}

  ContactReport report;

 private:
  State state_;
  StepReport step_{.step = 1, .h = 0.01};
};

/// Two balls of radius 1 over a floor, 0 and 1, at heights 1.5 and 4; part 2 is the floor.
struct Rig {
  Rig() {
    MechanismBuilder b;
    const Shape ball{.kind = Shape::Kind::Sphere, .size = {1, 0, 0}};
    int i = 0;
    for (const char* name : {"low", "high"}) {
      const Pose pose{Matrix3::Identity(), {0, 0, i++ == 0 ? 1.5 : 4}};
      const Marker& marker = b.body(name, MassProperties::sphere(1, 1), pose).at();
      contacts.addPart({name, "", &marker, {CollisionShape(ball, name)}});
    }
    contacts.addPart({"floor", "", &b.ground(), {CollisionShape({.kind = Shape::Kind::HalfSpace}, "floor")}});
    contacts.addLaw({"all", "all", {}});
    mechanism = b.build();
  }
  std::vector<double> measure(const ContactQuantity& quantity, const ContactReport& report, int steps = 1) const {
    Outputs outputs(*mechanism.model, {{.name = "x", .quantity = quantity}}, parameters, PathParameter::Time, {}, &contacts);
    Given analysis(*mechanism.model);
    analysis.report = report;
    for (int i = 0; i < steps; ++i) outputs.observe(analysis, analysis.advance());
    return {outputs.result(0).begin(), outputs.result(0).end()};
  }

  ContactModel contacts;
  Mechanism mechanism;
  SymbolTable parameters;
};

/// The high ball on the low one, sliding; the low one on the floor, sticking, as (floor, low): the floor is the first part. Step 0.01 s.
ContactReport sample() {
  ContactReport report;
  report.step = 0.01;
  report.residual = 1e-9, report.sweeps = 12, report.newtonSteps = 3, report.penetration = 1e-5, report.dissipation = 0.5,
  report.seconds = 0.25;
  Matrix3 up, down;
  up << 0, 1, 0, 0, 0, 1, 1, 0, 0; // columns: normal e3, tangents e1, e2
  down << 0, 1, 0, 0, 0, -1, -1, 0, 0;
  ContactRecord sliding{
      .first = 1, .second = 0, .frame = up, .impulse = {0.02, 0.01, 0}, .velocity = {0, -3, 4}, .status = ContactStatus::Slip};
  ContactRecord sticking{.first = 2,
                         .second = 0,
                         .frame = down,
                         .impulse = {0.05, 0.003, 0},
                         .moment = {0.001, 0, 0},
                         .velocity = {0, 7, 0},
                         .status = ContactStatus::Stick};
  ContactRecord open{.first = 1, .second = 2, .frame = up, .velocity = {1, 9, 9}};
  report.contacts = {sliding, sticking, open};
  return report;
}

void expectNear(const std::vector<double>& value, const std::vector<double>& expected) {
  ASSERT_EQ(value.size(), expected.size());
  for (std::size_t i = 0; i < value.size(); ++i) EXPECT_NEAR(value[i], expected[i], 1e-12) << i;
}

}

TEST(ContactOutputs, ForcesActOnTheFirstOfTheTwoNamed) {
  const Rig rig;
  const ContactReport report = sample();
  expectNear(rig.measure({Kind::Force, 1, 0}, report), {1, 0, 2});
  expectNear(rig.measure({Kind::Force, 0, 1}, report), {-1, 0, -2});
  expectNear(rig.measure({Kind::Force, 0, 2}, report), {-0.3, 0, 5});
  expectNear(rig.measure({Kind::Force, 0, -1}, report), {-1.3, 0, 3});
  expectNear(rig.measure({Kind::Moment, 0, 2}, report), {0, 0, 0.1});
  expectNear(rig.measure({Kind::NormalForce, 0, -1}, report), {7});
  expectNear(rig.measure({Kind::NormalForce}, report), {7});
  expectNear(rig.measure({Kind::Impulse, 0, 2}, report), {0.05, 0.003, 0});
  expectNear(rig.measure({Kind::Impulse, 0, 2}, {}), {0, 0, 0});
}

TEST(ContactOutputs, TellWhatContactsDo) {
  const Rig rig;
  const ContactReport report = sample();
  expectNear(rig.measure({Kind::Status}, report), {2});
  expectNear(rig.measure({Kind::Status, 0, 2}, report), {1});
  expectNear(rig.measure({Kind::Status, 2, 1}, report), {0});
  expectNear(rig.measure({Kind::SlipVelocity, 0, 1}, report), {5});
  expectNear(rig.measure({Kind::SlipVelocity}, report), {7});
  expectNear(rig.measure({Kind::Count}, report), {2});
  expectNear(rig.measure({Kind::Count, 1, -1}, report), {1});
}

TEST(ContactOutputs, TellHowTheStepWasSolved) {
  const Rig rig;
  const ContactReport report = sample();
  expectNear(rig.measure({Kind::Penetration}, report), {1e-5});
  expectNear(rig.measure({Kind::Residual}, report), {1e-9});
  expectNear(rig.measure({Kind::Sweeps}, report), {12});
  expectNear(rig.measure({Kind::NewtonSteps}, report), {3});
  expectNear(rig.measure({Kind::StepTime}, report), {0.25});
  expectNear(rig.measure({Kind::Dissipation}, report, 3), {1.5});
}

TEST(ContactOutputs, GapsAreThoseOfThePresentState) {
  const Rig rig;
  expectNear(rig.measure({Kind::Gap, 0, 1}, {}), {0.5});
  expectNear(rig.measure({Kind::Gap, 0, 2}, {}), {0.5});
  expectNear(rig.measure({Kind::Gap, 2, 1}, {}), {3});
  expectNear(rig.measure({Kind::Gap, 1, -1}, {}), {0.5});
}

TEST(ContactOutputs, DissipationAndWorkCloseTheBalanceOfEnergy) {
  const Rig rig;
  Outputs outputs(
      *rig.mechanism.model,
      {{.name = "balance", .quantity = StepQuantity::EnergyBalance}, {.name = "taken", .quantity = ContactQuantity{Kind::Dissipation}}},
      rig.parameters, PathParameter::Time, {}, &rig.contacts);
  Given analysis(*rig.mechanism.model);
  analysis.report.dissipation = 0.5, analysis.report.work = 0.2;
  for (int i = 0; i < 2; ++i) outputs.observe(analysis, analysis.advance());
  EXPECT_NEAR(outputs.result(0)[0], 0.6, 1e-14) << "the state, which does not move, has not lost what contacts took";
  Snapshot snapshot;
  outputs.save(snapshot);
  Outputs other(
      *rig.mechanism.model,
      {{.name = "balance", .quantity = StepQuantity::EnergyBalance}, {.name = "taken", .quantity = ContactQuantity{Kind::Dissipation}}},
      rig.parameters, PathParameter::Time, {}, &rig.contacts);
  other.restore(snapshot);
  other.observe(analysis, analysis.advance());
  EXPECT_NEAR(other.result(0)[0], 0.9, 1e-14);
  EXPECT_NEAR(other.result(1)[0], 1.5, 1e-14);
}
