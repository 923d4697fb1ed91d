#include "app/gallery_study.h"

#include "app/study_plot.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tendril::app {

namespace {

constexpr std::array lineColours{"#1b6ca8", "#c8553d", "#588157", "#7b5ea7", "#b8860b", "#444444"};
constexpr std::array cellColours{"#cfe5ca", "#f0c9bd", "#e8d58a", "#8fbf88", "#c9d7ea", "#d9c9e4"};

/// A point of a study: parameters and their values.
using Point = std::vector<std::pair<std::string, double>>;
using Values = std::map<std::string, double>;

std::string describe(const Point& point) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : point) parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The results of the outputs, of arrays their first number.
Values runAt(const std::filesystem::path& file, const Point& point, const std::function<bool()>& stop) try {
  if (stop()) throw Interrupted("stopped in a study of " + file.string());
  std::vector<std::string> overrides;
  for (const auto& [name, value] : point) overrides.push_back(fmt::format("{}={}", name, value));
  const Scene scene = Scene::fromFile(file, overrides);
  Outputs outputs = scene.makeOutputs();
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->stopWhen(stop);
  analysis->start();
  StepReport initial;
  initial.t = analysis->state().t;
  outputs.observe(*analysis, initial);
  while (!analysis->finished()) {
    if (stop()) throw Interrupted("stopped in a study of " + file.string());
    outputs.observe(*analysis, analysis->advance());
  }
  Values values;
  for (int i = 0; i < outputs.size(); ++i) {
    if (!outputs.result(i).empty()) values[outputs.infos()[std::size_t(i)].name] = outputs.result(i)[0];
  }
  return values;
} catch (const NumericalFailure& failure) {
  throw NumericalFailure("study at " + describe(point) + ": " + failure.what());
} catch (const InputError& error) {
  throw InputError("study at " + describe(point) + ": " + error.what());
}

StudyPlot::Range rangeOf(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most > *least ? *most : *least + 1};
}

// ---- curves ----------------------------------------------------------------------------------------------------------------------------

struct Curve {
  std::string words;
  StudyPlot::Points points;
};

std::vector<Curve> findCurves(const std::filesystem::path& file, const StudyPicture& study, const std::function<bool()>& stop) {
  std::vector<Curve> curves;
  const std::vector<double> members = study.each ? study.each->values : std::vector<double>{0};
  for (const double member : members) {
    const std::size_t first = curves.size();
    for (const std::string& name : study.outputs)
      curves.push_back({study.each ? fmt::format("{}, {} = {:.4g}", name, study.each->parameter, member) : name, {}});
    for (const double x : study.x.values) {
      Point point{{study.x.parameter, x}};
      if (study.each) point.emplace_back(study.each->parameter, member);
      const Values values = runAt(file, point, stop);
      for (std::size_t i = 0; i < study.outputs.size(); ++i) curves[first + i].points.emplace_back(x, values.at(study.outputs[i]));
    }
  }
  return curves;
}

StudyPlot drawCurves(const std::filesystem::path& file, const StudyPicture& study, const std::function<bool()>& stop) {
  const std::vector<Curve> curves = findCurves(file, study, stop);
  std::vector<double> heights{0};
  for (const Curve& curve : curves) {
    for (const auto& [x, y] : curve.points) {
      if (std::isfinite(y) && !(study.highest && y > *study.highest)) heights.push_back(y);
    }
  }
  if (study.highest) heights.push_back(*study.highest);
  StudyPlot plot(rangeOf(study.x.values), rangeOf(heights), study.x.parameter, fmt::format("{}", fmt::join(study.outputs, ", ")));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const char* colour = lineColours[i % lineColours.size()];
    plot.curve(curves[i].points, colour);
    plot.legend(curves[i].words, colour);
  }
  return plot;
}

// ---- maps ------------------------------------------------------------------------------------------------------------------------------

/// Borders of the cells about values: half-way between them.
std::vector<double> borders(const std::vector<double>& values) {
  std::vector<double> at{values.front()};
  for (std::size_t i = 1; i < values.size(); ++i) at.push_back(0.5 * (values[i - 1] + values[i]));
  at.push_back(values.back());
  return at;
}

/// What a cell is coloured by, in words.
std::string wordsOf(const Values& values, const std::vector<std::string>& outputs) {
  std::vector<std::string> parts;
  for (const std::string& name : outputs) {
    const double value = values.at(name);
    parts.push_back(std::isnan(value) ? name + " not known" : fmt::format("{} = {:.4g}", name, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

StudyPlot drawMap(const std::filesystem::path& file, const StudyPicture& study, const std::function<bool()>& stop) {
  StudyPlot plot(rangeOf(study.x.values), rangeOf(study.y->values), study.x.parameter, study.y->parameter);
  const std::vector<double> xs = borders(study.x.values), ys = borders(study.y->values);
  std::map<std::string, const char*> colours;
  StudyPlot::Points line;
  double side = 0;
  for (std::size_t i = 0; i < study.x.values.size(); ++i) {
    std::vector<std::string> column;
    for (const double y : study.y->values) {
      const Values values = runAt(file, {{study.x.parameter, study.x.values[i]}, {study.y->parameter, y}}, stop);
      column.push_back(wordsOf(values, study.outputs));
      if (colours.size() == cellColours.size() && !colours.contains(column.back()))
        throw InputError(fmt::format("the study '{}' takes more than {} different values: show outputs that take few, or curves",
                                     study.title, cellColours.size()));
      colours.try_emplace(column.back(), cellColours[std::min(colours.size(), cellColours.size() - 1)]);
      if (column.size() > 1) continue;
      if (!study.line.empty()) line.emplace_back(study.x.values[i], values.at(study.line));
      if (!study.square.empty() && i == 0) side = values.at(study.square);
    }
    for (std::size_t from = 0, to = 1; from < column.size(); from = to++) {
      while (to < column.size() && column[to] == column[from]) ++to;
      plot.cell({xs[i], xs[i + 1]}, {ys[from], ys[to]}, colours[column[from]]);
    }
  }
  for (const auto& [words, colour] : colours) plot.legend(words, colour);
  if (!study.line.empty()) plot.curve(line, lineColours[0]), plot.legend(study.line, lineColours[0]);
  if (!study.square.empty()) plot.square(side, lineColours[0]), plot.legend("square below " + study.square, lineColours[0]);
  return plot;
}

}

std::string drawStudy(const std::filesystem::path& scene, const StudyPicture& study, const std::function<bool()>& stop) {
  return (study.y ? drawMap(scene, study, stop) : drawCurves(scene, study, stop)).svg(study.title);
}

}
