#!/usr/bin/env python3
"""Pictures of docs/solvability.md, computed by the scenes of scenes/solvability with `tendril sweep`.

    python3 scripts/solvability_pictures.py [--program build/release/bin/tendril] [--output docs/images]

bound-by-angle.svg        bounds on friction against the angle, four mechanisms
uniqueness-region.svg     Painleve and Klein in the plane (mu1, mu2): where forces are unique, and the square below the bound
painleve-boundary.svg     number of solutions of the sliding rod in the plane (angle, mu), and the bound
"""
import argparse
import csv
import math
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 420, 300, 48, 14, 12, 40
COLOURS = ["#1b6ca8", "#c8553d", "#588157", "#7b5ea7"]


def sweep(program, scene, over, fixed=()):
    """Rows of a sweep, by the names of parameters and outputs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "sweep", str(ROOT / "scenes/solvability" / f"{scene}.yaml"), "-o", f"{folder}/sweep"]
        for range_ in over:
            command += ["--over", range_]
        for value in fixed:
            command += ["--set", value]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{folder}/sweep/sweep.csv", newline="", encoding="utf-8") as table:
            return list(csv.DictReader(table))


def column(rows, name):
    """Numbers of a column; a unit may follow its name."""
    key = next(k for k in rows[0] if k == name or k.startswith(f"{name} ") or k.startswith(f"{name}["))
    return [float(row[key]) if row[key] else math.nan for row in rows]


class Plot:
    def __init__(self, x, y, x_label, y_label):
        self.x, self.y = x, y
        self.cells, self.items, self.labels = [], [], [x_label, y_label]

    def place(self, x, y):
        u = LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT)
        v = HEIGHT - BOTTOM - (y - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)
        return u, v

    def line(self, points, colour, dash=""):
        text = " ".join("{:.1f},{:.1f}".format(*self.place(x, y)) for x, y in points if self.y[0] <= y <= self.y[1])
        self.items.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"/>')

    def cell(self, x0, x1, y0, y1, colour):
        """A cell of a map; cells of one colour that lie on each other become one."""
        (u0, v0), (u1, v1) = self.place(x0, y1), self.place(x1, y0)
        self.cells.append((round(u0, 1), round(u1, 1), round(v0, 1), round(v1, 1), colour))

    def square(self, side, colour):
        (u0, v0), (u1, v1) = self.place(0, side), self.place(side, 0)
        self.items.append(f'<rect x="{u0:.1f}" y="{v0:.1f}" width="{u1 - u0:.1f}" height="{v1 - v0:.1f}" '
                          f'fill="{colour}" fill-opacity="0.35" stroke="{colour}"/>')

    def map(self):
        merged = []
        for u0, u1, v0, v1, colour in sorted(self.cells):
            last = merged[-1] if merged else None
            if last and (last[0], last[1], last[4]) == (u0, u1, colour) and abs(last[3] - v0) < 0.3:
                last[3] = v1
            else:
                merged.append([u0, u1, v0, v1, colour])
        paths = [f'<path d="M{u0} {v0}H{u1}V{v1}H{u0}z" fill="{colour}"/>' for u0, u1, v0, v1, colour in merged]
        return ['<g shape-rendering="crispEdges">', *paths, "</g>"] if paths else []

    def text(self, x, y, words, colour="#222", anchor="start"):
        u, v = self.place(x, y)
        self.items.append(f'<text x="{u:.1f}" y="{v:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>')

    def axes(self):
        parts = []
        for k in range(6):
            x = self.x[0] + k / 5 * (self.x[1] - self.x[0])
            y = self.y[0] + k / 5 * (self.y[1] - self.y[0])
            u, v = self.place(x, self.y[0])[0], self.place(self.x[0], y)[1]
            parts.append(f'<text x="{u:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{x:.3g}</text>')
            parts.append(f'<text x="{LEFT - 5}" y="{v + 4:.1f}" text-anchor="end">{y:.3g}</text>')
        parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{self.labels[0]}</text>')
        parts.append(f'<text transform="translate(12,{(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{self.labels[1]}</text>')
        parts.append(f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" stroke="#444"/>')
        return parts

    def write(self, file):
        body = "\n".join(self.map() + self.items + self.axes())
        file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">\n'
                        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n', encoding="utf-8")


def bound_by_angle(program, file):
    plot = Plot((0, 90), (0, 4), "angle [deg]", "bound on the coefficient of friction")
    for k, (scene, words) in enumerate([("painleve-rod", "Painleve"), ("painleve-klein", "Painleve and Klein"),
                                        ("painleve-klein-flexible", "with a spring, d = 0.2"), ("ladder", "ladder")]):
        rows = sweep(program, scene, ["angle=2:88:44"])
        plot.line(zip(column(rows, "angle"), column(rows, "bound")), COLOURS[k])
        plot.text(34, 3.75 - 0.2 * k, words, COLOURS[k])
    plot.write(file)


def uniqueness_region(program, file, angle=45):
    count, largest = 31, 3.0
    rows = sweep(program, "painleve-klein", [f"mu1=0:{largest}:{count}", f"mu2=0:{largest}:{count}"], [f"angle={angle}"])
    plot = Plot((0, largest), (0, largest), "mu1, lower guide", "mu2, upper guide")
    half = largest / (count - 1) / 2
    for mu1, mu2, unique, always in zip(*(column(rows, name) for name in ("mu1", "mu2", "unique", "unique_always"))):
        colour = "#8fbf88" if always else "#cfe5ca" if unique else "#f0c9bd"
        plot.cell(max(0, mu1 - half), min(largest, mu1 + half), max(0, mu2 - half), min(largest, mu2 + half), colour)
    bound = column(rows, "bound")[0]
    plot.square(bound, COLOURS[0])
    plot.text(bound / 2, bound / 2, "bound", anchor="middle")
    plot.text(0.15, 1.35, "any load")
    plot.text(1.7, 1.9, "loads along the guides")
    plot.text(1.9, 0.25, "none or two")
    plot.write(file)


def painleve_boundary(program, file):
    count_x, count_y = 43, 31
    rows = sweep(program, "painleve-rod", [f"angle=4:88:{count_x}", f"mu=0:3:{count_y}"])
    plot = Plot((4, 88), (0, 3), "angle [deg]", "coefficient of friction")
    dx, dy = 42 / (count_x - 1), 1.5 / (count_y - 1)
    colours = {0: "#f0c9bd", 1: "#cfe5ca", 2: "#e8d58a"}
    for angle, mu, solutions in zip(*(column(rows, name) for name in ("angle", "mu", "solutions"))):
        plot.cell(max(4, angle - dx), min(88, angle + dx), max(0, mu - dy), min(3, mu + dy), colours[int(solutions)])
    plot.line([(a, b) for a, b, mu in zip(*(column(rows, n) for n in ("angle", "bound", "mu"))) if mu == 0], COLOURS[0])
    plot.text(12, 0.5, "one solution")
    plot.text(63, 2.2, "none", anchor="middle")
    plot.write(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/tendril"))
    parser.add_argument("--output", type=Path, default=ROOT / "docs/images")
    arguments = parser.parse_args()
    bound_by_angle(arguments.program, arguments.output / "bound-by-angle.svg")
    uniqueness_region(arguments.program, arguments.output / "uniqueness-region.svg")
    painleve_boundary(arguments.program, arguments.output / "painleve-boundary.svg")


if __name__ == "__main__":
    main()
