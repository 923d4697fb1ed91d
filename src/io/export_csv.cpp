#include "io/export_source.h"
#include "tendril/documents/csv.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tendril {

namespace {

namespace fs = std::filesystem;

std::string header(const std::string& name, const SeriesInfo& info, Eigen::Index columns) {
  const std::string unit = info.unit == "1" ? "" : " [" + info.unit + "]";
  if (columns == 1) return csvField(name + unit);
  std::string text;
  for (Eigen::Index i = 0; i < columns; ++i) text += (i > 0 ? "," : "") + csvField(fmt::format("{}_{}{}", name, i + 1, unit));
  return text;
}

fs::path writeOutput(const ExportSource& source, const std::string& name) {
  const ResultReader& reader = source.reader();
  const auto values = reader.output(name);
  const bool isSeries = reader.isSeries(name);
  const fs::path path = source.folder() / (name + ".csv");
  ExportFile file(path);
  file.stream() << (isSeries ? source.scene().isDynamic() ? "time [s]," : "load," : "")
                << header(name, reader.outputInfo(name), values.cols()) << '\n';
  const auto writeRow = [&](Eigen::Index row) {
    for (Eigen::Index i = 0; i < values.cols(); ++i) fmt::print(file.stream(), "{}{}", i > 0 ? "," : "", values(row, i));
    file.stream() << '\n';
  };
  if (isSeries) {
    for (const std::size_t row : source.rows()) {
      fmt::print(file.stream(), "{},", source.time(row));
      writeRow(Eigen::Index(row));
    }
  } else {
    for (Eigen::Index row = 0; row < values.rows(); ++row) writeRow(row);
  }
  file.close();
  return path;
}

/// The nodes of a beam in all rows, one line each.
fs::path writeCentreline(const ExportSource& source, const BeamPart& beam) {
  const Model& model = *source.scene().mechanism().model;
  const fs::path path = source.folder() / ("centreline_" + beam.name + ".csv");
  ExportFile file(path);
  file.stream() << (source.scene().isDynamic() ? "time [s]" : "load") << ",node,arclength [m],x [m],y [m],z [m]\n";
  for (const std::size_t row : source.rows()) {
    const State state = source.state(row);
    for (std::size_t node = 0; node < beam.nodes.size(); ++node) {
      const Vector3 x = state.q.segment<3>(model.blocks()[std::size_t(beam.nodes[node])].q);
      fmt::print(file.stream(), "{},{},{},{},{},{}\n", state.t, node, beam.arclength[node], x[0], x[1], x[2]);
    }
  }
  file.close();
  return path;
}

}

std::vector<fs::path> exportCsv(const ExportSource& source) {
  std::vector<fs::path> files;
  for (const std::string& name : source.reader().outputs()) files.push_back(writeOutput(source, name));
  for (const BeamPart& beam : source.scene().mechanism().beams) files.push_back(writeCentreline(source, beam));
  return files;
}

}
