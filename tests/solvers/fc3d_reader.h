#pragma once
#include "support/places.h"
#include "tendril/solvers/friction_problem.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tendril::test {

inline std::filesystem::path fc3dFolder() { return std::filesystem::path(test::sourceFolder()) / "tests/data/fc3d"; }

/// A dense n x n matrix, column by column, as blocks; blocks of zeros are left out.
inline BlockMatrix blocksOf(const std::vector<double>& dense, int contacts, int size) {
  BlockMatrix W;
  W.start.push_back(0);
  const int n = contacts * size;
  for (int i = 0; i < contacts; ++i) {
    for (int j = 0; j < contacts; ++j) {
      std::vector<double> block;
      double largest = 0;
      for (int l = 0; l < size; ++l)
        for (int k = 0; k < size; ++k) {
          block.push_back(dense[std::size_t(j * size + l) * n + i * size + k]);
          largest = std::max(largest, std::abs(block.back()));
        }
      if (largest == 0 && i != j) continue;
      W.blocks.push_back({j, W.values.size()});
      W.values.insert(W.values.end(), block.begin(), block.end());
    }
    W.start.push_back(int(W.blocks.size()));
  }
  return W;
}

/// Blocks of 3 x 3, each after its number. The header before them gives sizes that follow from the number of contacts, then the start of
/// each row of blocks and the columns.
inline BlockMatrix readBlocks(std::ifstream& in, int contacts) {
  std::size_t count = 0, ignored = 0, starts = 0, columns = 0;
  in >> count >> ignored >> ignored;
  for (int k = 0; k < 2 * contacts; ++k) in >> ignored;
  in >> starts >> columns;
  BlockMatrix W;
  W.start.resize(starts);
  W.blocks.resize(columns);
  for (int& start : W.start) in >> start;
  for (std::size_t k = 0; k < columns; ++k) {
    in >> W.blocks[k].column;
    W.blocks[k].offset = 9 * k;
  }
  W.start.resize(contacts + 1);
  W.blocks.resize(count);
  W.values.resize(9 * count);
  for (std::size_t k = 0; k < count; ++k) {
    in >> ignored;
    for (int e = 0; e < 9; ++e) in >> W.values[9 * k + e];
  }
  return W;
}

/// Reads a friction problem in the text format of tests/data/fc3d: contacts of three rows.
inline FrictionProblem readFc3d(const std::filesystem::path& file) {
  std::ifstream in(file);
  int dimension = 0, contacts = 0, storage = 0, rows = 0, columns = 0;
  in >> dimension >> contacts >> storage >> rows >> columns;
  FrictionProblem problem;
  if (storage == 0) {
    in >> rows >> columns;
    std::vector<double> dense(std::size_t(rows) * columns);
    for (double& entry : dense) in >> entry;
    problem.W = blocksOf(dense, contacts, dimension);
  } else {
    problem.W = readBlocks(in, contacts);
  }
  problem.q.resize(3 * contacts);
  for (double& entry : problem.q) in >> entry;
  for (int i = 0; i < contacts; ++i) {
    double mu = 0;
    in >> mu;
    problem.laws.push_back(FrictionLaw::coulomb(mu));
  }
  if (!in) throw std::runtime_error("cannot read " + file.string());
  problem.layOut();
  return problem;
}

}
