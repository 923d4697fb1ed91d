#include "io/friction_file_formats.h"
#include "io/hdf5_handle.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tendril {

namespace {

using hdf5::Handle;
using Matrix = GlobalFrictionProblem::Matrix;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Triplets = std::vector<Eigen::Triplet<double>>;

constexpr int compressedColumns = -1;
constexpr int compressedRows = -2;

class Reader {
 public:
  explicit Reader(const std::string& path) : name(path), file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    if (!file.valid())
      throw InputError({path}, "", fmt::format("cannot be opened as HDF5: {}", hdf5::lastError()),
                       "it may be truncated: copy or write it again");
  }

  [[noreturn]] void fail(const std::string& dataset, const std::string& message, const std::string& remedy = "write the file again") const {
    throw InputError({name}, dataset, message, remedy);
  }
  /// Also asks for the groups on the way, as HDF5 demands.
  bool has(const std::string& path) const {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
      if (H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    return H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0;
  }
  /// Datasets that a program declares and leaves alone are common: solutions above all.
  bool isWritten(const std::string& path) const {
    if (!has(path)) return false;
    const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    return dataset.valid() && H5Dget_storage_size(dataset) > 0;
  }
  std::vector<double> numbers(const std::string& path) const {
    std::vector<double> values = read<double>(path, H5T_NATIVE_DOUBLE, true);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i])) fail(path, fmt::format("entry {} is not finite", i));
    return values;
  }
  Eigen::VectorXd vector(const std::string& path, Eigen::Index size) const {
    const std::vector<double> values = numbers(path);
    if (Eigen::Index(values.size()) != size) fail(path, fmt::format("has {} entries; the problem needs {}", values.size(), size));
    return Eigen::Map<const Eigen::VectorXd>(values.data(), size);
  }
  std::vector<int> integers(const std::string& path) const {
    const std::vector<long long> values = read<long long>(path, H5T_NATIVE_LLONG, false);
    constexpr long long limit = std::numeric_limits<int>::max();
    for (const long long value : values)
      if (value > limit || value < -limit) fail(path, fmt::format("{} is out of range", value));
    return {values.begin(), values.end()};
  }
  int integer(const std::string& path) const {
    const std::vector<int> values = integers(path);
    if (values.size() != 1) fail(path, fmt::format("has {} entries; one is expected", values.size()));
    return values[0];
  }
  std::string text(const std::string& path) const;
  /// An attribute that counts something; 0 if there is none.
  int attribute(const std::string& object, const char* attributeName) const;
  Matrix matrix(const std::string& group, int rows, int columns) const;
  int columns(const std::string& group) const {
    const int count = integer(group + "/n");
    if (count < 0) fail(group + "/n", fmt::format("{} columns are no size", count));
    return count;
  }

 private:
  template <class Number> std::vector<Number> read(const std::string& path, hid_t type, bool real) const;
  void checkIndices(const std::string& path, const std::vector<int>& indices, int limit) const {
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (indices[k] < 0 || indices[k] >= limit)
        fail(path, fmt::format("entry {} is {}; indices run from 0 to {}", k, indices[k], limit - 1));
  }
  Triplets tripletEntries(const std::string& group, int rows, int columns, int count) const;
  Triplets compressedEntries(const std::string& group, int outer, int inner, bool byRows) const;

  std::string name;
  Handle file;
};

template <class Number> std::vector<Number> Reader::read(const std::string& path, hid_t type, bool real) const {
  if (!has(path)) fail(path, "the dataset is missing", "this is not a complete FCLIB file");
  const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) fail(path, "is not a dataset", "this is not an FCLIB file");
  const Handle stored(H5Dget_type(dataset), H5Tclose);
  const H5T_class_t kind = H5Tget_class(stored);
  if (kind != H5T_INTEGER && !(real && kind == H5T_FLOAT)) fail(path, real ? "does not hold numbers" : "does not hold integers");
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count > 0 && H5Dget_storage_size(dataset) == 0) fail(path, "was declared but never written");
  if (count < 0 || count > std::numeric_limits<int>::max()) fail(path, "is too large");
  std::vector<Number> values(count);
  if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail(path, fmt::format("cannot be read: {}", hdf5::lastError()), "the file is damaged: copy or write it again");
  return values;
}

std::string Reader::text(const std::string& path) const {
  if (!has(path)) return {};
  const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return {};
  const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || H5Sget_simple_extent_npoints(space) != 1) return {};
  std::string value(H5Tget_size(type), '\0');
  if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()) < 0) return {};
  value.erase(std::find(value.begin(), value.end(), '\0'), value.end());
  return value;
}

