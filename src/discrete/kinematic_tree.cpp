#include "tendril/discrete/kinematic_tree.h"

#include "tendril/lie/se3.h"

#include <Eigen/QR>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tendril {

namespace {

/// Sets that grow together (union-find); one for each block, the last for the ground.
class Components {
 public:
  explicit Components(int count) : leader_(count) { std::iota(leader_.begin(), leader_.end(), 0); }
  int find(int i) {
    while (leader_[i] != i) i = leader_[i] = leader_[leader_[i]];
    return i;
  }
  /// False if both are in one set already.
  bool join(int a, int b) {
    a = find(a), b = find(b);
    leader_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<int> leader_;
};

/// Block of a frame; the ground counts as the block after the last.
int vertexOf(const DirectorFrame& frame, int ground) { return frame.count == 0 ? ground : frame.blocks[0]; }

Pose poseOf(const Matrix34& Y) { return {Y.rightCols<3>(), Y.col(0)}; }

}

KinematicTree::KinematicTree(const DirectorSystem& system) : system_(system), links_(system.model().blocks().size()) {
  grow();
  const std::vector<Block>& blocks = system.model().blocks();
  std::vector<bool> isHeld(system.model().nc(), false);
  for (int b : order_) {
    Link& link = links_[b];
    link.first = dimension_;
    if (link.pair >= 0) {
      const LowerPair& pair = system.pairs()[link.pair];
      link.freedom = pair.freedom();
      for (int row : pair.rows) isHeld[row] = true;
      for (const auto* motions : {&pair.first, &pair.second})
        for (int i = 0; i < motions->cols(); ++i) isLength_.push_back(motions->col(i).tail<3>().isZero(0));
    } else {
      link.freedom = blocks[b].nv;
      for (int i = 0; i < link.freedom; ++i) isLength_.push_back(i < 3 || blocks[b].kind == Block::Kind::Vector);
    }
    dimension_ += link.freedom;
  }
  for (int row = 0; row < system.model().nc(); ++row)
    if (!isHeld[row]) closure_.push_back(row);
}

/// Chooses the pairs of the forest and the order of the blocks, breadth first from the roots.
void KinematicTree::grow() {
  const std::vector<LowerPair>& pairs = system_.pairs();
  const int blocks = int(links_.size()), ground = blocks;
  std::vector<int> byWeight(pairs.size());
  std::iota(byWeight.begin(), byWeight.end(), 0);
  std::stable_sort(byWeight.begin(), byWeight.end(), [&](int a, int b) { return pairs[a].rows.size() > pairs[b].rows.size(); });
  Components components(blocks + 1);
  std::vector<std::vector<int>> pairsOf(blocks + 1);
  for (int p : byWeight) {
    const auto& [first, second] = pairs[p].frames;
    const int a = vertexOf(first, ground), b = vertexOf(second, ground);
    if (first.count > 1 || second.count > 1 || !components.join(a, b)) continue;
    pairsOf[a].push_back(p), pairsOf[b].push_back(p);
  }
  std::vector<bool> isReached(blocks + 1, false);
  const auto growFrom = [&](int root) {
    std::vector<int> front{root};
    isReached[root] = true;
    for (std::size_t i = 0; i < front.size(); ++i) {
      if (front[i] != ground) order_.push_back(front[i]);
      for (int p : pairsOf[front[i]]) {
        const int a = vertexOf(pairs[p].frames[0], ground), b = vertexOf(pairs[p].frames[1], ground), child = a == front[i] ? b : a;
        if (isReached[child]) continue;
        isReached[child] = true;
        hang(child, p);
        front.push_back(child);
      }
    }
  };
  growFrom(ground);
  for (int b = 0; b < blocks; ++b)
    if (!isReached[b]) growFrom(b);
}

void KinematicTree::hang(int block, int pair) {
  Link& link = links_[block];
  link.pair = pair;
  const std::array<DirectorFrame, 2>& frames = system_.pairs()[pair].frames;
  link.isFlipped = frames[0].count == 1 && frames[0].blocks[0] == block;
  const DirectorFrame& ofParent = frames[link.isFlipped ? 1 : 0];
  link.parent = ofParent.count == 0 ? -1 : ofParent.blocks[0];
  for (int k = 0; k < 2; ++k)
    if (frames[k].count == 1) link.offset[k] = {frames[k].offset.bottomRightCorner<3, 3>(), frames[k].offset.col(0).tail<3>()};
}

std::string KinematicTree::nameOfCoordinate(int i) const {
  const auto next = std::upper_bound(order_.begin(), order_.end(), i, [&](int value, int b) { return value < links_[b].first; });
  // A fixed pair has no coordinate of its own, and begins where the next block does.
  const int block = *std::find_if(std::make_reverse_iterator(next), order_.rend(), [&](int b) { return links_[b].freedom > 0; });
  const int pair = links_[block].pair;
  return pair < 0 ? system_.model().nameOfBlock(block) : system_.pairs()[pair].name;
}

std::array<Pose, 2> KinematicTree::ends(const Link& link, const VectorX& q, double t) const {
  std::array<Pose, 2> poses;
  const std::array<DirectorFrame, 2>& frames = system_.pairs()[link.pair].frames;
  for (int k = 0; k < 2; ++k) poses[k] = frames[k].count == 0 ? poseOf(frames[k].at(q, t)) : loadPose(q.data() + frames[k].q[0]);
  return poses;
}

void KinematicTree::find(const Link& link, const VectorX& q, double t, Motion& m) const {
  const std::array<Pose, 2> H = ends(link, q, t);
  const LowerPair& pair = system_.pairs()[link.pair];
  m.motion.resize(6, link.freedom);
  auto first = m.motion.leftCols(pair.first.cols()), second = m.motion.rightCols(pair.second.cols());
  if (link.isFlipped) {
    m.transport = se3::Ad(H[0].relative(H[1]));
    const Pose H12 = (H[0] * link.offset[0]).relative(H[1] * link.offset[1]);
    first.noalias() = se3::Ad(link.offset[0]).lazyProduct(-pair.first);
    second.noalias() = se3::Ad(link.offset[0] * H12).lazyProduct(-pair.second);
  } else {
    m.transport = se3::Ad(H[1].relative(H[0]));
    first.noalias() = se3::Ad(H[1].relative(H[0] * link.offset[0])).lazyProduct(pair.first);
    second.noalias() = se3::Ad(link.offset[1]).lazyProduct(pair.second);
  }
}

/// Twist of a ground frame, in the frame.
Vector6 KinematicTree::groundTwist(const Link& link, const VectorX& q, double t) const {
  const DirectorFrame& frame = system_.pairs()[link.pair].frames[link.isFlipped ? 1 : 0];
  const Matrix34 Y = frame.at(q, t), rate = frame.rate(q, t); // no block, so the first argument is not read
  Vector6 twist;
  twist << Y.rightCols<3>().transpose() * rate.col(0), so3::vee(Y.rightCols<3>().transpose() * rate.rightCols<3>());
  return twist;
}

namespace {

bool isFree(const LowerPair& pair, int axis) { return pair.second.cols() > 0 && !pair.second.row(axis).isZero(0); }

/// A relative pose back on the motions of its pair, from which rounding leads away step by step.
Pose settled(const LowerPair& pair, Pose H) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!isFree(pair, axis)) H.x[axis] = 0;
  }
  const int turns = int(isFree(pair, 3)) + int(isFree(pair, 4)) + int(isFree(pair, 5));
  const auto about = [](int axis, double sine, double cosine) { return so3::exp(std::atan2(sine, cosine) * Vector3::Unit(axis)); };
  if (pair.first.cols() > 0) { // universal: about e1 of the first frame, then e2 of the second
    H.R = (about(0, H.R(2, 1), H.R(1, 1)) * about(1, H.R(0, 2), H.R(0, 0))).eval();
  } else if (turns == 1) {
    const int i = isFree(pair, 3) ? 0 : isFree(pair, 4) ? 1 : 2, j = (i + 1) % 3, k = (i + 2) % 3;
    H.R = about(i, H.R(k, j) - H.R(j, k), H.R(j, j) + H.R(k, k));
  } else if (turns == 0) {
    H.R.setIdentity();
  }
  return H;
}

}

