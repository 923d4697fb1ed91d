#pragma once
#include "tendril/model/director_system.h"

#include <array>
#include <string>
#include <vector>

namespace tendril {

/// The blocks of a system as a forest of lower pairs, rooted on the ground or in free blocks. It gives the coordinates that are left when
/// the pairs of the forest hold: relative motions of the pairs, twists of free blocks. Pairs that close loops, and constraints that are no
/// pairs, remain as closure().
///
/// A block b that hangs on its parent a by a pair with marker frames A on a and B on b, H12 = A^-1 H_a^-1 H_b B, moves by
///
///     H12 <- exp(F s1) H12 exp(S s2),     t_b = Ad((H_a^-1 H_b)^-1) t_a + Ad(H_b^-1 H_a A) F s1' + Ad(B) S s2',
///
/// which holds the pair exactly for increments of any size. These are relative coordinates; other null space matrices of the same pairs
/// (absolute spins: Leyendecker 2011, 5.33 ff.) span the same space. Free blocks move by q exp(u) in their local frame.
///
/// Of all forests one is taken whose pairs hold the most constraints, so that the fewest remain as closure: pairs with many constraints
/// come first, in the order of the model where they have equally many (a spanning forest of greatest weight: Kruskal 1956). A tree that
/// reaches the ground has its root there, any other in its first block.
///
/// Sweeps cost O(number of blocks) and allocate nothing. Not thread-safe: one object per thread.
class KinematicTree {
 public:
  explicit KinematicTree(const DirectorSystem& system);

  int dimension() const { return dimension_; } ///< number of tree coordinates u, and of their rates
  /// Rows of the model's constraints that the forest does not hold by itself, ascending.
  const std::vector<int>& closure() const { return closure_; }
  /// Tree coordinates of the block: first and count.
  int first(int block) const { return links_[block].first; }
  int freedom(int block) const { return links_[block].freedom; }
  /// The block it hangs on, or -1: the ground, or nothing (a free block).
  int parent(int block) const { return links_[block].parent; }
  /// "joint 'hinge'", "body 'car'": what messages call a tree coordinate.
  std::string nameOfCoordinate(int i) const;
  /// A length [m] (a coordinate of a vector block too), or an angle [rad].
  bool isLength(int i) const { return isLength_[i]; }

  /// q1 = F(u, q0): every pair moved by its part of u, free blocks by q exp(u). q1 must not be q0.
  void retract(const VectorX& q0, const VectorX& u, double t0, double t1, VectorX& q1) const;
  /// The twists v = A(q) u' of all blocks (moving ground left out), by one sweep from the roots.
  void twists(const VectorX& q, double t, const VectorX& rates, VectorX& v) const;
  /// The twists of all blocks when no pair moves, but the ground does: dF/dt1 = N(q) drift.
  void drift(const VectorX& q, double t, VectorX& v) const;
  /// A(q)^T f: forces on the blocks (local frames) to forces on the tree coordinates, by one sweep from the leaves.
  void reduce(const VectorX& q, double t, const VectorX& forces, VectorX& reduced) const;
  /// u' of twists v = A u' + drift that the pairs allow, in the sense of least squares pair by pair.
  void rates(const VectorX& q, double t, const VectorX& v, VectorX& rates) const;
  /// A(q), dense (nv x dimension).
  void matrix(const VectorX& q, double t, MatrixX& A) const;

 private:
  struct Link {
    int parent = -1, first = 0, freedom = 0;
    int pair = -1;                   ///< of DirectorSystem::pairs(); -1: a free block, or a vector block
    bool isFlipped = false;          ///< the block carries the first frame of the pair
    std::array<Pose, 2> offset = {}; ///< from the blocks of the pair to its frames; none on the ground
  };
  /// What a pair does at a configuration: t_b = transport t_a + motion u'.
  struct Motion {
    Matrix6 transport;
    Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6> motion;
  };
  void hang(int block, int pair);
  void grow();
  /// Poses of the blocks that carry the frames of the pair of a link; on the ground, of its frame.
  std::array<Pose, 2> ends(const Link& link, const VectorX& q, double t) const;
  void find(const Link& link, const VectorX& q, double t, Motion& motion) const;
  Vector6 groundTwist(const Link& link, const VectorX& q, double t) const;

  const DirectorSystem& system_;
  std::vector<Link> links_; ///< per block
  std::vector<int> order_;  ///< blocks, parents first
  std::vector<int> closure_;
  std::vector<bool> isLength_;
  int dimension_ = 0;
  mutable VectorX gathered_, unit_; ///< scratch
};

}
