#pragma once
#include "support/files.h"
#include "tendril/imports/import.h"
#include "tendril/io/run.h"
#include "tendril/scenes/scene.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace tendril::testing {

/// Files that are imported and scenes that are run, in a folder of their own.
class ImportTest : public ::testing::Test {
 protected:
  Import read(const std::string& name, const std::string& content, ImportOptions options = {}) {
    writeAll(folder / name, content);
    options.file = folder / name;
    options.scene = folder / "scene.yaml";
    return importFile(options);
  }
  Scene sceneOf(const Import& import) {
    writeImport(import, folder / "scene.yaml", true);
    return Scene::fromFile(folder / "scene.yaml");
  }
  using Results = std::map<std::string, std::vector<double>>;
  Results runText(const std::string& text, const std::vector<std::string>& overrides = {}) {
    writeAll(folder / "run.yaml", text);
    const RunOutcome outcome =
        run({.scene = folder / "run.yaml", .overrides = overrides, .folder = folder / ("out" + std::to_string(++runs_))});
    EXPECT_EQ(outcome.status, RunStatus::Success) << outcome.message;
    Results results;
    for (const auto& [name, output] : outcome.summary.outputs) results[name] = output.values;
    return results;
  }
  void expectRefused(const std::string& name, const std::string& content, std::initializer_list<const char*> parts,
                     ImportOptions options = {}) {
    expectError<InputError>([&] { read(name, content, options); }, parts);
  }

  TemporaryFolder folder;

 private:
  int runs_ = 0;
};

inline bool says(const std::vector<ImportRemark>& remarks, int line, const std::string& part) {
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const ImportRemark& r) { return r.line == line && r.text.find(part) != std::string::npos; });
}

inline std::string all(const std::vector<ImportRemark>& remarks) {
  std::string text;
  for (const ImportRemark& r : remarks) text += std::to_string(r.line) + ": " + r.text + "\n";
  return text;
}

inline void expectNear(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance);
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}
