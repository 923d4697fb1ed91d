#include "io/friction_file_formats.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace tendril {

namespace {

using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Triplets = std::vector<Eigen::Triplet<double>>;

/// The numbers of a text, in turn, each asked for by what it means.
class Numbers {
 public:
  Numbers(const std::string& path, std::string_view text) : file(path), rest(text) {}

  int integer(const std::string& what, long smallest, long largest) {
    const std::string_view word = next(what);
    long value = 0;
    const auto [end, error] = std::from_chars(word.begin(), word.end(), value);
    if (error != std::errc() || end != word.end()) fail(what, fmt::format("'{}' is not an integer", shorten(word)));
    if (value < smallest || value > largest)
      fail(what, fmt::format("{} is out of range; expected {}", value,
                             smallest == largest ? fmt::format("{}", smallest) : fmt::format("{} to {}", smallest, largest)));
    return int(value);
  }
  double number(const std::string& what) {
    std::string_view word = next(what);
    double value = 0;
    const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
    if (error == std::errc::invalid_argument || end != digits.end()) fail(what, fmt::format("'{}' is not a number", shorten(word)));
    if (!std::isfinite(value)) fail(what, fmt::format("'{}' is not finite", shorten(word)));
    return value;
  }
  bool atEnd() {
    skipSpace();
    return rest.empty();
  }
  /// More numbers than this cannot follow.
  long room() const { return long(rest.size() / 2 + 1); }
  [[noreturn]] void fail(const std::string& what, const std::string& message) const {
    throw InputError({file, line}, what, message, "the text holds dimension, contacts, kind, size, W, q, mu; write the file again");
  }

 private:
  void skipSpace() {
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front()))) {
      line += rest.front() == '\n';
      rest.remove_prefix(1);
    }
  }
  std::string_view next(const std::string& what) {
    skipSpace();
    if (rest.empty()) fail(what, "the file ends here: it is truncated");
    std::size_t length = 0;
    while (length < rest.size() && !std::isspace(static_cast<unsigned char>(rest[length]))) ++length;
    const std::string_view word = rest.substr(0, length);
    rest.remove_prefix(length);
    return word;
  }
  static std::string shorten(std::string_view word) {
    std::string text(word.substr(0, 24));
    for (char& c : text)
      if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
    return word.size() > 24 ? text + "..." : text;
  }

  const std::string& file;
  std::string_view rest;
  int line = 1;
};

RowMatrix readDense(Numbers& numbers, int size) {
  numbers.integer("rows of W", size, size);
  numbers.integer("columns of W", size, size);
  if (long(size) * size > numbers.room())
    numbers.fail("W", fmt::format("{} entries do not fit in what is left: the file is truncated", long(size) * size));
  Triplets entries;
  for (int column = 0; column < size; ++column)
    for (int row = 0; row < size; ++row)
      if (const double value = numbers.number("W"); value != 0) entries.emplace_back(row, column, value);
  RowMatrix W(size, size);
  W.setFromTriplets(entries.begin(), entries.end());
  return W;
}

RowMatrix readBlocks(Numbers& numbers, int dimension, int contacts) {
  const int size = dimension * contacts;
  const int count = numbers.integer("number of blocks", 0, numbers.room());
  for (const char* what : {"rows of blocks", "columns of blocks"}) numbers.integer(what, contacts, contacts);
  for (const char* what : {"ends of the rows of blocks", "ends of the columns of blocks"})
    for (int i = 1; i <= contacts; ++i) numbers.integer(what, dimension * i, dimension * i);
  numbers.integer("number of starts", contacts + 1, contacts + 1);
  numbers.integer("number of block columns", count, count);
  std::vector<int> start, column;
  for (int i = 0; i <= contacts; ++i)
    start.push_back(numbers.integer("start of a row of blocks", start.empty() ? 0 : start.back(), i == 0 ? 0 : count));
  if (start.back() != count)
    numbers.fail("start of a row of blocks", fmt::format("the last is {}, but there are {} blocks", start.back(), count));
  for (int k = 0; k < count; ++k) column.push_back(numbers.integer("column of a block", 0, contacts - 1));
  Triplets entries;
  for (int i = 0; i < contacts; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k) {
      numbers.integer("number of a block", k, k);
      for (int entry = 0; entry < dimension * dimension; ++entry)
        if (const double value = numbers.number("W"); value != 0)
          entries.emplace_back(dimension * i + entry % dimension, dimension * column[k] + entry / dimension, value);
    }
  RowMatrix W(size, size);
  W.setFromTriplets(entries.begin(), entries.end());
  return W;
}

