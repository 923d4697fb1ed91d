#pragma once
#include "support/files.h"
#include "tendril/contact/contact_model.h"
#include "tendril/imports/import.h"
#include "tendril/io/run.h"
#include "tendril/scenes/scene.h"

#include <algorithm>
#include <map>
#include <random>
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

  /// Whatever the bytes: a scene that can be read, or an InputError.
  template <class Disturb> void expectNoHarm(const std::string& name, const std::string& content, const Disturb& disturb) {
    std::mt19937 random(7);
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
      std::string text = content;
      disturb(text, random);
      try {
        Scene::fromText(read(name, text).scene);
      } catch (const InputError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 100);
    EXPECT_LT(refused, 300);
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

/// The law between two parts; null if they pass through each other.
inline const ContactLaw* lawOf(const Scene& scene, const char* first, const char* second) {
  const ContactModel& contacts = scene.contacts();
  return contacts.law(contacts.find(first), contacts.find(second));
}

/// Three faces of a tetrahedron, and the fourth.
inline const std::string openTetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n";
inline const std::string tetrahedron = openTetrahedron + "f 1 4 3\n";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}
