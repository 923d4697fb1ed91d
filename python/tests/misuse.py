"""Calls everything in the module `tendril` with wrong arguments: `misuse.py` prints what crashed or raised what it should not.

Signatures of the module say what each function takes. Objects are made from a few scenes and models by calling whatever returns one, until
no new class appears. Then each argument of each function, method and setter is replaced by what is wrong in turn, in a process forked for
that function: one that dies is a finding, and so is an exception that says nothing to a user. What takes more than a second of the processor is
given up.

Wrong arguments may write and remove files. So all of this happens in a mount namespace in which nothing but a folder of its own can be
written to, and no text leads out of that folder; where the system allows no such namespace, nothing is called.
"""

import ast
import math
import mmap
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import scipy.sparse  # noqa: F401  that a process does not import it each time

import tendril
from tendril import _core

SCENES = Path(__file__).resolve().parents[2] / "scenes"
NAMED = (TypeError, ValueError, LookupError, ArithmeticError, OSError, MemoryError, NotImplementedError, AttributeError, tendril.Error,
         tendril.Interrupted)
# Never called: they wait for somebody else, or write to where the test reads.
LEFT_OUT = {"serve_view", "ViewServer"}


class Callable:
    """A function with one of its signatures: names and annotations of its arguments, annotation of what it returns."""

    def __init__(self, path, function, signature):
        self.path, self.function = path, function
        text = re.sub(r"\\\d+", "None", signature)
        text = re.sub(r"numpy\.ndarray\[dtype=(\w+), shape=\(([^)]*)\)[^\]]*\]", r"Array['\1 \2']", text)
        text = re.sub(r"numpy\.ndarray\[[^\]]*\]", "Array['float64 *']", text).replace("def (", "def f(", 1)
        parsed = ast.parse(text + ": ...").body[0]
        arguments = [*parsed.args.posonlyargs, *parsed.args.args]
        self.hasKeywords = parsed.args.kwarg is not None
        self.arguments = [(a.arg, a.annotation) for a in arguments]
        self.result = parsed.returns


def walk(space, path=""):
    """All functions, methods and setters with their signatures."""
    for name, value in sorted(vars(space).items()):
        here = path + name
        if name in LEFT_OUT or (name.startswith("__") and name not in ("__init__", "__call__", "__mul__", "__add__", "__sub__", "__eq__")):
            continue
        if isinstance(value, types.ModuleType) or (isinstance(value, type) and type(value).__name__ == "nb_type"):
            yield from walk(value, here + ".")
        elif isinstance(value, property):
            for accessor in filter(None, (value.fget, value.fset)):
                yield from signatures(here, accessor, space)
        else:
            yield from signatures(here, value, space)


def signatures(path, function, space):
    for signature, *_ in getattr(function, "__nb_signature__", ()):
        found = Callable(path, space if path.endswith("__init__") else function, signature)
        if path.endswith("__init__"):
            found.arguments.pop(0)
            found.result = ast.parse(f"{space.__module__}.{space.__qualname__}", mode="eval").body
        elif isinstance(space, type) and found.arguments and found.arguments[0][0] == "self":
            found.arguments[0] = ("self", ast.parse(f"{space.__module__}.{space.__qualname__}", mode="eval").body)
        yield found


def classOf(annotation):
    """The class of an annotation `tendril._core.X`, or None."""
    text = ast.unparse(annotation)
    if not re.fullmatch(r"tendril[\w.]+", text):
        return None
    found = _core
    for part in text.split(".")[2:]:
        found = getattr(found, part)
    return found


class Zoo:
    """An object of every class that can be had."""

    def __init__(self):
        self.of = {}

    def keep(self, thing):
        if isinstance(thing, (list, tuple)):
            for item in thing[:2]:
                self.keep(item)
        elif type(type(thing)).__name__ == "nb_type":
            for kind in type(thing).__mro__[:-1]:
                self.of.setdefault(kind, thing)

    def right(self, annotation):
        """A right value, or KeyError."""
        if annotation is None:
            return None
        if isinstance(annotation, ast.Constant):
            return None
        if isinstance(annotation, ast.BinOp):
            return self.right(annotation.left)
        text = ast.unparse(annotation)
        if text in PLAIN:
            return PLAIN[text]
        kind = classOf(annotation)
        if kind is not None:
            return list(kind)[0] if hasattr(kind, "__members__") else self.of[kind]
        if isinstance(annotation, ast.Subscript):
            head, inner = ast.unparse(annotation.value), annotation.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if head == "Array":
                kindOfNumber, _, shape = inner.value.partition(" ")
                return np.ones([3 if n.strip() == "*" else int(n) for n in shape.split(",")], kindOfNumber)
            if head.endswith("Callable"):
                return lambda *given: self.right(parts[-1])
            if head.endswith(("Mapping", "dict")):
                return {self.right(parts[0]): self.right(parts[1])}
            if head.endswith("tuple"):
                return tuple(self.right(p) for p in parts)
            return [self.right(parts[0])]
        raise KeyError(text)

    def grow(self, functions):
        """Calls what returns an object that is missing, until nothing new comes."""
        size = -1
        while size != len(self.of):
            size = len(self.of)
            for f in functions:
                kind = classOf(f.result) if f.result is not None else None
                isList = f.result is not None and ast.unparse(f.result).startswith(("list", "tuple", "object"))
                if f.path.split(".")[-1] in SLOW or not (isList or (kind is not None and not hasattr(kind, "__members__"))):
                    continue
                if kind in self.of:
                    continue
                try:
                    arguments = [self.right(annotation) for _, annotation in f.arguments]
                except KeyError:
                    continue
                if not survives(lambda: f.function(*arguments)):  # it is found again
                    continue
                try:
                    self.keep(f.function(*arguments))
                except (Exception, tendril.Interrupted):  # not every right value suits
                    pass


