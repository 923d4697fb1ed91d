#pragma once
#include "documents/value.h"

#include <optional>

namespace tendril {

/// The values of a YAML text, with their places; `path` is that of the whole, `fixed` the place of all where the text is from no file (an
/// override, a default). Errors: InputError for what is not YAML, or what no scene can mean.
std::unique_ptr<Value> parseYaml(const std::string& text, const std::string& file, const std::string& path,
                                 const std::optional<Location>& fixed = {});

}
