"""Studies: the table, its numbers, its order, what went wrong."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tendril

SMALL = {"elements": 4}


@pytest.fixture
def rollUp(scenes):
    return scenes / "beams/roll-up.yaml"


def test_a_grid_has_the_numbers_of_single_runs(rollUp):
    seen = []
    study = tendril.sweep(rollUp, {"turns": [0.25, 0.5], "elements": np.array([4, 6])}, progress=lambda *p: seen.append(p))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)] and study.folder.name == "roll-up.sweep"
    np.testing.assert_array_equal(study["turns"], [0.25, 0.25, 0.5, 0.5])
    np.testing.assert_array_equal(study["elements"], [4, 6, 4, 6])
    assert study.succeeded.all() and list(study.messages) == [""] * 4 and len(study) == 4
    assert study["tip"].shape == (4, 3) and study["energy"].shape == (4,) and study.units["tip"] == "m"
    for i in range(4):
        values = {name: study[name][i] for name in study.inputs}
        single = tendril.run(rollUp, {"turns": values["turns"], "elements": int(values["elements"])}, output=f"single-{i}")
        np.testing.assert_array_equal(study["tip"][i], single.value("tip"))
        assert study["energy"][i] == single.value("energy")
    again = tendril.Study("roll-up.sweep")
    np.testing.assert_array_equal(again["tip"], study["tip"])
    table = study.to_dict()
    assert list(table) == open("roll-up.sweep/sweep.csv").readline().strip().split(",")
    np.testing.assert_array_equal(table["tip_2 [m]"], study["tip"][:, 1])


def test_lists_ranges_and_tables_of_points(rollUp):
    side = tendril.sweep(rollUp, {"turns": [0.1, 0.2], "elements": [4, 5]}, "list", output="list")
    np.testing.assert_array_equal(np.column_stack([side["turns"], side["elements"]]), [[0.1, 4], [0.2, 5]])
    spaced = tendril.sweep(rollUp, {"turns": (0, 0.3, 4)}, overrides=SMALL, output="spaced")
    np.testing.assert_allclose(spaced["turns"], [0, 0.1, 0.2, 0.3], rtol=1e-15)
    with open("points.csv", "w") as file:
        file.write("turns,elements\n0.1,4\n0.2,5\n")
    table = tendril.sweep(rollUp, "points.csv", output="table")
    np.testing.assert_array_equal(table["tip"], side["tip"])
    data = spaced.dataset()
    assert data["tip"].dims == ("run", "tip_component") and data["energy"].attrs["units"] == "J"
    assert data.attrs["design"] == "grid" and float(data["turns"][3]) == spaced["turns"][3]


def test_samples_are_those_of_their_seed(rollUp):
    def turns(seed, output, design="lhs"):
        return tendril.sweep(rollUp, {"turns": (0.0, 0.2)}, design, samples=4, seed=seed, overrides=SMALL, output=output)["turns"]

    first = turns(7, "first")
    np.testing.assert_array_equal(turns(7, "same"), first)
    assert not np.array_equal(turns(8, "other"), first)
    np.testing.assert_array_equal(np.sort(np.floor(first / 0.05)), [0, 1, 2, 3])  # one in each quarter
    assert np.ptp(turns(7, "sobol", "sobol")) > 0.05


def test_a_run_that_fails_is_told_and_the_others_stand(rollUp):
    study = tendril.sweep(
        rollUp, {"turns": [0.1, "0.1 + 0*sqrt(-1)"], "loads.roll.time": ["t", "t + 0*sqrt(0.55 - t)"]}, overrides=SMALL, output="broken"
    )
    assert list(study.statuses) == ["success", "failed", "wrong input", "wrong input"]
    assert study.messages[0] == "" and "t = " in study.messages[1] and "turns" in study.messages[2]
    assert np.isfinite(study["energy"][0]) and np.isnan(study["energy"][1:]).all() and np.isnan(study["tip"][1:]).all()
    assert study.inputs["turns"].dtype.kind == "U"  # not all of them are numbers


@pytest.mark.parametrize(
    "over, settings, message",
    [
        ({"turn": [1]}, {}, "turns"),
        ({"turns": 1}, {}, "turns: expected a list"),
        ({"turns": "0:1:3"}, {}, "turns: expected a list"),
        ({"turns": []}, {}, "at least one value"),
        ({"turns": (0, 1, 2, 3)}, {}, "from, to, count"),
        ({"turns": (0, 1, 0)}, {}, "COUNT"),
        ({"turns": (0, float("nan"), 3)}, {}, "NaN"),
        ({"turns": (0, 1)}, {}, "range"),
        ({}, {}, "varies nothing"),
        ({"turns": [1], "elements": [1, 2]}, {"design": "list"}, "as many values"),
        ({"turns": (0, 1)}, {"design": "lhs"}, "no points"),
        ({"turns": (0, 1)}, {"design": "lhs", "samples": -1}, "samples"),
        ({"turns": (0, 1)}, {"design": "lhs", "samples": 2, "seed": -1}, "seed"),
        ({"turns": [1]}, {"samples": 3}, "samples"),
        ({"turns": [1]}, {"design": "grids"}, "did you mean 'grid'"),
        ({"turns": [1]}, {"workers": 0}, "workers"),
        ({"turns": [1]}, {"overrides": {"turns": 2}}, "twice"),
        ("missing.csv", {}, "missing.csv"),
        ("missing.csv", {"design": "sobol", "samples": 2}, "table"),
    ],
)
def test_wrong_input_is_refused_before_anything_runs(rollUp, over, settings, message):
    with pytest.raises(tendril.InputError, match=message):
        tendril.sweep(rollUp, over, **settings)
    assert not os.path.exists("roll-up.sweep")


def test_folders_and_scenes_that_are_refused(rollUp):
    tendril.sweep(rollUp, {"turns": [0.1]}, overrides=SMALL)
    with pytest.raises(tendril.InputError, match="another study"):
        tendril.sweep(rollUp, {"turns": [0.2]}, overrides=SMALL)
    kept = tendril.sweep(rollUp, {"turns": [0.2]}, overrides=SMALL, replace=True, keep=True, workers=1)
    assert tendril.Results(kept.folder / "0001").value("energy") == kept["energy"][0]
    with pytest.raises(tendril.InputError, match="no study"):
        tendril.Study("nowhere")
    with pytest.raises(KeyError, match="there are: turns, energy, tip"):
        kept["tipp"]
    with pytest.raises(TypeError, match="file"):
        tendril.sweep(tendril.Scene.from_file(rollUp), {"turns": [1]})


def test_an_exception_in_a_callback_comes_out_and_the_study_goes_on(rollUp):
    def watch(done, runs):
        raise LookupError("of the test")

    with pytest.raises(LookupError, match="of the test"):
        tendril.sweep(rollUp, {"turns": [0.1, 0.2]}, overrides=SMALL, progress=watch, workers=1)
    with pytest.raises(tendril.InputError, match="broken off"):
        tendril.Study("roll-up.sweep")
    seen = []
    assert tendril.sweep(rollUp, {"turns": [0.1, 0.2]}, overrides=SMALL, progress=lambda *p: seen.append(p)).succeeded.all()
    assert seen == [(2, 2)]


def test_control_c_ends_a_study_and_the_next_call_goes_on(scenes):
    scene = scenes / "contact/bouncing-ball.yaml"
    begin = f"""
