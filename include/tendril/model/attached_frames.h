#pragma once
#include "tendril/model/model.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// Most velocities that a frame may depend on: those of twelve control points of a shell, with room to spare.
inline constexpr int maxFieldVelocities = 48;
using FieldJacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, maxFieldVelocities>;
using FieldHessian = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, maxFieldVelocities, maxFieldVelocities>;

/// A frame F(q) and its first-order motion.
struct FieldKinematics {
  Pose frame;
  FieldJacobian J;                            ///< twist of the frame, in the frame, = J v, v the velocities of the field's blocks in order
  Vector6 twist = Vector6::Zero();            ///< J v
  Vector6 accelerationBias = Vector6::Zero(); ///< d(twist)/dt at a = 0
};

/// A frame F(q) as a function of blocks of any kind: strains of a rod, control points of a shell, coordinates of any other sort. It does
/// not depend on time, and moves with the blocks: what it does under a rigid motion of all pose blocks is a rigid motion.
class FrameField {
 public:
  virtual ~FrameField() = default;

  /// Blocks that the frame depends on; no block twice.
  std::span<const int> blocks() const { return blocks_; }
  /// Number of their velocities.
  int size() const { return size_; }

  virtual void kinematics(const State& state, FieldKinematics& k) const = 0;
  /// H += d(J^T w)/dq at fixed wrench w = (force, moment) resolved in the frame; rows and columns in the order of the velocities, columns
  /// by increments q exp(delta) of pose blocks and q + delta of vector blocks.
  virtual void addHessian(const State& state, const Vector6& wrench, FieldHessian& H) const = 0;

 protected:
  /// InputError if the blocks have more than maxFieldVelocities.
  FrameField(const ModelBuilder& builder, std::vector<int> blocks);
  /// First numbers of block i (in the order of blocks()) in State::q and State::v.
  int q(int i) const { return places_[std::size_t(i)].q; }
  int v(int i) const { return places_[std::size_t(i)].v; }

 private:
  std::vector<int> blocks_;
  std::vector<Block> places_;
  int size_ = 0;
};

/// Frames that follow a field: pose blocks H without inertia, each tied by the six rows
///
///     c = log(H12) = 0,      H12 = H^-1 F(q),
///
/// the fixed joint between H and a frame that no marker could reach, lengths first, then angles. Markers on H, and with them joints,
/// springs, loads, contacts and outputs, then act on what q describes as on any body, in every analysis of pose coordinates. The
/// multipliers lambda are forces [N] and moments [N m] that the tie exerts on F, its second side, as in Joints:
///
///     r_q += J_F^T w,    r_H += -coAd(H12^-1) w,    w = -T^-T(c) lambda,    c' = T^-1(c) (J_F v - Ad(H12^-1) v_H).
///
/// The tangent is exact. Since H has no inertia, accelerations and impulses find it through the tie: the matrix [M -G^T; -G 0] is regular,
/// as the columns of G that belong to H are. A frame that is turned by more than 170 degrees against H is refused.
class AttachedFrames final : public Term {
 public:
  /// Ties a pose block that was added for it; the name is what messages call the tie. Returns its number.
  int add(const std::string& name, int block, std::unique_ptr<FrameField> field);

  int size() const { return int(ties_.size()); }
  int block(int tie) const { return ties_[std::size_t(tie)].block; }
  /// Whether a block is tied, so that it has no inertia of its own.
  bool isAttached(int block) const;
  /// How far a unit of each coordinate moves the frames that follow it, their turning measured at the given length: per velocity of the
  /// model, zero where nothing follows. It makes coordinates of any kind comparable.
  void addMovement(const State& state, double length, VectorX& movement) const;
  const FrameField& field(int tie) const { return *ties_[std::size_t(tie)].field; }

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addConstraintBias(const State& state, VectorX& bias) const override;
  /// InputError: what is followed is no linear function of directors.
  void embed(DirectorSystem& system) const override;

 private:
  struct Tie {
    std::string name;
    int block = -1;
    std::unique_ptr<FrameField> field;
    int q = 0, v = 0, constraint = -1, firstRow = 0;
    std::vector<int> members;                           ///< the blocks of the field, then H
    std::vector<int> begins, velocities;                ///< of the members: among the stacked velocities, and in State::v
    std::vector<int> couplings;                         ///< (row member, column member), row by row
    std::vector<int> constraintRows, constraintColumns; ///< (c, member) and (member, c)
  };
  static void addTangent(const Tie& tie, const State& state, const FieldKinematics& k, const Pose& relative, const Vector6& c,
                         const Vector6& w, Assembly& assembly);

  std::vector<Tie> ties_;
};

/// A pose block at F of the state gathered so far, which follows the field; owner and index as in ModelBuilder::addPose. Returns the
/// block.
int attachFrame(ModelBuilder& builder, const std::string& owner, int index, std::unique_ptr<FrameField> field);

}
