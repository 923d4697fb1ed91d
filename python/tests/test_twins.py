"""A scene and its twin that Python builds from the same parts: the summaries have the same bits."""

import json

import numpy as np

import tendril

CANTILEVER = """
tendril: 1
materials: [{name: rubber, E: 5e6, nu: 0.5, density: 1100}]
beams:
  - name: beam
    curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}
    material: rubber
    section: {shape: circle, radius: 0.005}
    elements: 8
joints: [{name: wall, type: clamp, on: beam.start}]
loads: [{name: roll, type: moment, on: beam.end, moment: [0, 0, 0.01]}]
gravity: {acceleration: [0, -9.81, 0]}
analysis: {type: static, steps: 5}
outputs:
  - {name: tip, measure: position, on: beam.end}
  - {name: energy, measure: elastic energy}
  - {name: highest, measure: position, on: beam.end, component: y, result: max}
"""

BALL = """
tendril: 1
bodies: [{name: ball, shapes: [{kind: sphere, radius: 0.1, density: 240}], position: [0, 0, 0.6], velocity: [1, 0, 0]}]
obstacles: [{name: floor, shapes: [{kind: half-space}]}]
contacts: [{name: bounce, between: [ball, floor], restitution: 0.5, friction: 0.3}]
gravity: {acceleration: [0, 0, -9.81]}
analysis: {type: dynamic, method: moreau, duration: 0.8, step: 1e-3}
outputs:
  - {name: position, measure: position, on: ball}
  - {name: impulse, measure: contact impulse, between: [ball, floor], result: max, component: "1"}
  - {name: overlap, measure: penetration}
"""


def compare(scene, summary):
    """All that a twin can know; times, versions and the parameters belong to the run."""
    expected, found = json.loads(scene), json.loads(summary)
    for key in ("outputs", "steps", "newton", "residual", "penetration", "energy", "contact"):
        assert found.get(key) == expected.get(key), key
    assert expected["steps"] > 1


def runOf(text, name):
    return json.dumps(tendril.run(tendril.Scene.from_text(text, f"{name}.yaml"), output=name).summary)


def test_cantilever():
    builder = tendril.MechanismBuilder()
    rubber = tendril.Material(youngs_modulus=5e6, poisson_ratio=0.5, density=1100)
    section = tendril.SectionProperties.of(tendril.Section.circle(0.005), rubber)
    beam = builder.beam("beam", tendril.Curve.straight([0, 0, 0], [1, 0, 0]), section, tendril.BeamOptions(elements=8))
    end = beam.end()
    builder.clamp("wall", beam.start())
    builder.moment("roll", end, [0, 0, 0.01], tendril.LoadDirection.Dead, tendril.TimeFunction.proportional())
    builder.gravity([0, -9.81, 0], tendril.TimeFunction.proportional())
    mechanism = builder.build()
    model = mechanism.model
    definitions = [
        tendril.OutputDefinition(name="tip", quantity=tendril.measures.position(end)),
        tendril.OutputDefinition(name="energy", quantity=tendril.measures.energy(model, tendril.measures.EnergyPart.Elastic)),
        tendril.OutputDefinition(
            name="highest",
            quantity=tendril.measures.position(end),
            component=tendril.OutputDefinition.Component(index=1),
            reduction=tendril.Reduction.Max,
        ),
    ]
    outputs = tendril.Outputs(
        model, definitions, tendril.SymbolTable(), tendril.PathParameter.Time, tendril.OutputUnits(argument=tendril.dimension.none)
    )
    analysis = tendril.LoadStepping(model, tendril.LoadSteppingOptions(steps=5))
    summary = tendril.simulate(model, analysis, outputs, tendril.SimulateOptions(is_dynamic=False))
    compare(runOf(CANTILEVER, "cantilever"), summary.json())


def ballTwin():
    builder = tendril.MechanismBuilder()
    ball = tendril.Shape(kind=tendril.Shape.Kind.Sphere, size=[0.1, 0, 0])
    body = builder.body("ball", tendril.MassProperties.sphere(240, 0.1), tendril.Pose(np.eye(3), [0, 0, 0.6]), [1, 0, 0], [0, 0, 0], [ball])
    ground, on = builder.ground(), body.at()
    builder.gravity([0, 0, -9.81])
    contacts = tendril.ContactModel()
    contacts.add_part(tendril.ContactModel.Part(name="ball", marker=on, shapes=[tendril.CollisionShape(ball, "body 'ball'")]))
    halfSpace = tendril.CollisionShape(tendril.Shape(kind=tendril.Shape.Kind.HalfSpace), "obstacle 'floor'")
    contacts.add_part(tendril.ContactModel.Part(name="floor", marker=ground, shapes=[halfSpace]))
    contacts.add_law(tendril.ContactModel.PairLaw(first="ball", second="floor", law=tendril.ContactLaw(restitution=0.5, friction=0.3)))
    return builder.build(), contacts, on


def test_bouncing_ball():
    mechanism, contacts, on = ballTwin()
    model, quantity = mechanism.model, tendril.ContactQuantity
    definitions = [
        tendril.OutputDefinition(name="position", quantity=tendril.measures.position(on)),
        tendril.OutputDefinition(
            name="impulse",
            quantity=quantity(kind=quantity.Kind.Impulse, first=0, second=1),
            reduction=tendril.Reduction.Max,
            component=tendril.OutputDefinition.Component(index=0),
        ),
        tendril.OutputDefinition(name="overlap", quantity=quantity(kind=quantity.Kind.Penetration)),
    ]
    outputs = tendril.Outputs(model, definitions, tendril.SymbolTable(), tendril.PathParameter.Time, tendril.OutputUnits(), contacts)
    analysis = tendril.Moreau(model, contacts, tendril.MoreauOptions(duration=0.8, step=1e-3))
    seen = []
    summary = tendril.simulate(model, analysis, outputs, tendril.SimulateOptions(observe=lambda report: seen.append(report.step)))
    compare(runOf(BALL, "ball"), summary.json())
    assert seen == list(range(801))