import os, signal, sys, threading
import tendril
print("before", end="")  # what is not written yet must not be written by workers, too
def study(**more):
    return tendril.sweep({str(scene)!r}, {{"e": (0.1, 0.9, 20)}}, overrides={{"h": 1e-4}}, workers=2, output="balls", **more)
"""
    code = begin + """
before = signal.getsignal(signal.SIGINT)
try:
    study(progress=lambda done, runs: done == 2 and os.killpg(0, signal.SIGINT))  # as a terminal does: workers get it, too
except KeyboardInterrupt as stopped:
    assert isinstance(stopped, tendril.Interrupted) and "runs are left" in str(stopped)
    statuses = list(stopped.study.statuses)
    assert set(statuses) == {"success", "not run"} and statuses.count("success") >= 2, statuses
    assert signal.getsignal(signal.SIGINT) is before
    done = []
    try:
        signal.raise_signal(signal.SIGINT)  # Python's own again
    except KeyboardInterrupt:
        done.append("again")
    print(" stopped", done[0])
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, start_new_session=True)
    assert (process.stdout, process.stderr, process.returncode) == ("before stopped again\n", "", 0)
    partial = tendril.Study("balls")
    finished = int(partial.succeeded.sum())
    seen = []
    whole = tendril.sweep(scene, {"e": (0.1, 0.9, 20)}, overrides={"h": 1e-4}, output="balls", progress=lambda *p: seen.append(p))
    assert whole.succeeded.all() and seen[0] == (finished + 1, 20)


def test_progress_bar_counts_runs(rollUp, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    tendril.sweep(rollUp, {"turns": [0.1, 0.2]}, overrides=SMALL, progress=True)
    assert "2 of 2 runs" in capsys.readouterr().err


def test_a_scene_as_a_function(rollUp):
    run = tendril.ForwardRun.from_file(rollUp, ["elements=4"])
    result = run([tendril.ForwardRun.assign("turns", 0.5)])
    assert result.is_success() and result.value("energy") == pytest.approx(np.pi**2 / 2, rel=1e-6)
    assert run(["turns=-"]).end == tendril.RunEnd.WrongInput


def test_certification_is_a_run(scenes):
    results = tendril.run(scenes / "certify/ball-throw.yaml", {"samples": 100}, output="thrown")
    lower, upper = results.value("interval")
    assert lower <= results.value("exact") <= upper
    assert results.value("bound") >= results.value("exact")
