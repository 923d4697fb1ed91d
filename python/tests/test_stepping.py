"""Analyses by hand: steps, callbacks, states as views, lifetimes."""

import gc

import numpy as np
import pytest

import tendril


def pendulum(length=1.0):
    builder = tendril.MechanismBuilder()
    mass = tendril.MassProperties.box(1000, [0.1, 0.1, 0.1])
    bob = builder.body("bob", mass, tendril.Pose(np.eye(3), [length, 0, 0]))
    hinge = tendril.Pose(np.eye(3), [-length, 0, 0])
    builder.joint(tendril.JointKind.Revolute, "hinge", builder.ground(), bob.at(hinge))
    builder.gravity([0, -9.81, 0])
    return builder.build()


def test_steps_by_hand_are_those_of_the_run(scenes):
    scene = tendril.Scene.from_file(scenes / "beams/roll-up.yaml", ["elements=4", "turns=0.25"])
    analysis, outputs = scene.analysis(), scene.outputs()
    analysis.start()
    outputs.observe(analysis, tendril.StepReport())
    while not analysis.finished():
        report = analysis.advance()
        outputs.observe(analysis, report)
    assert isinstance(analysis, tendril.LoadStepping) and report.residual <= 1 and report.stable()
    results = tendril.run(scene, output="run")
    np.testing.assert_array_equal(outputs.result(0), results.value("tip"))
    assert report.step == results.summary["steps"]


def test_state_is_a_view_without_copies():
    mechanism = pendulum()
    analysis = tendril.GeneralizedAlpha(mechanism.model, tendril.GeneralizedAlphaOptions(duration=0.1, step=0.01))
    analysis.start()
    state = analysis.state()
    q = state.q
    assert not q.flags.owndata and q.shape == (12,) and q.dtype == np.float64
    before = q.copy()
    analysis.advance()
    assert not np.array_equal(q, before)  # the view shows the present state
    assert np.shares_memory(q, analysis.state().q)
    own = state.copy()
    assert not np.shares_memory(own.q, q)
    own.q[0] = 7
    assert own.q[0] == 7 and q[0] != 7


def test_views_keep_alive_what_they_show():
    def view():
        mechanism = pendulum()
        analysis = tendril.GeneralizedAlpha(mechanism.model, tendril.GeneralizedAlphaOptions(duration=0.1))
        analysis.start()
        return analysis.state().q

    q = view()
    gc.collect()
    np.testing.assert_allclose(q[:3], [1, 0, 0], atol=1e-12)

    def marker():
        mechanism = pendulum()
        return mechanism.model.markers()[0], mechanism.model.initial_state()

    found, state = marker()
    gc.collect()
    frame = found.frame(state)
    assert np.linalg.norm(frame.R @ frame.R.T - np.eye(3)) < 1e-14


def test_an_analysis_keeps_its_model():
    mechanism = pendulum()
    analysis = tendril.GeneralizedAlpha(mechanism.model, tendril.GeneralizedAlphaOptions(duration=0.02, step=0.01))
    del mechanism
    gc.collect()
    analysis.start()
    while not analysis.finished():
        analysis.advance()
    assert analysis.state().t == pytest.approx(0.02)


@pytest.mark.parametrize(
    "scene, overrides",
    [
        ("mechanisms/four-bar.yaml", []),
        ("contact/bouncing-ball.yaml", []),
        ("contact/ladder.yaml", []),
        ("variational/pendulum.yaml", []),
        ("beam-contact/bouncing-beam.yaml", []),
        ("beams/lee-frame.yaml", []),
        ("shells/free-patch.yaml", []),
        ("rods/super-helix.yaml", []),
    ],
)
def test_no_analysis_moves_the_memory_of_its_state(scenes, scene, overrides):
    """Views of a state would dangle otherwise."""
    scene = tendril.Scene.from_file(scenes / scene, overrides)
    analysis = scene.analysis()
    analysis.start()
    places = {name: getattr(analysis.state(), name).__array_interface__["data"][0] for name in ("q", "v", "lambda_")}
    for _ in range(4):
        if not analysis.finished():
            analysis.advance()
    assert places == {name: getattr(analysis.state(), name).__array_interface__["data"][0] for name in ("q", "v", "lambda_")}