void KinematicTree::retract(const VectorX& q0, const VectorX& u, double t0, double t1, VectorX& q1) const {
  assert(&q0 != &q1);
  q1.resize(q0.size());
  const std::vector<Block>& blocks = system_.model().blocks();
  for (int b : order_) {
    const Link& link = links_[b];
    const Block& block = blocks[b];
    if (block.kind == Block::Kind::Vector) {
      q1.segment(block.q, block.nq) = q0.segment(block.q, block.nq) + u.segment(link.first, link.freedom);
      continue;
    }
    Pose moved;
    if (link.pair < 0) {
      moved = loadPose(q0.data() + block.q) * se3::exp(u.segment<6>(link.first));
    } else {
      const LowerPair& pair = system_.pairs()[link.pair];
      const int parent = link.isFlipped ? 1 : 0, child = 1 - parent;
      const std::array<Pose, 2> before = ends(link, q0, t0);
      Pose H12 = (before[0] * link.offset[0]).relative(before[1] * link.offset[1]);
      if (pair.first.cols() > 0) H12 = se3::exp(pair.first.lazyProduct(u.segment(link.first, pair.first.cols()))) * H12;
      if (pair.second.cols() > 0) {
        const Vector6 s = pair.second.lazyProduct(u.segment(link.first + pair.first.cols(), pair.second.cols()));
        H12 = H12 * se3::exp(s);
      }
      H12 = settled(pair, H12);
      const DirectorFrame& carrier = pair.frames[parent];
      const Pose base = carrier.count == 0 ? poseOf(carrier.at(q1, t1)) : loadPose(q1.data() + carrier.q[0]);
      moved = base * link.offset[parent] * (link.isFlipped ? H12.inverse() : H12) * link.offset[child].inverse();
    }
    // One step of the series; farther from a rotation, or not finite, it is left to whoever looks at the residual.
    if (moved.R.allFinite() && moved.R.determinant() > 0) moved.R = so3::orthonormalised(moved.R);
    storePose(moved, q1.data() + block.q);
  }
}

