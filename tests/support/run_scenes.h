#pragma once
#include <string>

/// Small scenes for the tests of runs, exports and the program.
namespace tendril::testing {

/// A rubber rod, hinged at one end, falls from the horizontal: 0.2 s in 40 steps.
inline const std::string fallingRod = R"(tendril: 1
title: A falling rod
parameters: {h: 0.005, duration: 0.2, g: 9.81}
beams:
  - name: rod
    curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}
    section: {shape: circle, radius: 10 mm}
    material: {E: 5e6, nu: 0.5, density: 1100, damping_time: 1e-3}
    elements: 4
joints:
  - {name: hinge, type: spherical, on: rod.start}
gravity: {acceleration: [0, 0, -g]}
analysis: {type: dynamic, duration: duration, step: h, output_every: 3}
outputs:
  - {name: tip, measure: position, on: rod.end}
  - {name: fastest, measure: velocity, on: rod.end, component: norm, result: max}
  - {name: slowest, measure: velocity, on: rod.end, component: norm, result: min}
  - {name: way, measure: position, on: rod.end, relative_to: initial}
  - {name: reaction, measure: reaction force, joint: hinge}
  - {name: energy, measure: energy}
)";

/// A cantilever under an end moment that rolls it up.
inline const std::string rollUp = R"(tendril: 1
title: Roll-up of a cantilever
parameters: {turns: 0.5}
beams:
  - name: strip
    curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}
    section: {shape: stiffness, EA: 1e4, GA2: 1e4, GA3: 1e4, GJ: 10, EI2: 10, EI3: 10}
    elements: 6
joints:
  - {name: clamp, type: clamp, on: strip.start}
loads:
  - {name: moment, type: moment, on: strip.end, moment: [0, 2*pi*10*turns, 0]}
analysis: {type: static, steps: 24, adaptive: false}
outputs:
  - {name: tip, measure: position, on: strip.end}
  - {name: bending, measure: section moment, beam: strip, at: middle}
)";

/// A shallow arch snaps through under a force that follows the path of equilibria.
inline const std::string arch = R"(tendril: 1
title: Snap-through of an arch
beams:
  - name: arch
    curve: {type: spline, points: [[-1, 0, 0], [0, 0, 0.2], [1, 0, 0]]}
    section: {shape: rectangle, width: 40 mm, height: 20 mm}
    material: {E: 1e9, nu: 0.3}
    elements: 8
joints:
  - {name: left, type: clamp, on: arch.start}
  - {name: right, type: clamp, on: arch.end}
loads:
  - {name: push, type: force, on: arch.middle, force: [0, 0, -600]}
analysis: {type: static, method: arc-length, first_step: 0.05, steps: 30, lowest: -2, highest: 2}
outputs:
  - {name: apex, measure: position, on: arch.middle}
  - {name: load, measure: load parameter, result: max}
)";

/// A force that becomes undefined at t = 0.1 s.
inline const std::string undefinedLater = R"(tendril: 1
bodies:
  - {name: ball, shapes: [{kind: sphere, radius: 0.1}], mass: 1}
loads:
  - {name: push, type: force, on: ball, force: [1, 0, 0], time: sqrt(0.1 - t)}
analysis: {type: dynamic, duration: 1, step: 0.01}
outputs:
  - {name: place, measure: position, on: ball}
)";

/// A ball bounces down, a block is thrown along the floor and stops.
inline const std::string bouncing = R"(tendril: 1
title: A ball and a block
parameters: {h: 0.01}
bodies:
  - {name: ball, mass: 1, shapes: [{kind: sphere, radius: 0.1}], position: [0, 0, 0.6]}
  - {name: block, mass: 2, shapes: [{kind: box, size: [0.2, 0.2, 0.2]}], position: [2, 0, 0.1], velocity: [1, 0, 0]}
  - {name: plate, mass: 1, shapes: [{kind: disc, radius: 0.3}, {kind: polygon, points: [[0, 0], [1, 0], [0, 1]]}], position: [0, 5, 2]}
obstacles:
  - {name: floor, shapes: [{kind: half-space}]}
  - {name: lift, shapes: [{kind: box, size: [1, 1, 1], position: [9, 0, 1]}], motion: {translation: [0, 0, t]}}
contacts:
  - {name: hard, between: [ball, floor], restitution: 0.5}
  - {name: rough, between: [block, floor], friction: 0.4}
gravity: {}
analysis: {type: dynamic, duration: 0.9, step: h, output_every: 3, project: false, dump: [1, 40]}
outputs:
  - {name: impulse, measure: contact impulse, between: [ball, floor], component: "1"}
  - {name: impacts, measure: expression, expression: t - h/2, unit: s, result: all, where: impulse > 0}
  - {name: way, measure: position, on: block, component: x, relative_to: initial}
  - {name: taken, measure: dissipation}
  - {name: balance, measure: energy balance}
)";

/// Nothing holds the beam.
inline const std::string freeBeam = R"(tendril: 1
beams:
  - name: driftwood
    curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}
    section: {shape: circle, radius: 10 mm}
    material: {E: 1e9, nu: 0.3}
    elements: 3
loads:
  - {name: push, type: force, on: driftwood.end, force: [0, 0, 1]}
analysis: {type: static}
outputs:
  - {name: tip, measure: position, on: driftwood.end}
)";

/// One of everything that can be drawn, with shapes of known volume.
inline const std::string showcase = R"(tendril: 1
beams:
  - name: hose
    curve: {type: arc, start: [0, 0, 0], tangent: [1, 0, 0], towards: [0, 0, 1], radius: 1, angle: 90}
    section: {shape: tube, outer_radius: 50 mm, inner_radius: 30 mm}
    material: {E: 1e7, nu: 0.4, density: 1000}
    elements: 6
bodies:
  - name: solids
    mass: 1
    position: [3, 0, 0]
    shapes:
      - {kind: sphere, radius: 0.2, position: [0, 0, 0]}
      - {kind: box, size: [0.1, 0.2, 0.3], position: [1, 0, 0]}
      - {kind: cylinder, radius: 0.2, length: 0.5, position: [2, 0, 0]}
      - {kind: capsule, radius: 0.2, length: 0.5, position: [3, 0, 0]}
      - {kind: tube, outer_radius: 0.2, inner_radius: 0.1, length: 0.5, position: [4, 0, 0]}
      - {kind: cone, radius: 0.2, length: 0.5, position: [5, 0, 0]}
      - {kind: ellipsoid, semi_axes: [0.1, 0.2, 0.3], position: [6, 0, 0]}
markers:
  - {name: mouth, on: hose, at: end}
joints:
  - {name: clamp, type: clamp, on: hose.start}
gravity: {}
analysis: {type: dynamic, duration: 0.04, step: 0.01}
outputs:
  - {name: mouth_position, measure: position, on: mouth}
  - {name: energy, measure: energy}
)";

}
