#include "tendril/io/run_results.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

namespace tendril {

namespace {

/// Mesh files are named relative to the copy of the scene in the folder.
Scene sceneOf(const ResultReader& reader, const std::filesystem::path& folder) {
  const RunMetadata& metadata = reader.metadata();
  return Scene::fromText(metadata.scene, (folder / "scene.yaml").string(), metadata.arguments);
}

void checkSize(const char* name, Eigen::Index recorded, int expected, const RunMetadata& metadata, const std::filesystem::path& folder) {
  if (recorded == expected) return;
  throw InputError(
      {folder.string()}, std::string("states/") + name,
      fmt::format("a row has {} numbers, of version {}; the scene as this version builds it has {}", recorded, metadata.version, expected),
      "read the results with the version that wrote them, or run the scene again");
}

/// Who names the file in the folder means the folder.
std::filesystem::path resultsIn(const std::filesystem::path& folder) {
  std::error_code status;
  if (std::filesystem::is_regular_file(folder, status))
    throw InputError({folder.string()}, "results", "this is a file", "name the folder that a run has written, which holds results.h5");
  return folder / "results.h5";
}

}

RunResults::RunResults(const std::filesystem::path& folder)
    : folder_(folder), reader_(resultsIn(folder)), scene_(sceneOf(reader_, folder)), times_(reader_.time()) {
  if (rows() == 0) return;
  const Model& model = *scene_.mechanism().model;
  checkSize("q", reader_.stateRow("q", 0).size(), model.nq(), reader_.metadata(), folder);
  checkSize("v", reader_.stateRow("v", 0).size(), model.nv(), reader_.metadata(), folder);
  checkSize("lambda", reader_.stateRow("lambda", 0).size(), model.nc(), reader_.metadata(), folder);
}

State RunResults::state(std::size_t row) const {
  State state;
  readState(row, state);
  return state;
}

void RunResults::readState(std::size_t row, State& state) const {
  state.t = time(row);
  reader_.readStateRow("q", row, state.q);
  reader_.readStateRow("v", row, state.v);
  reader_.readStateRow("lambda", row, state.lambda);
  state.a.setZero(state.v.size());
}

}
