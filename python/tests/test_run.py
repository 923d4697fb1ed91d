"""Scenes: read, run, their results read."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tendril


def test_half_a_turn_bends_a_cantilever_to_a_half_circle(scenes):
    results = tendril.run(scenes / "beams/roll-up.yaml", {"turns": 0.5}, output="half")
    assert results.status == "success"
    np.testing.assert_allclose(results.value("tip"), [0, 2 / np.pi, 0], atol=1e-9)  # for L = 1
    assert results.value("energy") == pytest.approx(np.pi**2 / 2, rel=1e-9)  # EI kappa^2 L / 2 with kappa = pi
    assert results.unit("tip") == "m"
    assert results["tip"].shape == (len(results), 3) and results["energy"].shape == (len(results),)
    assert results.time[-1] == 1
    np.testing.assert_array_equal(results["tip"][-1], results.value("tip"))
    assert json.loads((results.folder / "summary.json").read_text()) == results.summary


def test_results_of_a_folder_are_those_of_the_run(scenes):
    made = tendril.run(scenes / "beams/roll-up.yaml", {"elements": 4, "turns": 0.25}, output="folder")
    again = tendril.Results("folder")
    assert again.summary == made.summary
    np.testing.assert_array_equal(again["tip"], made["tip"])
    state, model = again.state(-1), again.scene.mechanism().model
    tip = again.scene.mechanism().beam("beam").nodes[-1]
    np.testing.assert_allclose(state.pose(model, tip).x, again.value("tip"), atol=1e-14)
    with pytest.raises(tendril.InputError, match="no results"):
        tendril.Results("nowhere")
    with pytest.raises(KeyError, match="there are: energy, tip"):
        again.value("tipp")
    with pytest.raises(IndexError):
        again.state(len(again))


def test_overrides_take_numbers_texts_and_arrays(scenes):
    file = scenes / "contact/bouncing-ball.yaml"
    scene = tendril.Scene.from_file(file, ["e=0.25"])
    assert scene.document().parameters().find("e") == 0.25
    results = tendril.run(scene, {"duration": np.float64(0.5), "bodies.ball.position": np.array([0, 0, 0.6])}, output="ball")
    # From 0.5 m: the first impact after sqrt(2 h0/g), the apex e^2 h0.
    assert results.value("impact_times")[0] == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=2e-3)
    assert results.summary["parameters"]["e"] == 0.25
    with pytest.raises(tendril.InputError, match="duration"):
        tendril.run(file, ["durration=1"])
    with pytest.raises(TypeError, match="dict or a list"):
        tendril.run(file, "e=1")


def test_scene_from_text_names_the_place_of_a_mistake(scenes):
    text = (scenes / "beams/roll-up.yaml").read_text().replace("elements: elements", "element: 3")
    with pytest.raises(tendril.InputError, match=r"mine:\d+.*element") as refused:
        tendril.Scene.from_text(text, "mine")
    assert isinstance(refused.value, ValueError) and isinstance(refused.value, tendril.Error)
    with pytest.raises(tendril.InputError):
        tendril.Scene.from_file("missing.yaml")


def test_failure_of_the_numerics_keeps_the_results(scenes):
    scene = tendril.Scene.from_file(scenes / "beams/roll-up.yaml", ["loads.roll.time=t + 0*sqrt(0.55 - t)"])
    with pytest.raises(tendril.NumericalFailure) as failed:
        tendril.run(scene, output="failing")
    results = failed.value.results
    assert results.status == "failed" and str(failed.value) == results.message and "t = " in results.message
    assert tendril.run(scene, output="failing", check=False).status == "failed"


def test_progress_and_stop(scenes):
    seen = []
    results = tendril.run(
        scenes / "contact/bouncing-ball.yaml", {"duration": 0.05}, output="ball", progress=lambda p: seen.append((p.step, p.fraction))
    )
    assert [step for step, _ in seen] == list(range(1, 51)) and seen[-1][1] == pytest.approx(1)
    asked = []
    stopped = tendril.run(
        scenes / "contact/bouncing-ball.yaml", {"duration": 0.05}, output="ball", stop=lambda: asked.append(1) or len(asked) == 7
    )
    assert stopped.status == "interrupted"
    resumed = tendril.run(scenes / "contact/bouncing-ball.yaml", {"duration": 0.05}, output="ball", resume=True)
    assert resumed.summary["outputs"] == results.summary["outputs"]


def test_an_exception_in_a_callback_comes_out_as_it_is(scenes):
    def watch(progress):
        raise LookupError("of the test")

    with pytest.raises(LookupError, match="of the test"):
        tendril.run(scenes / "beams/roll-up.yaml", output="broken", progress=watch)


def test_progress_bar_of_tqdm_and_without_it(scenes, capsys, monkeypatch):
    tendril.run(scenes / "beams/roll-up.yaml", {"elements": 4, "turns": 0.1}, output="bar", progress=True)
    assert "100" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    tendril.run(scenes / "beams/roll-up.yaml", {"elements": 4, "turns": 0.1}, output="bar", progress=True)
    assert "100.0 %" in capsys.readouterr().err


def test_control_c_ends_a_run_and_it_can_be_resumed(scenes):
    code = f"""
