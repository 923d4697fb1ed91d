#include "documents/value.h"

#include "tendril/documents/nearest_name.h"

#include <cctype>

namespace tendril {

std::string childPath(const std::string& parent, const std::string& key) { return parent.empty() ? key : parent + "." + key; }
std::string elementPath(const std::string& parent, std::size_t index) { return parent + "[" + std::to_string(index) + "]"; }

std::string kindName(const Value& value) {
  switch (value.kind) {
  case Value::Kind::Empty:
    return "nothing";
  case Value::Kind::Scalar:
    return "'" + value.text + "'";
  case Value::Kind::Sequence:
    return "a sequence";
  default:
    return "a map";
  }
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::unique_ptr<Value> relocated(const Value& value, const std::string& path, const Location& where) {
  auto copy = std::make_unique<Value>(Value{value.kind, value.text, value.quoted, where, path, {}, {}, {}});
  for (std::size_t i = 0; i < value.items.size(); ++i) copy->items.push_back(relocated(*value.items[i], elementPath(path, i), where));
  for (const Value::Entry& entry : value.entries)
    copy->entries.push_back({entry.key, where, relocated(*entry.value, childPath(path, entry.key), where)});
  return copy;
}

void refuseValue(const Value& value, const std::string& message, const std::string& remedy) {
  throw InputError(value.where, value.path, message, remedy);
}

void finishMap(const Value& map) {
  for (const Value::Entry& entry : map.entries) {
    if (entry.used) continue;
    const std::string path = childPath(map.path, entry.key);
    std::vector<std::string> known; // each once, in the order of the questions
    for (const std::string& key : map.known)
      if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
    const bool isKnown = std::find(known.begin(), known.end(), entry.key) != known.end();
    if (isKnown) throw InputError(entry.where, path, "this key has no effect together with the others here", "remove it");
    std::vector<std::string> free;
    for (const std::string& key : known) {
      const bool taken = std::any_of(map.entries.begin(), map.entries.end(), [&](const Value::Entry& e) { return e.key == key; });
      if (!taken) free.push_back(key);
    }
    const std::string nearest = nearestName(entry.key, free);
    const std::string expected = known.empty() ? "no key is expected here" : "expected are " + listNames(known, 40);
    throw InputError(entry.where, path, "unknown key '" + entry.key + "'; " + expected,
                     nearest.empty() ? "remove it or use one of these" : "did you mean '" + nearest + "'?");
  }
}

}
