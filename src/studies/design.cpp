#include "tendril/studies/design.h"

#include "tendril/documents/csv.h"
#include "tendril/documents/split.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace tendril {

namespace {

[[noreturn]] void refuseAxis(const std::string& text, const std::string& expected) {
  throw InputError(fmt::format("--over {}: expected {}", text, expected));
}

bool isBlank(const std::string& text) { return text.find_first_not_of(" \t") == std::string::npos; }

/// Splits at separators that stand neither within brackets nor within quotation marks: `[0, 1], [2, 3]` are two values.
std::vector<std::string> splitOutside(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if (c == ')' || c == ']' || c == '}')
      --depth;
    if (c == separator && depth <= 0 && quote == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

double toNumber(const std::string& text, const std::string& whole) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value))
    refuseAxis(whole, "NAME=FROM:TO:COUNT or NAME=FROM:TO with numbers, or NAME=VALUE,VALUE,...; '" + text + "' is not a finite number");
  return value;
}

/// Weights rather than steps, so that both ends are met exactly.
double between(double from, double to, double share) { return (1 - share) * from + share * to; }

// ---- random numbers ----

/// The mixing function of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64 bits that hides all structure of its argument.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random bits by number: of the stream of an axis, the one with this index. No state, so any point can be made at any time.
std::uint64_t randomBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) { return mix(mix(mix(seed) + stream) + index); }

/// In [0, 1), a multiple of 2^-53.
double randomShare(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return double(randomBits(seed, stream, index) >> 11) * 0x1p-53;
}

// ---- Sobol's sequence ----

/// A primitive polynomial over GF(2) and first direction numbers: the beginning of the table new-joe-kuo-6.21201 of S. Joe and F. Y. Kuo,
/// "Constructing Sobol' sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008). `coefficients` are the inner
/// ones of the polynomial, the highest first.
struct SobolRow {
  unsigned degree, coefficients;
  std::array<std::uint32_t, 7> m;
};

constexpr std::array<SobolRow, Design::mostAxesOfSobol - 1> sobolTable{{{1, 0, {1}},
                                                                        {2, 1, {1, 3}},
                                                                        {3, 1, {1, 3, 1}},
                                                                        {3, 2, {1, 1, 1}},
                                                                        {4, 1, {1, 1, 3, 3}},
                                                                        {4, 4, {1, 3, 5, 13}},
                                                                        {5, 2, {1, 1, 5, 5, 17}},
                                                                        {5, 4, {1, 1, 5, 5, 5}},
                                                                        {5, 7, {1, 1, 7, 11, 19}},
                                                                        {5, 11, {1, 1, 5, 1, 1}},
                                                                        {5, 13, {1, 1, 1, 3, 11}},
                                                                        {5, 14, {1, 3, 5, 5, 31}},
                                                                        {6, 1, {1, 3, 3, 9, 7, 49}},
                                                                        {6, 13, {1, 1, 1, 15, 21, 21}},
                                                                        {6, 16, {1, 3, 1, 13, 27, 49}},
                                                                        {6, 19, {1, 1, 1, 15, 7, 5}},
                                                                        {6, 22, {1, 3, 1, 15, 13, 25}},
                                                                        {6, 25, {1, 1, 5, 5, 19, 61}},
                                                                        {7, 1, {1, 3, 7, 11, 23, 15, 103}},
                                                                        {7, 4, {1, 3, 7, 13, 13, 15, 69}}}};

using Directions = std::array<std::uint32_t, 32>;

/// v_k = m_k 2^(32-k), with m_k = 2 a_1 m_(k-1) ^ ... ^ 2^(s-1) a_(s-1) m_(k-s+1) ^ 2^s m_(k-s) ^ m_(k-s).
Directions directions(std::size_t axis) {
  Directions v{};
  if (axis == 0) {
    for (unsigned k = 0; k < 32; ++k) v[k] = 1u << (31 - k);
    return v;
  }
  const SobolRow& row = sobolTable[axis - 1];
  for (unsigned k = 0; k < 32; ++k) {
    if (k < row.degree) {
      v[k] = row.m[k] << (31 - k);
      continue;
    }
    v[k] = v[k - row.degree] ^ (v[k - row.degree] >> row.degree);
    for (unsigned i = 1; i < row.degree; ++i) {
      if (row.coefficients >> (row.degree - 1 - i) & 1) v[k] ^= v[k - i];
    }
  }
  return v;
}

