#include "tendril/io/friction_file.h"
#include "io/friction_file_formats.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tendril {

namespace {

namespace fs = std::filesystem;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

constexpr std::string_view hdf5Signature("\x89HDF\r\n\x1a\n", 8);

/// Smallest and largest Ritz value of the symmetric part of W after some steps of Lanczos' method. Both lie within the spectrum, so a
/// negative one proves that W is indefinite.
std::pair<double, double> extremeRitzValues(const RowMatrix& W) {
  const Eigen::Index n = W.rows(), steps = std::min<Eigen::Index>(n, 60);
  Eigen::MatrixXd basis(n, steps);
  Eigen::VectorXd diagonal(steps), subdiagonal(steps);
  Eigen::VectorXd x(n);
  for (Eigen::Index i = 0; i < n; ++i) x[i] = 1 + 0.5 * std::sin(double(i + 1) * double(i + 1));
  Eigen::Index k = 0;
  for (double length = x.norm(); k < steps; ++k) {
    basis.col(k) = x / length;
    x = 0.5 * (W * basis.col(k) + W.transpose() * basis.col(k));
    diagonal[k] = basis.col(k).dot(x);
    for (int pass = 0; pass < 2; ++pass) x -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * x);
    length = x.norm();
    subdiagonal[k] = length;
    if (length <= 1e-14 * std::abs(diagonal[0])) {
      ++k;
      break;
    }
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> tridiagonal;
  tridiagonal.computeFromTridiagonal(diagonal.head(k), subdiagonal.head(k - 1), Eigen::EigenvaluesOnly);
  return {tridiagonal.eigenvalues()[0], tridiagonal.eigenvalues()[k - 1]};
}

void checkDefinite(const std::string& file, const FrictionProblem& problem) {
  if (problem.rows() == 0 || problem.hasBodies()) return; // the masses were found positive definite
  const RowMatrix W = toSparse(problem);
  const auto [smallest, largest] = extremeRitzValues(W);
  const RowMatrix skew = W - RowMatrix(W.transpose());
  const double asymmetry = skew.nonZeros() > 0 ? skew.coeffs().abs().maxCoeff() / W.coeffs().abs().maxCoeff() : 0;
  if (smallest < -(1e-6 + asymmetry) * std::max(largest, -smallest))
    throw InputError({file}, "W",
                     fmt::format("the matrix is indefinite: it has an eigenvalue of {:.3g} or less beside {:.3g}", smallest, largest),
                     "W = H M^-1 H^T has none below zero; check signs, the order of the blocks and whether masses are positive");
}

/// The file's first bytes, or all of them if they are not those of HDF5.
std::string readText(const fs::path& file) {
  std::error_code status;
  if (fs::is_directory(file, status)) throw InputError({file.string()}, "", "is a folder", "name a file with a friction problem");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError({file.string()}, "", fmt::format("cannot be read: {}", std::strerror(errno)), "check the name");
  std::string begin(hdf5Signature.size(), '\0');
  stream.read(begin.data(), std::ssize(begin));
  begin.resize(stream.gcount());
  if (begin == hdf5Signature) return begin;
  std::ostringstream rest;
  rest << stream.rdbuf();
  return begin + rest.str();
}

bool isText(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".dat" || extension == ".txt";
}

FrictionFileOptions::Format chooseFormat(const fs::path& file, const FrictionFile& content, FrictionFileOptions::Format format) {
  using Format = FrictionFileOptions::Format;
  if (format != Format::Automatic) return format;
  if (isText(file)) return Format::Text;
  return content.reduction || content.local.hasBodies() ? Format::FclibGlobal : Format::FclibLocal;
}

}

FrictionFileRows fileRows(const std::vector<FrictionLaw>& laws, const std::string& file) {
  FrictionFileRows rows;
  int largest = 0;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const FrictionLaw& law = laws[i];
    if (law.kind == FrictionLaw::Kind::Bilateral) {
      rows.bilateral += law.size;
      continue;
    }
    const bool coulomb =
        law.size == 1 || (law.size <= 3 && law.discCount == 1 && law.discs[0].first == 1 && law.discs[0].size == law.size - 1);
    if (!coulomb)
      throw InputError({file}, fmt::format("contact {}", i),
                       "its law is not Coulomb's: no file of friction problems holds rolling friction",
                       "leave out rolling and pivoting friction");
    largest = std::max(largest, law.size);
    rows.mu.push_back(law.discCount > 0 ? law.discs[0].coefficient : 0.0);
    ++rows.contacts;
  }
  rows.dimension = largest == 2 ? 2 : 3;
  int contact = 0, bilateral = rows.dimension * rows.contacts;
  for (const FrictionLaw& law : laws) {
    const bool held = law.kind == FrictionLaw::Kind::Bilateral;
    for (int row = 0; row < law.size; ++row) rows.place.push_back(held ? bilateral++ : rows.dimension * contact + row);
    contact += !held;
  }
  return rows;
}

std::vector<FrictionLaw> fileLaws(int dimension, const std::vector<double>& mu, int bilateral) {
  std::vector<FrictionLaw> laws;
  for (const double coefficient : mu) laws.push_back(dimension == 2 ? FrictionLaw::plane(coefficient) : FrictionLaw::coulomb(coefficient));
  laws.insert(laws.end(), bilateral, FrictionLaw::bilateral(1));
  return laws;
}

RowMatrix fileDelassus(const FrictionProblem& problem, const FrictionFileRows& rows) {
  const RowMatrix W = toSparse(problem);
  std::vector<Eigen::Triplet<double>> entries;
  for (int row = 0; row < W.rows(); ++row)
    for (RowMatrix::InnerIterator entry(W, row); entry; ++entry)
      if (entry.value() != 0) entries.emplace_back(rows.place[row], rows.place[entry.col()], entry.value());
  const int size = rows.dimension * rows.contacts + rows.bilateral;
  RowMatrix ordered(size, size);
  ordered.setFromTriplets(entries.begin(), entries.end());
  return ordered;
}

Eigen::VectorXd fileVector(const Eigen::VectorXd& vector, const FrictionFileRows& rows) {
  Eigen::VectorXd ordered = Eigen::VectorXd::Zero(rows.dimension * rows.contacts + rows.bilateral);
  for (Eigen::Index row = 0; row < vector.size(); ++row) ordered[rows.place[row]] = vector[row];
  return ordered;
}

FrictionFile readFrictionFile(const fs::path& path) {
  const std::string file = path.string();
  const std::string text = readText(path);
  if (text.empty()) throw InputError({file}, "", "the file is empty", "write it again");
  const bool isHdf5 = text == hdf5Signature;
  if (!isHdf5 && !isText(path) && text.find('\0') != std::string::npos)
    throw InputError({file}, "", "this is neither HDF5 nor text", "friction problems are FCLIB files (HDF5) or plain text");
  FrictionFile content = isHdf5 ? readFclib(file) : readFrictionText(file, text);
  if (const std::string defect = findDefect(content.problem()); !defect.empty()) throw InputError({file}, "", defect);
  checkDefinite(file, content.problem());
  return content;
}

void writeFrictionFile(const fs::path& path, const FrictionFile& content, const FrictionFileOptions& options) {
  using Format = FrictionFileOptions::Format;
  std::error_code status;
  if (!options.overwrite && fs::exists(path, status))
    throw InputError({path.string()}, "", "the file exists already", "choose another name, or ask for it to be replaced");
  const Format format = chooseFormat(path, content, options.format);
  replaceFile(path, format == Format::Text ? writeFrictionText(path.string(), content)
                                           : writeFclib(path.string(), content, format == Format::FclibGlobal));
}

}
