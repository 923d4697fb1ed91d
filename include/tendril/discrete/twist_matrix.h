#pragma once
#include "tendril/model/director_system.h"

#include <vector>

namespace tendril {

/// Matrices over redundant coordinates as the twists of the blocks see them: N(q0)^T K N(q1) and G N(q), built block by block, since N has
/// a block for every block of the model, [R 0; 0 -R S(e_I)] of a pose.
class TwistMatrix {
 public:
  explicit TwistMatrix(const DirectorSystem& system);

  /// N(q0)^T K N(q1); K has the pattern of DirectorSystem::matrix().
  void project(const SparseMatrix& K, const VectorX& q0, const VectorX& q1);
  const SparseMatrix& matrix() const { return S_; }

  /// G N(q), rows of the model's constraints only; G has the pattern of DirectorSystem::gradient(). The result has that of rows().
  void projectRows(const SparseMatrix& G, const VectorX& q, SparseMatrix& rows) const;
  const SparseMatrix& rows() const { return rows_; }

 private:
  struct Run {
    int block = 0; ///< of the rows
    int from = 0;  ///< first entry within a column of K
    int to = 0;    ///< first entry within a column of S
  };
  const DirectorSystem& system_;
  std::vector<std::vector<Run>> runs_; ///< per block of columns
  SparseMatrix S_, rows_;
  std::vector<int> place_; ///< of each entry of G: where its row stands within the columns of its block; -1: internal
};

}
