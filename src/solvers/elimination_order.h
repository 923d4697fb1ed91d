#pragma once
#include <vector>

#include <Eigen/SparseCore>

namespace tendril {

/// Rows and columns in the order in which they are eliminated, and what an LU factorisation costs that finds its pivots on the diagonal.
struct EliminationOrder {
  std::vector<int> rows;
  double operations = 0; ///< multiplications and additions
  double entries = 0;    ///< of both factors
};

/// An order for a matrix of which groups of rows and columns are eliminated as a whole, lower rows first (`groups` gives each row its
/// group). Of two orders of the groups the one that costs fewer operations: minimum degree, for what branches, and that of Cuthill & McKee
/// (1969) backwards, a front that runs along what is long, as a bundle of wires is: there minimum degree begins at many places, and where
/// the pieces meet factors hold twice the section.
EliminationOrder cheapestOrder(const Eigen::SparseMatrix<double>& A, const std::vector<int>& groups);

}