import tendril
print("begin", flush=True)
try:
    tendril.run({str(scenes / "contact/bouncing-ball.yaml")!r}, {{"h": 1e-5, "duration": 20}}, output="long",
                progress=lambda p: p.step == 1 and print("runs", flush=True))
except KeyboardInterrupt as stopped:
    assert isinstance(stopped, tendril.Interrupted)
    print(stopped.results.status, stopped.results.summary["steps"] > 0, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begin\n" and process.stdout.readline() == "runs\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert out == "interrupted True\n" and process.returncode == 0


def test_other_threads_go_on_while_a_scene_runs(scenes):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    tendril.run(scenes / "contact/bouncing-ball.yaml", {"h": 2e-4}, output="ball")
    during = [t for t in ticks if t >= begin]
    done.set()
    thread.join()
    assert len(during) > 5


def test_dataset_of_xarray_has_units(scenes):
    data = tendril.run(scenes / "contact/bouncing-ball.yaml", {"duration": 0.1}, output="ball").dataset()
    assert data["position"].attrs["units"] == "m" and data["position"].dims == ("time",)
    assert data.attrs["status"] == "success"
    falling = 1 - 9.81 * data.time**2 / 2
    assert abs(data["position"] - falling).max() < 2e-3
    assert "step_iterations" in data


def test_writer_and_reader_agree():
    writer = tendril.ResultWriter("own.h5", tendril.RunMetadata(version="1", scene="none"))
    series = writer.add_output("height", 2, tendril.SeriesInfo(unit="m", description="of two balls"))
    for row in range(3):
        writer.set(series, [row, 2.0 * row])
        writer.end_step(0.5 * row)
    writer.close()
    reader = tendril.ResultReader("own.h5")
    np.testing.assert_array_equal(reader.output("height"), [[0, 0], [1, 2], [2, 4]])
    np.testing.assert_array_equal(reader.time(), [0, 0.5, 1])
    assert reader.output_info("height").unit == "m"
    with pytest.raises(ValueError, match="2 columns, not 3"):
        wrong = tendril.ResultWriter("other.h5")
        wrong.set(wrong.add_output("height", 2, tendril.SeriesInfo()), [1, 2, 3])


def test_exports_and_pages(scenes):
    results = tendril.run(scenes / "beams/roll-up.yaml", {"elements": 4, "turns": 0.1}, output="shown")
    files = tendril.export_results(tendril.ExportOptions(results=results.folder, format=tendril.ExportFormat.Csv, folder="csv"))
    assert files and all(os.path.exists(file) for file in files)
    film = tendril.Film(results.folder)
    assert film.frames() == len(results) and json.loads(film.header())
    if tendril.has_viewer():
        page = tendril.write_view_page(tendril.ViewOptions(results=results.folder))
        assert page.bytes > 1000
    else:
        with pytest.raises(tendril.MachineFailure, match="viewer"):
            tendril.write_view_page(tendril.ViewOptions(results=results.folder))


def test_units_and_expressions():
    unit = tendril.parse_unit("kN/mm^2")
    assert unit.factor == pytest.approx(1e9)
    assert unit.dimension == tendril.dimension.pressure
    with pytest.raises(tendril.Error, match="kN"):
        tendril.parse_unit("kNN")
    expression = tendril.Expression("a*t^2", tendril.SymbolTable({"a": 3.0}), tendril.Expression.Time.Allowed)
    jet = expression.jet(2.0)
    assert (jet.value, jet.rate, jet.acceleration) == (12, 12, 6)
    with pytest.raises(tendril.ExpressionError, match="b"):
        tendril.Expression("b", tendril.SymbolTable())
