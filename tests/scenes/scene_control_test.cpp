// Optimal control in scenes: what is refused, with place and remedy.
#include "support/scene_text.h"

using namespace tendril;
using namespace tendril::testing;

namespace {

/// A walking stick: two legs on a ball joint over the ground, and a hinged arm beside them.
const std::string walk = R"(tendril: 1
bodies:
  - {name: leg1, mass: 1, inertia: [0.1, 0.1, 0.01], position: [0, 0, 0.5]}
  - {name: leg2, mass: 1, inertia: [0.1, 0.1, 0.01], position: [0, 0, 0.5]}
markers:
  - {name: foot1, on: leg1, offset: [0, 0, -0.5]}
  - {name: foot2, on: leg2, offset: [0, 0, -0.5]}
joints:
  - {name: hip, type: spherical, on: leg2, to: leg1, position: [0, 0, 1]}
actuators:
  - {joint: hip}
analysis:
  type: optimal-control
  intervals: 8
  duration: 1
  begin: free
  contacts:
    - {name: a, on: foot1, from: 0, to: 4}
    - {name: b, on: foot2, from: 4, to: 8}
  bounds:
    - {on: foot2, direction: [0, 0, 1], at_least: 0}
  periodic:
    bodies: {leg1: leg2, leg2: leg1}
    anchors: [foot1, foot2]
  end: {at_rest: false}
)";

void refused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  SCOPED_TRACE(to);
  expectSceneRefused(walk, from, to, parts);
}

TEST(SceneControl, ReadsAGait) { EXPECT_NO_THROW(parse(walk)); }

TEST(SceneControl, RefusesWhatIsNoGait) {
  refused("from: 0, to: 4", "from: 4, to: 4", {"ends before it begins"});
  refused("from: 0, to: 4", "from: 0, to: 9", {"no such node", "8"});
  refused("name: b", "name: a", {"two contacts"});
  refused("on: foot1, from", "on: foot1, holds: [[0, 0, 0]], from", {"cannot be zero"});
  refused("{leg1: leg2, leg2: leg1}", "[leg1, leg2]", {"periodic.bodies", "{BODY: BODY"});
  refused("{leg1: leg2, leg2: leg1}", "{leg1: leg2}", {"two bodies take the place of one"});
  refused("{leg1: leg2, leg2: leg1}", "{leg1: leg3}", {"no body 'leg3'"});
  refused("anchors: [foot1, foot2]", "axis: 2", {"axis", "mirror"});
  refused("at_rest: false", "at_rest: true", {"periodic", "at_rest: false"});
  refused("begin: free", "begin: given", {"periodic", "begin: free"});
}

TEST(SceneControl, RefusesBoundsThatMeanNothing) {
  const std::string bound = "{on: foot2, direction: [0, 0, 1], at_least: 0}";
  refused(bound, "{on: foot2, direction: [0, 0, 1]}", {"no bound"});
  refused(bound, "{on: foot2, at_least: 0}", {"direction", "centre"});
  refused(bound, "{on: foot2, centre: [0, 0, 0], at_most: -1}", {"not negative"});
  refused(bound, "{joint: hip, at_least: 0, at_most: 10}", {"no single angle"});
  refused(bound, "{joint: hip, centre: [0, 0, 0], at_most: 10}", {"no direction and no centre"});
  refused(bound, "{on: foot2, direction: [0, 0, 1], at_least: 1, at_most: 0}", {"above the largest"});
}

TEST(SceneControl, RefusesActuatorsThatDoTwoThings) {
  refused("{joint: hip}", "{joint: hip, force: [1, 0, 0]}", {"along its freedoms"});
  refused("{joint: hip}", "{name: c, on: foot1, cable: foot1}", {"both ends"});
  refused("{joint: hip}", "{name: c, on: foot1, cable: foot2, direction: dead}", {"pulls along its line"});
  refused("{joint: hip}", "{name: c, on: foot1}", {"`cable`"});
  refused("{joint: hip}", "{name: m, on: foot1, cable: foot2, muscle: {to: foot2, strength: 1, length: 1}}", {"two things"});
  refused("{joint: hip}", "{joint: hip, muscle: {to: foot2, strength: 1, length: 1}}", {"the muscle has one end"});
  refused("{joint: hip}", "{name: m, on: foot1, muscle: {to: foot2, strength: -1, length: 1}}", {"strength"});
  refused("{joint: hip}", "{name: m, on: foot1, limit: [-1, 1], muscle: {to: foot2, strength: 1, length: 1}}", {"between 0 and 1"});
  refused("{joint: hip}", "{name: m, on: foot1, muscle: {to: foot1, strength: 1, length: 1}}", {"both ends"});
}

TEST(SceneControl, RefusesNumbersOutOfProportion) {
  refused("duration: 1", "duration: 1\n  optimality: 1", {"optimality", "1e-6"});
  refused("duration: 1", "duration: 1\n  starts: 100000", {"starts"});
  refused("duration: 1", "duration: 1\n  seed: 3", {"seed", "starts"});
  refused("duration: 1", "duration: 1\n  softening: 1", {"softening", "norm"});
  refused("duration: 1", "duration: 1\n  time_weight: 1", {"time_weight", "guess"});
  refused("intervals: 8", "intervals: 100000000", {"intervals"});
}

}
