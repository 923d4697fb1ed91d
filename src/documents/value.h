#pragma once
#include "tendril/model/error.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

namespace detail {

/// One value of the document with its place; owns what is inside it.
struct Value {
  enum class Kind { Empty, Scalar, Sequence, Map };
  struct Entry {
    std::string key;
    Location where;
    std::unique_ptr<Value> value;
    bool used = false;
  };

  Kind kind = Kind::Empty;
  std::string text;
  bool quoted = false;
  Location where;
  std::string path;
  std::vector<std::unique_ptr<Value>> items;
  std::vector<Entry> entries;
  /// Keys the readers asked for, some more than once: for the advice about unknown ones.
  std::vector<std::string> known;

  Entry* find(std::string_view key) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return entry == entries.end() ? nullptr : &*entry;
  }
  void learn(std::string_view key) { known.emplace_back(key); }

  /// A copy that no reader has seen.
  std::unique_ptr<Value> clone() const {
    auto copy = std::make_unique<Value>(Value{kind, text, quoted, where, path, {}, {}, {}});
    for (const auto& item : items) copy->items.push_back(item->clone());
    for (const Entry& entry : entries) copy->entries.push_back({entry.key, entry.where, entry.value->clone()});
    return copy;
  }
};

}

using detail::Value;

std::string childPath(const std::string& parent, const std::string& key);
std::string elementPath(const std::string& parent, std::size_t index);
/// "a sequence", "a map", "nothing", or the text in quotation marks: what was found, for messages.
std::string kindName(const Value& value);
std::string_view trim(std::string_view text);
/// A copy at another place of a document.
std::unique_ptr<Value> relocated(const Value& value, const std::string& path, const Location& where);

/// Refuses the keys of a map that no reader asked for.
void finishMap(const Value& map);

[[noreturn]] void refuseValue(const Value& value, const std::string& message, const std::string& remedy);

}
