#pragma once
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <unistd.h>

namespace tendril::testing {

/// A folder of its own for a test, removed afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tendril-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code status;
    std::filesystem::remove_all(path, status);
  }
  std::filesystem::path operator/(const std::string& name) const { return path / name; }

  std::filesystem::path path;
};

inline std::string readAll(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

inline void writeAll(const std::filesystem::path& file, const std::string& content) { std::ofstream(file, std::ios::binary) << content; }

/// Runs the action, which must throw `Failure` with all of these parts in its message.
template <class Failure, class Action> void expectError(Action action, std::initializer_list<const char*> parts) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown, expected an error with '" << *parts.begin() << "'";
  } catch (const Failure& error) {
    for (const char* part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "message: " << error.what() << "\nmissing: " << part;
  }
}

}
