#pragma once
#include "tendril/imports/import.h"

#include <set>
#include <string>
#include <vector>

namespace tendril::imports {

/// What an import has to say beside the scene.
struct Remarks {
  std::vector<ImportRemark> losses, remarks;

  void lose(int line, std::string text) { losses.push_back({line, std::move(text)}); }
  void say(int line, std::string text) { remarks.push_back({line, std::move(text)}); }
};

/// Names of one kind in the scene: valid, each once. What had to change is said.
class Names {
 public:
  explicit Names(Remarks& remarks, std::set<std::string> taken = {}) : remarks_(remarks), taken_(std::move(taken)) {}

  /// The name nearest to `wanted`, which the object on `line` has in the file; without one in the file (empty), `fallback` and a number.
  std::string claim(const std::string& wanted, int line, const std::string& fallback);

 private:
  Remarks& remarks_;
  std::set<std::string> taken_;
};

}
