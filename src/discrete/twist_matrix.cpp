#include "tendril/discrete/twist_matrix.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <stdexcept>

namespace tendril {

namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

int blockOfCoordinate(const std::vector<Block>& blocks, int q) {
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), q, [](int at, const Block& b) { return at < b.q; });
  return int(after - blocks.begin()) - 1;
}

int placeInColumn(const SparseMatrix& A, int row, int column) {
  const int* first = A.innerIndexPtr() + A.outerIndexPtr()[column];
  const int* last = A.innerIndexPtr() + A.outerIndexPtr()[column + 1];
  return int(std::lower_bound(first, last, row) - first);
}

/// N^T f of a pose block, f of its twelve coordinates.
Vector6 pulledBack(const Matrix3& R, const double* f) {
  Vector6 reduced;
  reduced.head<3>().noalias() = R.transpose() * Eigen::Map<const Vector3>(f);
  const Matrix3 local = R.transpose() * Eigen::Map<const Matrix3>(f + 3);
  reduced.tail<3>() << local(2, 1) - local(1, 2), local(0, 2) - local(2, 0), local(1, 0) - local(0, 1); // sum e_I x R^T f_I
  return reduced;
}

/// The row of N that belongs to a coordinate of a pose block: three numbers, of the velocity (coordinates 0 to 2) or of the spin.
Vector3 rowOfN(const Matrix3& R, int coordinate) {
  const Vector3 r = R.row(coordinate % 3);
  if (coordinate < 3) return r;
  return Vector3::Unit(coordinate / 3 - 1).cross(r);
}

}

TwistMatrix::TwistMatrix(const DirectorSystem& system) : system_(system) {
  const std::vector<Block>& blocks = system.model().blocks();
  const SparseMatrix K = system.matrix(), G = system.gradient();
  runs_.resize(blocks.size());
  Triplets entries;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const int* first = K.innerIndexPtr() + K.outerIndexPtr()[blocks[b].q];
    const int* last = K.innerIndexPtr() + K.outerIndexPtr()[blocks[b].q + 1];
    for (const int* row = first; row < last;) {
      const int a = blockOfCoordinate(blocks, *row);
      if (*row != blocks[a].q || last - row < blocks[a].nq) throw std::logic_error("director coordinates couple in whole blocks");
      runs_[b].push_back({a, int(row - first), 0});
      for (int i = 0; i < blocks[a].nv; ++i)
        for (int c = 0; c < blocks[b].nv; ++c) entries.emplace_back(blocks[a].v + i, blocks[b].v + c, 0.0);
      row += blocks[a].nq;
    }
  }
  S_.resize(system.model().nv(), system.model().nv());
  S_.setFromTriplets(entries.begin(), entries.end());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (Run& run : runs_[b]) run.to = placeInColumn(S_, blocks[run.block].v, blocks[b].v);

  entries.clear();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (int j = blocks[b].q; j < blocks[b].q + blocks[b].nq; ++j) {
      for (SparseMatrix::InnerIterator entry(G, j); entry; ++entry) {
        const int row = int(entry.row()) - system.internalConstraints();
        for (int c = 0; row >= 0 && c < blocks[b].nv; ++c) entries.emplace_back(row, blocks[b].v + c, 0.0);
      }
    }
  }
  rows_.resize(system.model().nc(), system.model().nv());
  rows_.setFromTriplets(entries.begin(), entries.end());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (int j = blocks[b].q; j < blocks[b].q + blocks[b].nq; ++j) {
      for (SparseMatrix::InnerIterator entry(G, j); entry; ++entry) {
        const int row = int(entry.row()) - system.internalConstraints();
        place_.push_back(row < 0 ? -1 : placeInColumn(rows_, row, blocks[b].v));
      }
    }
  }
}

void TwistMatrix::project(const SparseMatrix& K, const VectorX& q0, const VectorX& q1) {
  const std::vector<Block>& blocks = system_.model().blocks();
  std::fill_n(S_.valuePtr(), S_.nonZeros(), 0.0);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& columns = blocks[b];
    const bool isPose = columns.kind == Block::Kind::Pose;
    const Matrix3 R1 = isPose ? loadPose(q1.data() + columns.q).R : Matrix3::Identity();
    for (const Run& run : runs_[b]) {
      const Block& rows = blocks[run.block];
      const bool isPoseRow = rows.kind == Block::Kind::Pose;
      const Matrix3 R0 = isPoseRow ? loadPose(q0.data() + rows.q).R : Matrix3::Identity();
      for (int j = 0; j < columns.nq; ++j) {
        const double* f = K.valuePtr() + K.outerIndexPtr()[columns.q + j] + run.from;
        const Vector6 pulled = isPoseRow ? pulledBack(R0, f) : Vector6::Zero();
        const double* reduced = isPoseRow ? pulled.data() : f;
        const Vector3 row = isPose ? rowOfN(R1, j) : Vector3::UnitX();
        const int first = !isPose ? j : j < 3 ? 0 : 3, count = isPose ? 3 : 1;
        for (int c = 0; c < count; ++c) {
          double* to = S_.valuePtr() + S_.outerIndexPtr()[columns.v + first + c] + run.to;
          for (int i = 0; i < rows.nv; ++i) to[i] += reduced[i] * row[c];
        }
      }
    }
  }
}

void TwistMatrix::projectRows(const SparseMatrix& G, const VectorX& q, SparseMatrix& rows) const {
  const std::vector<Block>& blocks = system_.model().blocks();
  std::fill_n(rows.valuePtr(), rows.nonZeros(), 0.0);
  const int* place = place_.data();
  for (const Block& block : blocks) {
    const bool isPose = block.kind == Block::Kind::Pose;
    const Matrix3 R = isPose ? loadPose(q.data() + block.q).R : Matrix3::Identity();
    for (int j = 0; j < block.nq; ++j) {
      const Vector3 row = isPose ? rowOfN(R, j) : Vector3::UnitX();
      const int first = !isPose ? j : j < 3 ? 0 : 3, count = isPose ? 3 : 1;
      for (SparseMatrix::InnerIterator entry(G, block.q + j); entry; ++entry, ++place) {
        for (int c = 0; *place >= 0 && c < count; ++c)
          rows.valuePtr()[rows.outerIndexPtr()[block.v + first + c] + *place] += entry.value() * row[c];
      }
    }
  }
}

}
