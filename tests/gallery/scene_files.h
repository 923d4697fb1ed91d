#pragma once
#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

/// The shipped scenes, as parameters of tests.
namespace tendril::testing {

inline const std::filesystem::path sceneFolder = std::filesystem::path(test::sourceFolder()) / "scenes";

/// All scene files relative to the folder, in alphabetic order.
inline std::vector<std::string> sceneFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sceneFolder)) {
    if (entry.path().extension() == ".yaml") files.push_back(std::filesystem::relative(entry.path(), sceneFolder));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// A name that GoogleTest allows.
inline std::string testName(const ::testing::TestParamInfo<std::string>& scene) {
  std::string name = scene.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

}
