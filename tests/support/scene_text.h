#pragma once
#include "support/files.h"
#include "tendril/scenes/scene.h"

#include <string>
#include <vector>

/// Scenes written in a test, and mistakes made in them.
namespace tendril::testing {

inline Scene parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return Scene::fromText(text, "scene.yaml", overrides);
}

/// The text with the first occurrence of `from`, which must be there, replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "not in the text: " << from;
    return text;
  }
  return text.replace(at, from.size(), to);
}

/// The scene with one change must be refused with these words.
inline void expectSceneRefused(const std::string& scene, const std::string& from, const std::string& to,
                               std::initializer_list<const char*> parts) {
  const std::string text = with(scene, from, to);
  expectError<InputError>([&] { parse(text); }, parts);
}

}
