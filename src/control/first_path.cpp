#include "tendril/control/first_path.h"

#include "tendril/discrete/null_space.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

/// Coordinates of the tree move by no more than this at a time, so that loops can follow [rad, or m over the size of the model].
constexpr double stride = 0.1;

/// Nothing moves farther than this [rad, or m over the size of the model].
constexpr double farthest = 1e4;

VectorX treeCoordinates(const KinematicTree& tree, double length, const JointMotions& motions) {
  VectorX u = VectorX::Zero(tree.dimension());
  for (const auto& [name, values] : motions) {
    std::vector<int> places;
    for (int i = 0; i < tree.dimension(); ++i)
      if (tree.nameOfCoordinate(i).find("'" + name + "'") != std::string::npos) places.push_back(i);
    if (places.empty())
      throw InputError("'" + name + "' is no joint or free body whose motion can be given; it may close a loop that others determine");
    if (int(places.size()) != values.size())
      throw InputError("'" + name + "' moves in " + std::to_string(places.size()) + " ways, but " + std::to_string(values.size()) +
                       " numbers are given");
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double value = values[Eigen::Index(i)];
      if (!(std::abs(value) < farthest * (tree.isLength(places[i]) ? length : 1)))
        throw InputError("'" + name + "' moves out of all proportion to the size of the model; give an angle or a length within it");
      u[places[i]] = value;
    }
  }
  return u;
}

/// For every block the number of the body that it belongs to: nodes of one beam share their inertia.
std::vector<int> flexibleBodies(const DirectorSystem& system) {
  const auto& blocks = system.model().blocks();
  std::vector<int> blockOf(std::size_t(system.size())), body(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    body[b] = int(b);
    std::fill_n(blockOf.begin() + blocks[b].q, blocks[b].nq, int(b));
  }
  const auto root = [&](int b) {
    while (body[std::size_t(b)] != b) b = body[std::size_t(b)];
    return b;
  };
  const SparseMatrix& M = system.mass();
  for (int j = 0; j < M.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(M, j); it; ++it) {
      if (it.value() == 0) continue;
      const int a = root(blockOf[std::size_t(it.row())]), c = root(blockOf[std::size_t(j)]);
      body[std::size_t(std::max(a, c))] = std::min(a, c);
    }
  for (std::size_t b = 0; b < blocks.size(); ++b) body[b] = root(int(b));
  return body;
}

/// A beam of which one node moves follows as a whole, without strain: twists of the others are those of the same rigid motion.
void followRigidly(const DirectorSystem& system, const std::vector<int>& body, const VectorX& q, VectorX& twist) {
  const auto& blocks = system.model().blocks();
  const auto isPose = [&](std::size_t b) { return blocks[b].kind == Block::Kind::Pose; };
  std::vector<int> leader(blocks.size(), -1);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    int& lead = leader[std::size_t(body[b])];
    if (lead < 0 && isPose(b) && !twist.segment<6>(blocks[b].v).isZero(0)) lead = int(b);
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const int lead = leader[std::size_t(body[b])];
    if (lead < 0 || lead == int(b) || !isPose(b)) continue;
    const Pose from = loadPose(q.data() + blocks[std::size_t(lead)].q), to = loadPose(q.data() + blocks[b].q);
    const Vector3 velocity = from.R * twist.segment<3>(blocks[std::size_t(lead)].v),
                  turn = from.R * twist.segment<3>(blocks[std::size_t(lead)].v + 3);
    twist.segment<3>(blocks[b].v) = to.R.transpose() * (velocity + turn.cross(to.x - from.x));
    twist.segment<3>(blocks[b].v + 3) = to.R.transpose() * turn;
  }
}

/// Moves q along tree coordinates as far as the loops allow: of their motions the one nearest to what is asked for, on the coordinates
/// that are asked to move.
void moveWithLoops(const DirectorSystem& system, NullSpace& space, const std::vector<int>& body, const VectorX& by, VectorX& q) {
  double size = 0;
  for (Eigen::Index i = 0; i < by.size(); ++i)
    size = std::max(size, std::abs(by[i]) / (space.tree().isLength(int(i)) ? system.model().characteristicLength() : 1));
  const int steps = std::max(1, int(std::ceil(size / stride)));
  VectorX next = q, rest = by / steps, twist(system.model().nv());
  for (int k = 0; k < steps; ++k) {
    space.update(q, 0);
    rest = by / steps;
    space.tree().twists(q, 0, rest, twist);
    followRigidly(system, body, q, twist);
    space.tree().rates(q, 0, twist, rest);
    MatrixX asked = space.basis();
    for (Eigen::Index i = 0; i < rest.size(); ++i)
      if (rest[i] == 0) asked.row(i).setZero();
    const VectorX nu = asked.completeOrthogonalDecomposition().solve(rest);
    if (!space.retract(q, nu, 0, 0, next)) throw InputError("the loops of the mechanism cannot follow the motion to a given configuration");
    q = next;
  }
}

}

std::vector<VectorX> pathThrough(const DirectorSystem& system, const VectorX& q, const std::vector<KeyMotions>& keys, int intervals) {
  NullSpace space(system, q, 0);
  const KinematicTree& tree = space.tree();
  std::vector<double> shares{0};
  std::vector<VectorX> motions{VectorX::Zero(tree.dimension())};
  for (const KeyMotions& key : keys) {
    shares.push_back(key.share);
    motions.push_back(treeCoordinates(tree, system.model().characteristicLength(), key.motions));
  }
  const std::vector<int> body = flexibleBodies(system);
  const bool isRigid = std::all_of(body.begin(), body.end(), [&, b = 0](int of) mutable { return of == b++; });
  const bool isTree = tree.closure().empty() && isRigid;
  std::vector<VectorX> path(std::size_t(intervals) + 1, q);
  VectorX u = motions[0];
  for (int k = 1; k <= intervals; ++k) {
    const double s = double(k) / intervals;
    const std::size_t after = std::size_t(std::upper_bound(shares.begin(), shares.end(), s * (1 - 1e-12)) - shares.begin());
    const std::size_t before = after - 1;
    const VectorX next =
        after == shares.size()
            ? motions.back()
            : VectorX(motions[before] + (s - shares[before]) / (shares[after] - shares[before]) * (motions[after] - motions[before]));
    VectorX& here = path[std::size_t(k)];
    if (isTree) {
      tree.retract(q, next, 0, 0, here);
    } else {
      here = path[std::size_t(k) - 1];
      moveWithLoops(system, space, body, next - u, here);
    }
    u = next;
  }
  return path;
}

}
