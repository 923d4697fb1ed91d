#pragma once
#include "tendril/model/director_system.h"

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
/// (absolute spins: Leyendecker 2011, 5.33 ff.) span the same space.
class KinematicTree {
 public:
  explicit KinematicTree(const DirectorSystem& system);

  int dimension() const { return dimension_; } ///< number of tree coordinates u, and of their rates
  /// Rows of the model's constraints that the forest does not hold by itself.
  const std::vector<int>& closure() const { return closure_; }
  /// Tree coordinates of the block: first and count.
  int first(int block) const { return links_[block].first; }
  int freedom(int block) const { return links_[block].freedom; }
  /// The block it hangs on, or -1: the ground, or nothing (a free block).
  int parent(int block) const { return links_[block].parent; }
  /// "joint 'hinge'", "body 'car'": what messages call a tree coordinate.
  std::string nameOfCoordinate(int i) const;

  /// q1 = F(u, q0): every pair moved by its part of u, free blocks by q exp(u). q1 must not be q0.
  void retract(const VectorX& q0, const VectorX& u, double t0, double t1, VectorX& q1) const;
  /// The twists v = A(q) u' of all blocks (moving ground left out), by one sweep from the roots.
  void twists(const VectorX& q, double t, const VectorX& rates, VectorX& v) const;
  /// A(q)^T f: forces on the blocks (local frames) to forces on the tree coordinates, by one sweep from the leaves.
  void reduce(const VectorX& q, double t, const VectorX& forces, VectorX& reduced) const;
  /// u' of twists that the pairs allow, in the sense of least squares pair by pair.
  void rates(const VectorX& q, double t, const VectorX& v, VectorX& rates) const;
  /// A(q), dense (nv x dimension).
  void matrix(const VectorX& q, double t, MatrixX& A) const;

 private:
  struct Link {
    int parent = -1, first = 0, freedom = 0;
    int pair = -1;         ///< of DirectorSystem::pairs(); -1: a free block, or a vector block
    bool isFlipped = false; ///< the block carries the first frame of the pair
  };
  const DirectorSystem& system_;
  std::vector<Link> links_; ///< per block
  std::vector<int> order_;  ///< blocks, parents first
  std::vector<int> closure_;
  int dimension_ = 0;
};

}
