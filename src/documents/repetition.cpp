#include "documents/document_tree.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

/// Turns one object of a top-level sequence with `repeat: {i: [first, last]}` into many, in whose texts `${i}` is the number,
/// `${i+1}` the next.
class Repetition {
 public:
  Repetition(const Value& pattern, const ParameterTable& parameters) : pattern_(pattern) {
    const Value& rule = *std::find_if(pattern.entries.begin(), pattern.entries.end(), isRule)->value;
    const bool isMap = rule.kind == Value::Kind::Map && rule.entries.size() == 1 && rule.entries[0].value->items.size() == 2;
    if (!isMap || !isName(rule.entries[0].key)) refuse(rule, "expected the name of an index and its first and last number");
    opening_ = "${" + rule.entries[0].key;
    const auto& bounds = rule.entries[0].value->items;
    first_ = whole(*bounds[0], parameters), last_ = whole(*bounds[1], parameters);
    if (last_ - first_ >= most) refuse(rule, "these are more than " + std::to_string(most) + " repetitions");
  }

  static bool isRule(const Value::Entry& entry) { return entry.key == "repeat"; }

  void append(std::vector<std::unique_ptr<Value>>& items, const std::string& path) {
    for (number_ = first_; number_ <= last_; ++number_) items.push_back(copy(pattern_, elementPath(path, items.size())));
  }

 private:
  static constexpr int most = 100000;

  [[noreturn]] static void refuse(const Value& value, const std::string& message) {
    throw InputError(value.where, value.path, message, "write repeat: {i: [1, 10]}, and ${i} where the number belongs");
  }

  static int whole(const Value& value, const ParameterTable& parameters) {
    const double number = value.kind == Value::Kind::Scalar ? readNumber(value, parameters, dimension::none) : -1;
    if (!(number >= 0 && number <= std::numeric_limits<int>::max() && number == std::round(number))) {
      refuse(value, "the bounds of a repetition are whole numbers, not negative");
    }
    return int(number);
  }

  /// The text with `${i}`, `${i+1}`, `${i-1}` and the like replaced.
  std::string filled(const std::string& text) const {
    std::string result;
    std::size_t from = 0;
    for (auto at = text.find(opening_); at != std::string::npos; at = text.find(opening_, at + 1)) {
      int shift = 0;
      const char* begin = text.data() + at + opening_.size();
      const char* end = text.data() + text.size();
      if (begin != end && *begin == '+') ++begin;
      const char* close = *begin == '}' ? begin : std::from_chars(begin, end, shift).ptr;
      if (close == end || *close != '}') continue;
      result += text.substr(from, at - from) + std::to_string(number_ + shift);
      from = std::size_t(close - text.data()) + 1;
    }
    return result + text.substr(from);
  }

  std::unique_ptr<Value> copy(const Value& value, const std::string& path) const {
    auto made = std::make_unique<Value>(Value{value.kind, filled(value.text), value.quoted, value.where, path, {}, {}, {}});
    for (const auto& item : value.items) made->items.push_back(copy(*item, elementPath(path, made->items.size())));
    for (const Value::Entry& entry : value.entries) {
      if (&value == &pattern_ && isRule(entry)) continue;
      made->entries.push_back({entry.key, entry.where, copy(*entry.value, childPath(path, entry.key)), false});
    }
    return made;
  }

  const Value& pattern_;
  std::string opening_;
  int first_ = 0, last_ = 0, number_ = 0;
};

}

void expandRepetitions(Value& root, const ParameterTable& parameters) {
  for (Value::Entry& section : root.entries) {
    std::vector<std::unique_ptr<Value>> expanded;
    for (std::unique_ptr<Value>& item : section.value->items) {
      if (std::any_of(item->entries.begin(), item->entries.end(), Repetition::isRule)) {
        Repetition(*item, parameters).append(expanded, section.value->path);
      } else {
        expanded.push_back(std::move(item));
      }
    }
    section.value->items = std::move(expanded);
  }
}

}
