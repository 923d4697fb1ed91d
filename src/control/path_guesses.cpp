#include "tendril/control/path_guesses.h"

#include "control/node_space.h"
#include "tendril/discrete/null_space.h"

#include <algorithm>
#include <numbers>
#include <random>

namespace tendril {

std::vector<KeyMotions> disturbed(const DirectorSystem& system, std::vector<KeyMotions> keys, bool keepEnd, double spread, unsigned seed) {
  const KinematicTree tree(system);
  std::mt19937 random(seed);
  const auto uniform = [&] { return spread * (2 * (double(random()) / double(std::mt19937::max())) - 1); };
  const auto nameOf = [&](int i) { // within the quotes
    const std::string name = tree.nameOfCoordinate(i);
    const std::size_t begin = name.find('\'') + 1;
    return name.substr(begin, name.rfind('\'') - begin);
  };
  if (keys.empty() || keys.front().share >= 1) {
    KeyMotions halfway{0.5, keys.empty() ? JointMotions{} : keys.front().motions};
    for (auto& [name, motion] : halfway.motions) motion *= 0.5;
    keys.insert(keys.begin(), std::move(halfway));
  }
  if (!keepEnd && keys.back().share < 1) keys.push_back({1, keys.back().motions});
  for (KeyMotions& key : keys) {
    if (keepEnd && key.share >= 1) continue;
    for (int i = 0; i < tree.dimension();) {
      int end = i;
      while (end < tree.dimension() && tree.nameOfCoordinate(end) == tree.nameOfCoordinate(i)) ++end;
      VectorX& motion = key.motions[nameOf(i)];
      if (motion.size() == 0) motion.setZero(end - i);
      for (int j = i; j < end; ++j)
        motion[j - i] += uniform() * (tree.isLength(j) ? system.model().characteristicLength() / std::numbers::pi : 1);
      i = end;
    }
  }
  return keys;
}

std::vector<VectorX> halved(const DirectorSystem& system, const std::vector<VectorX>& nodes) {
  const std::vector<int> rows = NullSpace(system, nodes[0], 0).keptConstraints();
  std::vector<VectorX> finer{nodes[0]};
  for (std::size_t k = 0; k + 1 < nodes.size(); ++k) {
    NodeSpace between(system, rows, nodes[k], 0);
    const VectorX half = (0.5 * (nodes[k + 1] - nodes[k])).cwiseQuotient(between.unit());
    between.retract(between.basis().transpose() * half);
    finer.push_back(between.q());
    finer.push_back(nodes[k + 1]);
  }
  return finer;
}

MatrixX halved(const MatrixX& controls) {
  const Eigen::Index N = controls.cols();
  MatrixX finer(controls.rows(), 2 * N);
  for (Eigen::Index k = 0; k < N; ++k) {
    const Eigen::Index before = std::max<Eigen::Index>(k - 1, 0), after = std::min(k + 1, N - 1);
    const VectorX quarter = (controls.col(after) - controls.col(before)) / (4.0 * double(std::max<Eigen::Index>(after - before, 1)));
    finer.col(2 * k) = controls.col(k) - quarter;
    finer.col(2 * k + 1) = controls.col(k) + quarter;
  }
  return finer;
}

}