def test_save_and_restore_go_on_with_the_same_bits():
    mechanism = pendulum()
    options = tendril.GeneralizedAlphaOptions(duration=0.1, step=0.01)
    first, second = (tendril.GeneralizedAlpha(mechanism.model, options) for _ in range(2))
    first.start()
    for _ in range(3):
        first.advance()
    second.restore(first.save())
    while not first.finished():
        first.advance()
        second.advance()
    np.testing.assert_array_equal(first.state().q, second.state().q)
    snapshot = tendril.store(first.state())
    other = mechanism.model.initial_state()
    with pytest.raises(tendril.InputError):
        tendril.load(snapshot | {"q": [1.0]}, other)


def test_shapes_and_types_are_refused_with_what_is_expected():
    model = pendulum().model
    state = model.initial_state()
    with pytest.raises(ValueError, match="q: expected an array of 12 numbers, not 3"):
        state.q = [1, 2, 3]
    with pytest.raises(TypeError, match="float64"):
        state.q = "abc"
    with pytest.raises(TypeError, match=r"shape=\(3\)"):
        tendril.so3.exp([1, 2])
    with pytest.raises(TypeError, match=r"shape=\(3\)"):
        tendril.so3.exp(np.zeros((3, 1)))
    with pytest.raises(TypeError):
        tendril.so3.exp(["1", "2", "3"])
    with pytest.raises(TypeError):
        tendril.so3.exp(np.zeros(3, dtype=complex))
    with pytest.raises(ValueError, match="delta: expected an array of 6 numbers"):
        model.retract(state.q, np.zeros(5))
    with pytest.raises(IndexError, match="row = 6"):
        model.name_of_velocity(6)
    with pytest.raises(TypeError, match="no member 'stp'"):
        tendril.GeneralizedAlphaOptions(stp=1)
    with pytest.raises(TypeError):
        tendril.GeneralizedAlphaOptions(step="small")
    with pytest.raises(TypeError):
        tendril.State()
    np.testing.assert_array_equal(tendril.so3.hat((1, 2, 3)), tendril.so3.hat(np.array([1, 2, 3], dtype=np.float32)))


def test_bad_input_of_models_is_refused():
    with pytest.raises(tendril.InputError):
        builder = tendril.MechanismBuilder()
        builder.body("b", tendril.MassProperties(mass=-1), tendril.Pose())
    with pytest.raises(tendril.InputError):
        tendril.GeneralizedAlpha(pendulum().model, tendril.GeneralizedAlphaOptions(step=float("nan"))).start()
    with pytest.raises(tendril.InputError, match="known|bob"):
        pendulum().body("bop")


def test_callbacks_of_time_and_stop():
    mechanism = pendulum()
    analysis = tendril.GeneralizedAlpha(mechanism.model, tendril.GeneralizedAlphaOptions(duration=1, step=1e-3))
    outputs = tendril.Outputs(mechanism.model, [], tendril.SymbolTable())
    seen = []
    with pytest.raises(KeyboardInterrupt):
        tendril.simulate(mechanism.model, analysis, outputs, tendril.SimulateOptions(stop=lambda: seen.append(1) or len(seen) > 5))
    ramp = tendril.TimeFunction(name="ramp", function=lambda t: tendril.Jet(value=2 * t, rate=2))
    assert ramp(3.0).value == 6
    assert tendril.TimeFunction.expression("t^3")(2.0).acceleration == 12
    assert tendril.TimeFunction(4.0)(1.0).value == 4


def test_energy_of_a_pendulum_is_kept():
    mechanism = pendulum()
    model = mechanism.model
    analysis = tendril.GeneralizedAlpha(model, tendril.GeneralizedAlphaOptions(duration=1, step=1e-3, rho_infinity=0.9))
    analysis.start()
    first = model.energy(analysis.state()).total()
    while not analysis.finished():
        analysis.advance()
    assert model.energy(analysis.state()).total() == pytest.approx(first, abs=1e-3)
    joints = model.term(tendril.Joints)
    assert joints.name(0) == "hinge" and joints.reaction(analysis.state(), 0).force.shape == (3,)
    assert model.term(tendril.Beams) is None
    assert analysis.monitor("no such quantity") is None


def test_springs_and_masses_by_the_builder_beneath():
    builder = tendril.MechanismBuilder()
    body = builder.body("bob", tendril.MassProperties.sphere(1000, 0.05), tendril.Pose())
    springs = builder.model().term(tendril.LinearSprings)
    springs.add("spring", builder.ground(tendril.Pose(np.eye(3), [0, 0, 1])), body.at(), tendril.SpringParameters(stiffness=100, rest=0.5))
    model = builder.build().model
    assert model.term(tendril.LinearSprings).tension(model.initial_state(), 0) == pytest.approx(50)
    with pytest.raises(TypeError):
        model.term(int)
