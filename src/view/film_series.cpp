#include "view/film_channel.h"

#include <algorithm>
#include <initializer_list>

namespace tendril {

namespace {

std::vector<std::string> columnNames(Eigen::Index width, const std::string& frame) {
  if (width == 1) return {"value"};
  if (width == 3 && !frame.empty()) return {"x", "y", "z"};
  std::vector<std::string> names;
  for (Eigen::Index i = 0; i < width; ++i) names.push_back(std::to_string(i + 1));
  return names;
}

FilmSeries outputSeries(const ResultReader& reader, const std::string& name) {
  FilmSeries series{name, "outputs", reader.outputInfo(name), !reader.isSeries(name), {}, reader.output(name)};
  series.columns = columnNames(series.isArray ? 1 : series.values.cols(), series.info.frame);
  return series;
}

/// A name that no output has.
std::string freeName(std::string name, const std::vector<std::string>& outputs) {
  while (std::find(outputs.begin(), outputs.end(), name) != outputs.end()) name += " of the run";
  return name;
}

/// The energies as the lines of one chart.
FilmSeries energySeries(const ResultReader& reader, const std::vector<std::string>& steps) {
  FilmSeries energies{
      freeName("energies", reader.outputs()), "energy", {"J", "Energies; work and dissipation since the start", ""}, false, {}, {}};
  for (const auto& [name, label] :
       {std::pair("total_energy", "total"), std::pair("kinetic_energy", "kinetic"), std::pair("elastic_energy", "elastic"),
        std::pair("gravitational_energy", "gravitational"), std::pair("work", "work"), std::pair("dissipated", "dissipated")}) {
    if (std::find(steps.begin(), steps.end(), name) == steps.end()) continue;
    const ResultReader::RowMatrix values = reader.step(name);
    energies.columns.emplace_back(label);
    energies.values.conservativeResize(values.rows(), Eigen::Index(energies.columns.size()));
    energies.values.rightCols(1) = values;
  }
  return energies;
}

}

std::vector<FilmSeries> filmSeries(const ResultReader& reader) {
  const std::vector<std::string> outputs = reader.outputs(), steps = reader.steps();
  std::vector<FilmSeries> list;
  for (const std::string& name : outputs) list.push_back(outputSeries(reader, name));
  if (FilmSeries energies = energySeries(reader, steps); !energies.columns.empty()) list.push_back(std::move(energies));
  for (const auto& [name, label] :
       {std::pair("step_size", "step size"), std::pair("iterations", "Newton iterations"), std::pair("residual", "residual"),
        std::pair("contact_residual", "contact residual"), std::pair("sweeps", "contact sweeps"),
        std::pair("contact_newton_steps", "contact Newton steps"), std::pair("penetration", "penetration")}) {
    if (std::find(steps.begin(), steps.end(), name) == steps.end()) continue;
    list.push_back({freeName(label, outputs), "solver", reader.stepInfo(name), false, {"value"}, reader.step(name)});
  }
  return list;
}

void addSeriesChannels(const std::vector<FilmSeries>& list, std::vector<FilmChannel>& channels) {
  for (const FilmSeries& series : list) {
    if (series.isArray) continue;
    FilmChannel channel{"series/" + series.name, FilmChannel::Layout::Dense, 1, series.columns, {}};
    channel.fill = [&values = series.values](const FilmFrame& frame, ChunkBuffer& buffer) {
      // Results without rows are shown by the initial state, of which nothing was recorded.
      const bool exists = Eigen::Index(frame.row) < values.rows();
      for (Eigen::Index i = 0; i < values.cols(); ++i) {
        buffer.add(exists ? values(Eigen::Index(frame.row), i) : std::numeric_limits<double>::quiet_NaN());
      }
    };
    channels.push_back(std::move(channel));
  }
}

}
