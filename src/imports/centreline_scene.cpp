// A beam along points.
#include "imports/readers.h"
#include "imports/yaml_text.h"
#include "tendril/documents/point_file.h"
#include "tendril/elements/curve.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tendril::imports {

namespace {

std::vector<Vector3> pointsOf(const ImportOptions& options, Remarks& remarks) {
  std::vector<Vector3> points;
  int repeated = 0;
  for (const Vector3& p : readPoints(options.file)) {
    const Vector3 x = options.unit * p;
    if (!(x.cwiseAbs().maxCoeff() < 1e100))
      throw InputError({options.file.string(), 0, 0}, "", "a point lies beyond all measure", "check its numbers");
    if (!points.empty() && x == points.back())
      ++repeated;
    else
      points.push_back(x);
  }
  if (repeated > 0) remarks.say(0, fmt::format("{} points that repeat the one before are left out", repeated));
  if (points.size() < 2) throw InputError({options.file.string(), 0, 0}, "", "a centreline has at least two different points", "give more");
  return points;
}

/// A node at a corner stands halfway between the legs, so that the elements beside it are arcs on their legs as chords, and longer.
void noteCorners(const std::vector<Vector3>& points, double length, const std::filesystem::path& file, Remarks& remarks) try {
  const Curve curve = Curve::polyline(points);
  double meshed = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    meshed += se3::log(curve.frame(curve.breaks()[i - 1]).relative(curve.frame(curve.breaks()[i]))).head<3>().norm();
  if (meshed > 1.001 * length)
    remarks.say(
        0, fmt::format("elements round the corners of the legs: they measure {:.6g} m together, {:.2g} % more than the legs; with more "
                       "elements (--set elements=N) only those at corners do, and --spline makes a smooth curve",
                       meshed, 100 * (meshed / length - 1)));
} catch (const InputError& error) {
  throw InputError({file.string(), 0, 0}, "", error.what(), "leave out points, or give --spline");
}

}

std::string sceneOfCentreline(const ImportOptions& options, Remarks& remarks) {
  const std::vector<Vector3> points = pointsOf(options, remarks);
  double length = 0;
  std::string list;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) length += (points[i] - points[i - 1]).norm();
    list += fmt::format("        - {}\n", yaml::vector(points[i]));
  }
  if (length >= 1e4 || length < 1e-3)
    remarks.say(0, fmt::format("the centreline is {:.6g} m long; if its numbers are in another unit, say so (--unit mm)", length));

  std::string parameters;
  const auto parameter = [&](const char* name, const char* option, const std::optional<double>& given, double placeholder,
                             const char* unit) {
    if (!given)
      remarks.lose(0, fmt::format("{} is not in the file; {} {} stands for it: give {}", name, yaml::number(placeholder), unit, option));
    parameters +=
        fmt::format("  {}: {}  # [{}]{}\n", name, yaml::number(given.value_or(placeholder)), unit, given ? "" : ", a placeholder");
  };
  parameter("radius", "--radius", options.radius, length / 200, "m");
  parameter("E", "--young", options.young, 1e9, "Pa");
  parameter("nu", "--poisson", options.poisson, 0.3, "(a ratio)");
  parameter("density", "--density", options.density, 1000, "kg/m^3");
  remarks.say(
      0,
      fmt::format("the points lie along {} m; the beam is free of strain there and clamped at the first one, which the file does not say",
                  yaml::number(length)));

  if (!options.isSmooth) noteCorners(points, length, options.file, remarks);

  const std::string stem = options.file.stem().string();
  const std::string name = Names(remarks, {"ground", "all"}).claim(stem, 0, "beam");
  const std::size_t elements = options.isSmooth ? std::max<std::size_t>(points.size() - 1, 10) : points.size() - 1;
  return yaml::head(options.file.filename().string(), stem, remarks) +
         fmt::format(R"(
parameters:
{}  elements: {}
  h: {}  # time step [s]
  duration: {}  # [s]

materials:
  - {{name: stuff, E: E, nu: nu, density: density}}

beams:
  - name: {}
    section: {{shape: circle, radius: radius}}
    material: stuff
    elements: elements
    curve:
      type: {}
      points:
{}
joints:
  - {{name: clamp, type: clamp, on: {}.start}}

gravity: {{acceleration: [0, 0, -9.81]}}

analysis: {{type: dynamic, duration: duration, step: h}}

outputs:
  - {{name: tip, measure: position, on: {}.end}}
  - {{name: length, measure: length, beam: {}}}
  - {{name: energy, measure: energy}}
)",
                     parameters, elements, yaml::number(options.step.value_or(1e-3)), yaml::number(options.duration), name,
                     options.isSmooth ? "spline" : "polyline", list, name, name, name);
}

}