def survives(call):
    """Whether a process outlives a call."""
    child = os.fork()
    if child == 0:
        try:
            quiet()
            signal.setitimer(signal.ITIMER_PROF, 1)
            call()
        finally:
            os._exit(0)
    return not os.WIFSIGNALED(os.waitpid(child, 0)[1])


def quiet():
    """In a process whose end is its purpose: no output, no core file, no more memory than this."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(60)


PLAIN = {"int": 1, "float": 0.5, "bool": True, "str": "a", "pathlib.Path": "file", "os.PathLike": "file", "list": [], "object": None}
SLOW = {"run_study", "run_scene", "run_file", "simulate", "certify", "render", "write_view_page"}


def seed(zoo):
    """Objects that no call with right values alone would give."""
    for file, *overrides in (
        ("beams/roll-up.yaml", "elements=3"),
        ("variational/pendulum.yaml",),
        ("rods/ring-with-weight.yaml", "N=10"),
        ("rods/heavy-elastica.yaml",),
        ("rods/clamped-cosserat.yaml",),
        ("shells/patch.yaml",),
        ("beam-contact/two-beams.yaml",),
        ("mechanisms/four-bar.yaml",),
        ("solvability/articulated.yaml",),
        ("control/double-integrator.yaml", "N=4"),
        ("certify/ball-throw.yaml", "samples=5"),
    ):
        scene = tendril.Scene.from_file(SCENES / file, overrides)
        for thing in (scene, scene.mechanism(), scene.analysis()):
            zoo.keep(thing)
    scene = tendril.Scene.from_file(SCENES / "contact/bouncing-ball.yaml", ["duration=0.4"])
    analysis = scene.analysis()
    analysis.start()
    builder = tendril.MechanismBuilder()
    body = builder.body("body", tendril.MassProperties.box(1000, [0.1, 0.1, 0.1]), tendril.Pose())
    section = tendril.SectionProperties.of(tendril.Section.circle(0.01), tendril.Material(youngs_modulus=1e9, density=1000))
    beam = builder.beam("beam", tendril.Curve.straight([0, 0, 0], [1, 0, 0]), section, tendril.BeamOptions(elements=2))
    results = tendril.run(SCENES / "contact/bouncing-ball.yaml", {"duration": 0.4}, output="run")
    study = tendril.sweep(SCENES / "contact/bouncing-ball.yaml", {"e": [0.5], "duration": [0.1]}, output="study")
    problem = tendril.FrictionProblem.dense(np.eye(3), [-1, 1, 0], [tendril.FrictionLaw.coulomb(0.3)])
    optimum = tendril.Scene.from_file(SCENES / "control/double-integrator.yaml", ["N=4"]).analysis()
    optimum.start()
    for thing in (analysis.advance(), builder, body, beam, body.at(), results.reader, tendril.RunResults(results.folder), optimum.path()):
        zoo.keep(thing)
    for thing in (tendril.StudyTable(study.folder), tendril.ForwardRun.from_file(SCENES / "beams/roll-up.yaml", ["elements=3"])):
        zoo.keep(thing)
    for thing in (scene, analysis, analysis.state(), scene.outputs(), scene.mechanism(), scene.mechanism().model, problem):
        for kind in type(thing).__mro__[:-1]:
            zoo.of[kind] = thing


def raiseError(*_):
    raise RuntimeError("from a callback")


def wrongs(annotation, zoo):
    """What is wrong for an argument, or so large or small that it may be."""
    yield from (None, object(), "text", b"bytes", -1, 0, 2**31 - 1, -(2**31), 2**70, 1.5, math.nan, math.inf, 1e300, 1e-300, 1j)
    yield from ([], [None], [object()], {}, (1, "a"), [[1, 2], [3]], raiseError, lambda *given: None, lambda *given: "text")
    for shape in ((0,), (1,), (2,), (7,), (13,), (0, 0), (1, 3), (3, 1), (4, 4), (5, 5), (2, 2, 2)):
        yield np.ones(shape)
    yield np.full(3, math.nan)
    yield np.full((3, 3), math.nan)
    yield np.ones((6, 6))[::2, ::2]
    yield np.array(["a", "b", "c"])
    yield np.array([1, None, object()])
    for text in ("a", "tip", "x" * 5000, "\0"):
        yield text
    kind = classOf(annotation)
    if kind is not None and not hasattr(kind, "__members__"):
        yield kind.__new__(kind)
        try:
            yield kind()
        except TypeError:
            pass
    for other in (_core.Pose, _core.State, _core.Model, _core.FrictionProblem):
        if other in zoo.of:
            yield zoo.of[other]


def calls(f, zoo):
    """Argument lists with one wrong value each; all alike where no right value is known."""
    right = []
    for _, annotation in f.arguments:
        try:
            right.append(zoo.right(annotation))
        except KeyError:
            right.append(None)
    yield right
    if f.arguments and f.arguments[0][0] == "self":
        kind = classOf(f.arguments[0][1])
        for thing in {id(t): t for t in zoo.of.values() if isinstance(t, kind)}.values():  # of what derives from the class
            yield [thing, *right[1:]]
    for i, (name, annotation) in enumerate(f.arguments):
        for wrong in wrongs(annotation, zoo):
            yield [*right[:i], wrong, *right[i + 1 :]]
    yield right[:-1]
    yield [*right, None]


def misuse(f, zoo, first, report, place):
    """All calls from a number on; the number of the one at work is told, so that it is known when the process dies."""
    for number, arguments in enumerate(calls(f, zoo)):
        if number < first:
            continue
        place[:4] = struct.pack("i", number)
        signal.setitimer(signal.ITIMER_PROF, 1)
        try:
            f.function(*arguments)
        except NAMED:
            pass
        except RuntimeError as error:
            if not any(known in str(error) for known in ("from a callback", "pure virtual function")):
                report(number, arguments, repr(error))
        except BaseException as error:  # noqa: B036
            report(number, arguments, repr(error))
    signal.setitimer(signal.ITIMER_PROF, 0)


def shown(arguments):
    return ", ".join(repr(a)[:60].replace("\n", " ") for a in arguments)


def findings(only=""):
    """(what was called, what came of it) of all that should not be; and what took too long."""
    functions = list(walk(_core))
    zoo = Zoo()
    seed(zoo)
    zoo.grow(functions)
    place = mmap.mmap(-1, 4)
    found, slow = [], []
    for f in functions:
        if not re.match(only, f.path):
            continue
        first = 0
        while True:
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    quiet()
                    tell = lambda n, a, what: os.write(write, f"{f.path}({shown(a)}): {what}\n".encode()[:4000])  # noqa: E731
                    misuse(f, zoo, first, tell, place)
                finally:
                    os._exit(0)
            os.close(write)
            told = b""
            while piece := os.read(read, 65536):
                told += piece
            os.close(read)
            _, status = os.waitpid(child, 0)
            found += told.decode(errors="replace").splitlines()
            if not os.WIFSIGNALED(status):
                break
            number = struct.unpack("i", place[:4])[0]
            arguments = next(a for i, a in enumerate(calls(f, zoo)) if i == number)
            died = os.WTERMSIG(status)
            text = f"{f.path}({shown(arguments)}): {signal.Signals(died).name}"
            (slow if died in (signal.SIGALRM, signal.SIGPROF) else found).append(text)
            first = number + 1
    return found, slow, {c.__name__ for c in allClasses() if c not in zoo.of}, len(functions)


def allClasses():
    def look(space):
        for value in vars(space).values():
            if isinstance(value, types.ModuleType):
                yield from look(value)
            elif type(value).__name__ == "nb_type":
                yield value
                yield from look(value)

    return list(look(_core))


REFUSED = 77  # exit code where nothing can be confined


def confine(folder):
    """Leaves a folder in memory alone to be written to, or ends. The mounts are those of this process and what it starts."""
    mount = lambda *arguments: subprocess.run(["mount", *arguments], capture_output=True).returncode == 0  # noqa: E731
    if not mount("-t", "tmpfs", "tmpfs", folder):
        sys.exit(REFUSED)
    places = {line.split()[1].encode().decode("unicode_escape") for line in Path("/proc/self/mounts").read_text().splitlines()}
    for place in sorted(places - {os.path.realpath(folder)}):
        mount("-o", "remount,bind,ro", place)
    for place in (Path(__file__).parent, Path.home(), Path("/"), Path(folder).parent):
        if os.statvfs(place).f_flag & os.ST_RDONLY == 0:
            print(f"{place} can be written to", file=sys.stderr)
            sys.exit(REFUSED)
    os.chdir(folder)


def startConfined(arguments):
    own = ["unshare", "--map-root-user", "--mount", "--propagation", "private", sys.executable, "-B", __file__, "--confined"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            return subprocess.run([*own, folder, *arguments]).returncode
        except OSError:
            return REFUSED


if __name__ == "__main__":
    if sys.argv[1:2] != ["--confined"]:
        sys.exit(startConfined(sys.argv[1:]))
    confine(sys.argv[2])
    found, slow, missing, count = findings(*sys.argv[3:])
    print("\n".join(found))
    print("slow:", *slow, sep="\n  ", file=sys.stderr)
    print(f"{count} signatures, no object of: {', '.join(sorted(missing))}", file=sys.stderr)
