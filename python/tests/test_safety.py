"""Misuse raises what a user can read, and never ends the interpreter."""

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tendril


def inProcess(program):
    return subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=250)


def mechanism(bodies=1):
    builder = tendril.MechanismBuilder()
    mass = tendril.MassProperties.box(1000, [0.1, 0.1, 0.1])
    handles = [builder.body(f"body {i}", mass, tendril.Pose(np.eye(3), [float(i), 0, 0])) for i in range(bodies)]
    return builder, handles


def test_wrong_arguments_of_every_function_raise():
    done = subprocess.run([sys.executable, "-B", Path(__file__).with_name("misuse.py")], capture_output=True, text=True, timeout=280)
    if done.returncode == 77:
        pytest.skip("this system lets nothing be confined to a folder")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "", done.stdout[:5000]


def test_handles_refuse_once_the_model_is_built():
    builder, (body,) = mechanism()
    beam = builder.beam(
        "beam", tendril.Curve.straight([0, 0, 0], [1, 0, 0]),
        tendril.SectionProperties.of(tendril.Section.circle(0.01), tendril.Material(youngs_modulus=1e9, density=1000)),
    )
    built = builder.build()
    for call in (beam.end, beam.start, beam.part, lambda: beam.at(0.5), body.at, body.block):
        with pytest.raises(tendril.InputError, match=r"before build\(\)"):
            call()
    with pytest.raises(tendril.InputError, match="nothing that moves"):
        builder.build()
    with pytest.raises(tendril.InputError, match="no block"):
        builder.model().body_marker("late", 0)
    assert built.beam("beam").elements() == 10


def test_markers_and_states_of_another_model_are_refused():
    builder, (first, second) = mechanism(bodies=2)
    marker = second.at()
    large = builder.build().model
    other, (alone,) = mechanism()
    other.force("push", marker, [1, 0, 0])
    with pytest.raises(tendril.InputError, match="marker of another model"):
        other.build()
    small = mechanism()[0].build().model.initial_state()
    measures = (tendril.measures.position(marker), tendril.measures.energy(large))
    for call in (marker.frame, marker.twist, marker.acceleration, large.energy, large.momentum, *measures):
        with pytest.raises(ValueError, match="state"):
            call(small)


def test_a_callback_that_raises_comes_out_of_the_call():
    def fail(*_):
        raise KeyError("mine")

    square = tendril.CountedPerformance(tendril.Performance(values=fail), tendril.Box(lower=[0], upper=[1]))
    with pytest.raises(KeyError, match="mine"):
        square.values([[0.5]])
    with pytest.raises(ValueError, match="not set"):
        tendril.CountedPerformance(tendril.Performance(), tendril.Box(lower=[0], upper=[1])).values([[0.5]])


def test_callbacks_that_know_their_object_leave_nothing_behind():
    done = inProcess(
        "import tendril\n"
        "square = tendril.CountedPerformance(tendril.Performance(values=lambda x: x[0] ** 2), tendril.Box(lower=[0], upper=[1]))\n"
        "options = tendril.SimulateOptions(observe=lambda report: print(options))\n"
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_callbacks_are_given_back():
    def observe(report):
        pass

    options = tendril.SimulateOptions(observe=observe)
    assert options.observe is observe
    count = sys.getrefcount(observe)
    del options
    gc.collect()
    assert sys.getrefcount(observe) == count - 1


def test_keywords_stand_in_the_signature():
    signature = tendril.GeneralizedAlphaOptions.__init__.__nb_signature__[-1][0]
    assert "step: float = ..." in signature and "kwargs" not in signature
    assert "first step" in tendril.GeneralizedAlphaOptions.__init__.__doc__
    with pytest.raises(TypeError, match="has no member 'stepp'"):
        tendril.GeneralizedAlphaOptions(stepp=1)
