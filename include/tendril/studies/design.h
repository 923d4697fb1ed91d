#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// A name that a study varies, and what it takes: values one by one (numbers with or without a unit, expressions, choices: what an override
/// may say), or any number of a range.
class StudyAxis {
 public:
  /// NAME=VALUE,VALUE,...  NAME=FROM:TO:COUNT (evenly spaced, both ends exactly)  NAME=FROM:TO (a range). Throws InputError.
  static StudyAxis parse(const std::string& text);
  StudyAxis(std::string name, std::vector<std::string> values);
  StudyAxis(std::string name, double from, double to);

  const std::string& name() const { return name_; }
  bool isRange() const { return values_.empty(); }
  /// Values one by one; none of a range.
  const std::vector<std::string>& values() const { return values_; }
  /// The value at share u in [0, 1): of a range (1-u) from + u to, of values the one in whose share u lies.
  std::string at(double u) const;
  /// NAME=..., different for different axes.
  std::string description() const;

 private:
  std::string name_;
  std::vector<std::string> values_;
  double from_ = 0, to_ = 0;
};

/// The points of a study, numbered from 0, each made when it is asked for. The same axes, number of samples and seed give the same points,
/// on every machine.
///
///   grid             every combination, the last axis running fastest
///   list             the values of all axes side by side, as many points as there are values; or the rows of a table
///   Latin hypercube  n samples, of which each axis has one in each n-th of its range, in random order and at a random place in it
///                    (McKay, Beckman & Conover 1979)
///   Sobol            the first n points of Sobol's sequence with the direction numbers of Joe & Kuo (2008), shifted digitally by the
///                    seed: a (t,s)-sequence in base 2, so numbers of samples that are powers of 2 fill the box most evenly
///
/// Designs of more than `most` points are refused with their number.
class Design {
 public:
  static constexpr std::size_t most = 10'000'000;
  static constexpr std::size_t mostAxesOfSobol = 21;

  /// All throw InputError: for no axes or names twice, no points or too many, ranges where values have to be counted.
  static Design grid(std::vector<StudyAxis> axes);
  static Design list(std::vector<StudyAxis> axes);
  /// A table of comma-separated values, names in its first line.
  static Design table(const std::filesystem::path& file);
  static Design latinHypercube(std::vector<StudyAxis> axes, std::size_t samples, std::uint64_t seed);
  static Design sobol(std::vector<StudyAxis> axes, std::size_t samples, std::uint64_t seed);

  std::vector<std::string> names() const;
  std::size_t size() const { return size_; }
  /// The values of a point, one per name.
  std::vector<std::string> point(std::size_t number) const;
  /// What determines the points, as text: equal for equal designs alone.
  std::string description() const;
  /// "grid", "list", "lhs", "sobol"
  std::string_view kind() const;
  /// Of the sampled designs; 0 otherwise.
  std::uint64_t seed() const { return seed_; }

 private:
  enum class Kind { Grid, List, LatinHypercube, Sobol };
  Design(Kind kind, std::vector<StudyAxis> axes, std::size_t samples, std::uint64_t seed);
  std::size_t countGrid() const;
  std::size_t countList() const;
  void shuffle();

  Kind kind_;
  std::vector<StudyAxis> axes_;
  std::size_t size_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::vector<std::uint32_t>> strata_; ///< Latin hypercube: of each axis, by point
};

}