void append(fmt::memory_buffer& out, const double* values, std::size_t count, char end) {
  for (std::size_t i = 0; i < count; ++i) fmt::format_to(std::back_inserter(out), "{:25.17e}{}", values[i], end);
  if (end != '\n') out.push_back('\n');
}

void appendBlocks(fmt::memory_buffer& out, const BlockMatrix& W, int dimension) {
  const int contacts = int(W.start.size()) - 1;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{}\n{}\n{}\n", W.blocks.size(), contacts, contacts);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 1; i <= contacts; ++i) fmt::format_to(to, "{}\t", dimension * i);
    out.push_back('\n');
  }
  fmt::format_to(to, "{}\n{}\n", W.start.size(), W.blocks.size());
  for (const int start : W.start) fmt::format_to(to, "{}\t", start);
  out.push_back('\n');
  for (const BlockMatrix::Block& block : W.blocks) fmt::format_to(to, "{}\t", block.column);
  out.push_back('\n');
  for (std::size_t k = 0; k < W.blocks.size(); ++k) {
    fmt::format_to(to, "{}\n", k);
    append(out, W.values.data() + W.blocks[k].offset, std::size_t(dimension) * dimension, '\n');
  }
}

}

FrictionFile readFrictionText(const std::string& file, std::string_view text) {
  Numbers numbers(file, text);
  const int dimension = numbers.integer("dimension", 2, 3);
  const int contacts = numbers.integer("number of contacts", 0, numbers.room());
  const int kind = numbers.integer("kind of storage", 0, 1);
  const int size = dimension * contacts;
  for (const char* what : {"rows", "columns"}) numbers.integer(what, size, size);
  const RowMatrix W = kind == 0 ? readDense(numbers, size) : readBlocks(numbers, dimension, contacts);
  FrictionFile content;
  FrictionProblem& problem = content.local;
  problem.q.resize(size);
  for (int row = 0; row < size; ++row) problem.q[row] = numbers.number("q");
  std::vector<double> mu;
  for (int i = 0; i < contacts; ++i) {
    mu.push_back(numbers.number("mu"));
    if (mu.back() < 0) numbers.fail("mu", fmt::format("the coefficient {} of contact {} is negative", mu.back(), i));
  }
  if (!numbers.atEnd()) numbers.integer("flag", 0, 1);
  if (!numbers.atEnd()) numbers.fail("end", "more text follows where the file should end");
  problem.laws = fileLaws(dimension, mu, 0);
  problem.layOut();
  problem.W = toBlocks(W, problem.firstRow);
  return content;
}

std::string writeFrictionText(const std::string& file, const FrictionFile& content) {
  const FrictionProblem& problem = content.problem();
  const FrictionFileRows rows = fileRows(problem.laws, file);
  if (rows.bilateral > 0)
    throw InputError({file}, "", "the text format has no bilateral contacts", "write an FCLIB file: give a name that ends in .hdf5");
  std::vector<int> firstRow(rows.contacts + 1);
  for (int i = 0; i <= rows.contacts; ++i) firstRow[i] = rows.dimension * i;
  const Eigen::VectorXd q = fileVector(problem.q, rows);
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{}\n{}\n1\n{}\n{}\n", rows.dimension, rows.contacts, q.size(), q.size());
  appendBlocks(out, toBlocks(fileDelassus(problem, rows), firstRow), rows.dimension);
  append(out, q.data(), q.size(), ' ');
  append(out, rows.mu.data(), rows.mu.size(), ' ');
  return fmt::to_string(out);
}

}