int Reader::attribute(const std::string& object, const char* attributeName) const {
  if (!has(object) || H5Aexists_by_name(file, object.c_str(), attributeName, H5P_DEFAULT) <= 0) return 0;
  const Handle attribute(H5Aopen_by_name(file, object.c_str(), attributeName, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  long long value = 0;
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, H5T_NATIVE_LLONG, &value) < 0) return 0;
  return value > 0 && value < std::numeric_limits<int>::max() / 6 ? int(value) : 0;
}

Triplets Reader::tripletEntries(const std::string& group, int rows, int columns, int count) const {
  std::vector<int> row = integers(group + "/i"), column = integers(group + "/p");
  const std::vector<double> value = numbers(group + "/x");
  for (const auto& [dataset, size] : {std::pair{"/i", row.size()}, {"/p", column.size()}, {"/x", value.size()}})
    if (size < std::size_t(count)) fail(group + dataset, fmt::format("has {} entries; nz says {}", size, count));
  row.resize(count);
  column.resize(count);
  const auto largest = [](const std::vector<int>& list) { return list.empty() ? -1 : *std::max_element(list.begin(), list.end()); };
  const bool fits = largest(row) < rows && largest(column) < columns;
  if (!fits && largest(row) < columns && largest(column) < rows) row.swap(column);
  checkIndices(group + "/i", row, rows);
  checkIndices(group + "/p", column, columns);
  Triplets entries;
  for (int k = 0; k < count; ++k) entries.emplace_back(row[k], column[k], value[k]);
  return entries;
}

Triplets Reader::compressedEntries(const std::string& group, int outer, int inner, bool byRows) const {
  const std::vector<int> start = integers(group + "/p"), index = integers(group + "/i");
  const std::vector<double> value = numbers(group + "/x");
  if (int(start.size()) != outer + 1) fail(group + "/p", fmt::format("has {} entries; {} are expected", start.size(), outer + 1));
  if (start[0] != 0 || !std::is_sorted(start.begin(), start.end())) fail(group + "/p", "must ascend from 0");
  for (const auto& [dataset, size] : {std::pair{"/i", index.size()}, {"/x", value.size()}})
    if (size < std::size_t(start.back())) fail(group + dataset, fmt::format("has {} entries; p says {}", size, start.back()));
  checkIndices(group + "/i", {index.begin(), index.begin() + start.back()}, inner);
  Triplets entries;
  for (int k = 0; k < outer; ++k)
    for (int at = start[k]; at < start[k + 1]; ++at) entries.emplace_back(byRows ? k : index[at], byRows ? index[at] : k, value[at]);
  return entries;
}