/// In (0, 1): the middle of the interval of length 2^-32 in which the shifted point lies.
double sobolShare(std::size_t axis, std::uint64_t number, std::uint64_t seed) {
  const Directions v = directions(axis);
  auto x = std::uint32_t(randomBits(seed, axis, 0) >> 32);
  for (std::uint64_t gray = number ^ (number >> 1); gray != 0; gray &= gray - 1) x ^= v[std::size_t(std::countr_zero(gray))];
  return (double(x) + 0.5) * 0x1p-32;
}

std::vector<std::vector<std::string>> recordsOf(const std::filesystem::path& file) try {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  if (!(content << stream.rdbuf())) throw InputError("it cannot be read, or is empty; check the path");
  return readCsv(content.str());
} catch (const InputError& error) {
  throw InputError(file.string() + ": table of points: " + error.what());
}

}

// ---- axes ----

StudyAxis StudyAxis::parse(const std::string& text) {
  const char* const forms = "NAME=FROM:TO:COUNT, NAME=FROM:TO or NAME=VALUE,VALUE,...";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) refuseAxis(text, forms);
  const std::string name = text.substr(0, equals);
  const std::vector<std::string> range = splitOutside(text.substr(equals + 1), ':');
  if (range.size() == 1) return {name, splitOutside(range[0], ',')};
  if (range.size() > 3) refuseAxis(text, forms);
  const double from = toNumber(range[0], text), to = toNumber(range[1], text);
  if (range.size() == 2) return {name, from, to};
  const double count = toNumber(range[2], text);
  if (!(count >= 1 && count <= double(Design::most)) || count != std::floor(count))
    refuseAxis(text, fmt::format("a COUNT that is a whole number from 1 to {}, not {}", Design::most, range[2]));
  std::vector<std::string> values;
  for (double i = 0; i < count; ++i) values.push_back(fmt::format("{}", between(from, to, count > 1 ? i / (count - 1) : 0)));
  return {name, std::move(values)};
}

StudyAxis::StudyAxis(std::string name, std::vector<std::string> values) : name_(std::move(name)), values_(std::move(values)) {
  if (values_.empty()) refuseAxis(name_ + "=", "at least one value");
  if (std::any_of(values_.begin(), values_.end(), isBlank)) refuseAxis(name_, "a value between all commas");
}

StudyAxis::StudyAxis(std::string name, double from, double to) : name_(std::move(name)), from_(from), to_(to) {
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(to - from))
    refuseAxis(name_, fmt::format("a range of finite numbers, not {} to {}", from, to));
}

std::string StudyAxis::at(double u) const {
  if (isRange()) return fmt::format("{}", between(from_, to_, u));
  return values_[std::min(std::size_t(u * double(values_.size())), values_.size() - 1)];
}

std::string StudyAxis::description() const {
  std::string text = csvField(name_) + "=";
  if (isRange()) return text + fmt::format("{}:{}", from_, to_);
  for (std::size_t i = 0; i < values_.size(); ++i) text += (i > 0 ? "," : "") + csvField(values_[i]);
  return text;
}

// ---- designs ----

Design::Design(Kind kind, std::vector<StudyAxis> axes, std::size_t samples, std::uint64_t seed)
    : kind_(kind), axes_(std::move(axes)), size_(samples), seed_(seed) {
  if (axes_.empty()) throw InputError("the study varies nothing; name what it shall vary with --over NAME=VALUE,VALUE,...");
  std::set<std::string> names;
  for (const StudyAxis& axis : axes_) {
    if (!names.insert(axis.name()).second) throw InputError("--over " + axis.name() + ": the name is set twice; give it one --over");
  }
  if (kind == Kind::Grid || kind == Kind::List) {
    for (const StudyAxis& axis : axes_) {
      if (axis.isRange())
        refuseAxis(axis.name(),
                   "values that can be counted, NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,...; ranges are for --design lhs and sobol");
    }
    size_ = kind == Kind::Grid ? countGrid() : countList();
  }
  if (size_ == 0) throw InputError("the study has no points; give the number of samples with --samples");
  if (size_ > most) throw InputError(fmt::format("the study has {} points; at most {} are run at once", size_, most));
  if (kind == Kind::Sobol && axes_.size() > mostAxesOfSobol)
    throw InputError(fmt::format("Sobol's sequence is made for at most {} names, not {}; use --design lhs", mostAxesOfSobol, axes_.size()));
  if (kind == Kind::LatinHypercube) shuffle();
}