void KinematicTree::twists(const VectorX& q, double t, const VectorX& rates, VectorX& v) const {
  const std::vector<Block>& blocks = system_.model().blocks();
  v.resize(system_.model().nv());
  Motion m;
  for (int b : order_) {
    const Link& link = links_[b];
    auto own = v.segment(blocks[b].v, blocks[b].nv);
    const auto u = rates.segment(link.first, link.freedom);
    if (link.pair < 0) {
      own = u;
      continue;
    }
    find(link, q, t, m);
    Vector6 twist = m.motion.lazyProduct(u);
    if (link.parent >= 0) twist.noalias() += m.transport * v.segment<6>(blocks[link.parent].v);
    own = twist;
  }
}

void KinematicTree::drift(const VectorX& q, double t, VectorX& v) const {
  const std::vector<Block>& blocks = system_.model().blocks();
  v.setZero(system_.model().nv());
  Motion m;
  for (int b : order_) {
    const Link& link = links_[b];
    if (link.pair < 0) continue;
    find(link, q, t, m);
    const Vector6 ofParent = link.parent < 0 ? groundTwist(link, q, t) : Vector6(v.segment<6>(blocks[link.parent].v));
    v.segment<6>(blocks[b].v).noalias() = m.transport * ofParent;
  }
}

void KinematicTree::reduce(const VectorX& q, double t, const VectorX& forces, VectorX& reduced) const {
  // The force on a block is complete when those of its children have been handed down.
  const std::vector<Block>& blocks = system_.model().blocks();
  reduced.resize(dimension_);
  gathered_ = forces;
  Motion m;
  for (auto b = order_.rbegin(); b != order_.rend(); ++b) {
    const Link& link = links_[*b];
    auto own = reduced.segment(link.first, link.freedom);
    if (link.pair < 0) {
      own = gathered_.segment(blocks[*b].v, blocks[*b].nv);
      continue;
    }
    find(link, q, t, m);
    const Vector6 f = gathered_.segment<6>(blocks[*b].v);
    own = m.motion.transpose().lazyProduct(f);
    if (link.parent >= 0) gathered_.segment<6>(blocks[link.parent].v).noalias() += m.transport.transpose() * f;
  }
}

void KinematicTree::rates(const VectorX& q, double t, const VectorX& v, VectorX& rates) const {
  const std::vector<Block>& blocks = system_.model().blocks();
  rates.resize(dimension_);
  Motion m;
  for (int b : order_) {
    const Link& link = links_[b];
    auto own = rates.segment(link.first, link.freedom);
    if (link.pair < 0) {
      own = v.segment(blocks[b].v, blocks[b].nv);
      continue;
    }
    if (link.freedom == 0) continue;
    find(link, q, t, m);
    const Vector6 ofParent = link.parent < 0 ? groundTwist(link, q, t) : Vector6(v.segment<6>(blocks[link.parent].v));
    const Vector6 relative = v.segment<6>(blocks[b].v) - m.transport * ofParent;
    own = m.motion.householderQr().solve(relative);
  }
}

void KinematicTree::matrix(const VectorX& q, double t, MatrixX& A) const {
  unit_.setZero(dimension_);
  A.resize(system_.model().nv(), dimension_);
  for (int i = 0; i < dimension_; ++i) {
    unit_[i] = 1;
    twists(q, t, unit_, gathered_);
    A.col(i) = gathered_;
    unit_[i] = 0;
  }
}

}