Matrix Reader::matrix(const std::string& group, int rows, int columns) const {
  const int m = integer(group + "/m"), n = integer(group + "/n"), kind = integer(group + "/nz");
  if (m != rows || n != columns) fail(group, fmt::format("is {} x {}; the vectors of the file need {} x {}", m, n, rows, columns));
  if (kind < compressedRows)
    fail(group + "/nz", fmt::format("{} is no kind of storage", kind), "it is -2 (rows), -1 (columns) or the number of triplets");
  const Triplets entries = kind >= 0                   ? tripletEntries(group, m, n, kind)
                           : kind == compressedColumns ? compressedEntries(group, n, m, false)
                                                       : compressedEntries(group, m, n, true);
  Matrix matrix(m, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// What local and global files have in common.
struct Contacts {
  int dimension = 3;
  int rows = 0;
  std::vector<double> mu;
};

Contacts readContacts(const Reader& reader, const std::string& root) {
  Contacts contacts;
  contacts.dimension = reader.integer(root + "/spacedim");
  if (contacts.dimension != 2 && contacts.dimension != 3)
    reader.fail(root + "/spacedim", fmt::format("{} is not 2 or 3", contacts.dimension));
  const std::string path = root + "/vectors/mu";
  contacts.mu = reader.numbers(path);
  for (std::size_t i = 0; i < contacts.mu.size(); ++i)
    if (contacts.mu[i] < 0)
      reader.fail(path, fmt::format("the coefficient {} of contact {} is negative", contacts.mu[i], i),
                  "coefficients of friction are zero or more");
  contacts.rows = contacts.dimension * int(contacts.mu.size());
  return contacts;
}

void readLocal(const Reader& reader, FrictionFile& content) {
  const std::string root = "fclib_local";
  const Contacts contacts = readContacts(reader, root);
  const bool joined = reader.has(root + "/V");
  if (joined != reader.has(root + "/R")) reader.fail(root, "of V and R only one is there", "the bilateral part needs V, R and vectors/s");
  const int bilateral = joined ? reader.columns(root + "/V") : 0;
  const Eigen::VectorXd q = reader.vector(root + "/vectors/q", contacts.rows);
  const Eigen::VectorXd s = joined ? reader.vector(root + "/vectors/s", bilateral) : Eigen::VectorXd();
  const int rows = contacts.rows, size = rows + bilateral;
  Triplets entries;
  const auto add = [&entries](const Matrix& matrix, int firstRow, int firstColumn, bool mirrored) {
    for (int k = 0; k < matrix.outerSize(); ++k)
      for (Matrix::InnerIterator entry(matrix, k); entry; ++entry) {
        entries.emplace_back(firstRow + int(entry.row()), firstColumn + k, entry.value());
        if (mirrored) entries.emplace_back(firstColumn + k, firstRow + int(entry.row()), entry.value());
      }
  };
  add(reader.matrix(root + "/W", rows, rows), 0, 0, false);
  if (joined) {
    add(reader.matrix(root + "/V", rows, bilateral), 0, rows, true);
    add(reader.matrix(root + "/R", bilateral, bilateral), rows, rows, false);
  }
  RowMatrix W(size, size);
  W.setFromTriplets(entries.begin(), entries.end());
  FrictionProblem& problem = content.local;
  problem.laws = fileLaws(contacts.dimension, contacts.mu, bilateral);
  problem.layOut();
  problem.W = toBlocks(W, problem.firstRow);
  problem.q.resize(size);
  problem.q.head(rows) = q;
  problem.q.tail(bilateral) = s;
  content.velocities = reader.attribute(root + "/info", "numberOfDegreeOfFreedom");
  if (content.velocities == 0)
    content.velocities = (contacts.dimension == 3 ? 6 : 3) * reader.attribute(root + "/info", "numberOfInvolvedDS");
}

void readGlobal(const Reader& reader, FrictionFile& content) {
  const std::string root = "fclib_global";
  const Contacts contacts = readContacts(reader, root);
  GlobalFrictionProblem global;
  const std::vector<double> f = reader.numbers(root + "/vectors/f");
  const int n = int(f.size()), bilateral = reader.has(root + "/G") ? reader.columns(root + "/G") : 0;
  global.f = Eigen::Map<const Eigen::VectorXd>(f.data(), n);
  global.w = reader.vector(root + "/vectors/w", contacts.rows);
  global.b.resize(0);
  if (bilateral > 0) global.b = reader.vector(root + "/vectors/b", bilateral);
  global.M = reader.matrix(root + "/M", n, n);
  global.H = reader.matrix(root + "/H", n, contacts.rows);
  global.G = bilateral > 0 ? reader.matrix(root + "/G", n, bilateral) : Matrix(n, 0);
  global.laws = fileLaws(contacts.dimension, contacts.mu, 0);
  content.velocities = n;
  try {
    content.reduction.emplace(std::move(global));
  } catch (const std::invalid_argument& error) {
    reader.fail(root, error.what(), "correct the matrix or vector named");
  }
}

Eigen::VectorXd readImpulses(const Reader& reader, const std::string& group, const FrictionFile& content) {
  const FrictionProblem& problem = content.problem();
  const int bilateral = int(std::count_if(problem.laws.begin(), problem.laws.end(),
                                          [](const FrictionLaw& law) { return law.kind == FrictionLaw::Kind::Bilateral; }));
  Eigen::VectorXd r(problem.rows());
  r.head(problem.rows() - bilateral) = reader.vector(group + "/r", problem.rows() - bilateral);
  if (bilateral > 0) r.tail(bilateral) = reader.vector(group + "/l", bilateral);
  return r;
}

// ---- Writing ----

/// Builds the file in memory.
class Writer {
 public:
  Writer() {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    constexpr std::size_t increment = 1 << 20;
    H5Pset_fapl_core(access, increment, false);
    file = Handle(H5Fcreate("friction problem", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    check(file.valid());
  }

  void group(const std::string& path) {
    const Handle made(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(made.valid());
  }
  void numbers(const std::string& path, const double* values, hsize_t count) {
    dataset(path, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, values, count);
  }
  void numbers(const std::string& path, const Eigen::VectorXd& values) { numbers(path, values.data(), values.size()); }
  void integers(const std::string& path, const int* values, hsize_t count) { dataset(path, H5T_NATIVE_INT, H5T_STD_I32LE, values, count); }
  void integer(const std::string& path, int value) { integers(path, &value, 1); }
  void text(const std::string& path, const std::string& value) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, value.size() + 1);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle made(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    check(made.valid() && H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()) >= 0);
  }
  /// By compressed rows.
  void matrix(const std::string& path, const RowMatrix& matrix) {
    group(path);
    const int count = int(matrix.nonZeros());
    integer(path + "/nzmax", count);
    integer(path + "/m", int(matrix.rows()));
    integer(path + "/n", int(matrix.cols()));
    integer(path + "/nz", compressedRows);
    integers(path + "/p", matrix.outerIndexPtr(), matrix.outerSize() + 1);
    integers(path + "/i", matrix.innerIndexPtr(), count);
    numbers(path + "/x", matrix.valuePtr(), count);
  }
  std::string bytes() {
    check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    check(size > 0);
    std::string image(size, '\0');
    check(H5Fget_file_image(file, image.data(), image.size()) == size);
    return image;
  }

 private:
  void dataset(const std::string& path, hid_t type, hid_t stored, const void* values, hsize_t count) {
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(plist, false);
    const Handle made(H5Dcreate2(file, path.c_str(), stored, space, H5P_DEFAULT, plist, H5P_DEFAULT), H5Dclose);
    check(made.valid() && (count == 0 || H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0));
  }
  static void check(bool good) {
    if (!good) throw MachineFailure("cannot build an HDF5 file in memory: " + hdf5::lastError());
  }

  Handle file;
};

void writeInfo(Writer& writer, const std::string& root, const FrictionFile& content) {
  writer.group(root + "/info");
  writer.text(root + "/info/title", content.title);
  writer.text(root + "/info/description", content.description);
  writer.text(root + "/info/math_info", content.mathInfo);
}

void writeContacts(Writer& writer, const std::string& root, const FrictionFileRows& rows) {
  writer.group(root);
  writer.integer(root + "/spacedim", rows.dimension);
  writer.group(root + "/vectors");
  writer.numbers(root + "/vectors/mu", rows.mu.data(), rows.mu.size());
}

void writeLocal(Writer& writer, const FrictionFile& content, const FrictionFileRows& rows) {
  const std::string root = "fclib_local";
  const int contacts = rows.dimension * rows.contacts;
  const RowMatrix W = fileDelassus(content.problem(), rows);
  const Eigen::VectorXd q = fileVector(content.problem().q, rows);
  writeContacts(writer, root, rows);
  writer.numbers(root + "/vectors/q", q.data(), contacts);
  writer.matrix(root + "/W", W.topLeftCorner(contacts, contacts));
  if (rows.bilateral > 0) {
    writer.matrix(root + "/V", W.topRightCorner(contacts, rows.bilateral));
    writer.matrix(root + "/R", W.bottomRightCorner(rows.bilateral, rows.bilateral));
    writer.numbers(root + "/vectors/s", q.data() + contacts, rows.bilateral);
  }
  writeInfo(writer, root, content);
}

/// H with the columns of the file's contacts.
RowMatrix spreadColumns(const Matrix& H, const FrictionFileRows& rows) {
  Triplets entries;
  for (int k = 0; k < H.outerSize(); ++k)
    for (Matrix::InnerIterator entry(H, k); entry; ++entry) entries.emplace_back(int(entry.row()), rows.place[k], entry.value());
  RowMatrix spread(H.rows(), rows.dimension * rows.contacts);
  spread.setFromTriplets(entries.begin(), entries.end());
  return spread;
}

void writeGlobal(Writer& writer, const FrictionFile& content, const GlobalFrictionProblem& global, const std::string& file) {
  const std::string root = "fclib_global";
  const FrictionFileRows rows = fileRows(global.laws, file);
  writeContacts(writer, root, rows);
  writer.matrix(root + "/M", global.M);
  writer.matrix(root + "/H", spreadColumns(global.H, rows));
  writer.numbers(root + "/vectors/f", global.f);
  writer.numbers(root + "/vectors/w", fileVector(global.w, rows));
  if (global.G.cols() > 0) {
    writer.matrix(root + "/G", global.G);
    writer.numbers(root + "/vectors/b", global.b);
  }
  writeInfo(writer, root, content);
}

/// v of bodies: the change of velocity that the impulses make.
Eigen::VectorXd bodyVelocities(const FrictionProblem& problem, const Eigen::VectorXd& r) {
  const FrictionBodies& bodies = problem.bodies;
  Eigen::VectorXd v = Eigen::VectorXd::Zero(6 * Eigen::Index(bodies.inverseInertia.size()));
  for (int i = 0; i < problem.contacts(); ++i) {
    const int first = problem.firstRow[i], size = problem.laws[i].size;
    for (int side = 0; side < 2; ++side)
      if (const int body = bodies.touched[i][side]; body >= 0)
        v.segment<6>(6 * body) += bodies.H.block(first, 6 * side, size, 6).transpose() * r.segment(first, size);
  }
  for (std::size_t body = 0; body < bodies.inverseInertia.size(); ++body)
    v.segment<6>(6 * body) = (bodies.inverseInertia[body] * v.segment<6>(6 * body)).eval();
  return v;
}

/// The impulses with the velocities that belong to them.
void writeImpulses(Writer& writer, const std::string& group, const FrictionFile& content, const FrictionFileRows& rows,
                   const Eigen::VectorXd& r, bool global) {
  const FrictionProblem& problem = content.problem();
  Eigen::VectorXd u;
  velocities(problem, r, u);
  const Eigen::Index contacts = rows.dimension * rows.contacts;
  const Eigen::VectorXd impulses = fileVector(r, rows), relative = fileVector(u, rows);
  writer.group(group);
  writer.numbers(group + "/r", impulses.data(), contacts);
  writer.numbers(group + "/u", relative.data(), contacts);
  Eigen::VectorXd lambda = impulses.tail(rows.bilateral);
  if (global && content.reduction) {
    FrictionReduction::Motion motion = content.reduction->motion(r);
    writer.numbers(group + "/v", motion.v);
    lambda = std::move(motion.lambda);
  } else if (global)
    writer.numbers(group + "/v", bodyVelocities(problem, r));
  if (lambda.size() > 0) writer.numbers(group + "/l", lambda);
}

}

FrictionFile readFclib(const std::string& file) {
  const hdf5::QuietErrors quiet;
  const Reader reader(file);
  FrictionFile content;
  const bool local = reader.has("fclib_local");
  if (!local && !reader.has("fclib_global"))
    throw InputError({file}, "", "holds neither fclib_local nor fclib_global", "this is not a file of a friction problem");
  if (local)
    readLocal(reader, content);
  else
    readGlobal(reader, content);
  const std::string info = std::string(local ? "fclib_local" : "fclib_global") + "/info/";
  content.title = reader.text(info + "title");
  content.description = reader.text(info + "description");
  content.mathInfo = reader.text(info + "math_info");
  if (reader.isWritten("solution/r")) content.solution = readImpulses(reader, "solution", content);
  const int guesses = reader.has("guesses/number_of_guesses") ? reader.integer("guesses/number_of_guesses") : 0;
  for (int k = 1; k <= guesses; ++k) {
    const std::string group = fmt::format("guesses/{}", k);
    if (!reader.has(group)) reader.fail(group, fmt::format("the guess is missing, though there should be {}", guesses));
    if (reader.isWritten(group + "/r")) content.guesses.push_back(readImpulses(reader, group, content));
  }
  return content;
}

std::string writeFclib(const std::string& file, const FrictionFile& content, bool global) {
  const hdf5::QuietErrors quiet;
  const FrictionFileRows rows = fileRows(content.problem().laws, file);
  Writer writer;
  if (!global)
    writeLocal(writer, content, rows);
  else if (content.reduction)
    writeGlobal(writer, content, content.reduction->global(), file);
  else if (content.local.hasBodies())
    writeGlobal(writer, content, toGlobal(content.local), file);
  else
    throw InputError({file}, "", "a global problem needs the masses, and only W is known", "write it as a local problem");
  if (content.solution.size() > 0) writeImpulses(writer, "solution", content, rows, content.solution, global);
  if (!content.guesses.empty()) {
    writer.group("guesses");
    writer.integer("guesses/number_of_guesses", int(content.guesses.size()));
    for (std::size_t k = 0; k < content.guesses.size(); ++k)
      writeImpulses(writer, fmt::format("guesses/{}", k + 1), content, rows, content.guesses[k], global);
  }
  return writer.bytes();
}

}