Design Design::grid(std::vector<StudyAxis> axes) { return {Kind::Grid, std::move(axes), 0, 0}; }
Design Design::list(std::vector<StudyAxis> axes) { return {Kind::List, std::move(axes), 0, 0}; }
Design Design::latinHypercube(std::vector<StudyAxis> axes, std::size_t samples, std::uint64_t seed) {
  return {Kind::LatinHypercube, std::move(axes), samples, seed};
}
Design Design::sobol(std::vector<StudyAxis> axes, std::size_t samples, std::uint64_t seed) {
  return {Kind::Sobol, std::move(axes), samples, seed};
}

Design Design::table(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& message, const char* remedy) {
    throw InputError({file.string()}, "table of points", message, remedy);
  };
  const auto records = recordsOf(file);
  if (records.size() < 2) refuse("it has no points", "write names in the first line and values in the others, with commas between");
  std::vector<std::vector<std::string>> columns(records[0].size());
  if (std::any_of(records[0].begin(), records[0].end(), isBlank)) refuse("a column has no name", "name it in the first line, or remove it");
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i].size() != columns.size())
      refuse(fmt::format("point {} has {} values for {} names", i, records[i].size(), columns.size()), "write one value for each name");
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j].push_back(records[i][j]);
  }
  std::vector<StudyAxis> axes;
  for (std::size_t j = 0; j < columns.size(); ++j) axes.emplace_back(records[0][j], std::move(columns[j]));
  return list(std::move(axes));
}

std::size_t Design::countGrid() const {
  double product = 1;
  for (const StudyAxis& axis : axes_) product *= double(axis.values().size());
  if (product > double(most)) throw InputError(fmt::format("the grid has {:.6g} points; at most {} are run at once", product, most));
  return std::size_t(product);
}

std::size_t Design::countList() const {
  const std::size_t count = axes_[0].values().size();
  for (const StudyAxis& axis : axes_) {
    if (axis.values().size() != count)
      throw InputError(fmt::format("a list has as many values of each name: {} has {}, {} has {}", axes_[0].name(), count, axis.name(),
                                   axis.values().size()));
  }
  return count;
}

/// By Fisher and Yates, an axis at a time.
void Design::shuffle() {
  for (std::size_t j = 0; j < axes_.size(); ++j) {
    std::vector<std::uint32_t>& order = strata_.emplace_back(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      const auto k = std::size_t(randomShare(seed_, 2 * j, i) * double(i + 1));
      order[i] = order[k];
      order[k] = std::uint32_t(i);
    }
  }
}

std::vector<std::string> Design::names() const {
  std::vector<std::string> names;
  for (const StudyAxis& axis : axes_) names.push_back(axis.name());
  return names;
}

std::vector<std::string> Design::point(std::size_t number) const {
  std::vector<std::string> values(axes_.size());
  std::size_t rest = number;
  for (std::size_t j = axes_.size(); j-- > 0;) {
    const StudyAxis& axis = axes_[j];
    switch (kind_) {
    case Kind::Grid:
      values[j] = axis.values()[rest % axis.values().size()];
      rest /= axis.values().size();
      break;
    case Kind::List:
      values[j] = axis.values()[number];
      break;
    case Kind::LatinHypercube:
      values[j] = axis.at((double(strata_[j][number]) + randomShare(seed_, 2 * j + 1, number)) / double(size_));
      break;
    case Kind::Sobol:
      values[j] = axis.at(sobolShare(j, number, seed_));
      break;
    }
  }
  return values;
}

std::string Design::description() const {
  std::string text = fmt::format("{} of {} points, seed {}", kind(), size_, seed_);
  for (const StudyAxis& axis : axes_) text += "\n" + axis.description();
  return text;
}

std::string_view Design::kind() const {
  constexpr std::array<std::string_view, 4> names{"grid", "list", "lhs", "sobol"};
  return names[std::size_t(kind_)];
}

}
