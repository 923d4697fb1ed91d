#include "tendril/model/attached_frames.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <utility>

namespace tendril {

namespace {

using FieldForce = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, maxFieldVelocities, 1>;

/// The logarithm ends at half a turn [rad^2].
constexpr double largestAngleSquared = 2.967 * 2.967;

const std::vector<RowQuantity> rowQuantities{RowQuantity::Length, RowQuantity::Length, RowQuantity::Length,
                                             RowQuantity::Angle,  RowQuantity::Angle,  RowQuantity::Angle};

}

FrameField::FrameField(const ModelBuilder& builder, std::vector<int> blocks) : blocks_(std::move(blocks)) {
  for (const int b : blocks_) {
    places_.push_back(builder.block(b));
    size_ += builder.block(b).nv;
  }
  if (size_ > maxFieldVelocities)
    throw InputError("a frame depends on " + std::to_string(size_) + " velocities, more than " + std::to_string(maxFieldVelocities) +
                     "; let it follow another attached frame");
}

int AttachedFrames::add(const std::string& name, int block, std::unique_ptr<FrameField> field) {
  Tie tie;
  tie.name = name, tie.block = block, tie.field = std::move(field);
  tie.members.assign(tie.field->blocks().begin(), tie.field->blocks().end());
  tie.members.push_back(block);
  ties_.push_back(std::move(tie));
  return size() - 1;
}

bool AttachedFrames::isAttached(int block) const {
  return std::any_of(ties_.begin(), ties_.end(), [block](const Tie& tie) { return tie.block == block; });
}

void AttachedFrames::declare(Layout& layout) {
  for (Tie& tie : ties_) {
    tie.q = layout.block(tie.block).q, tie.v = layout.block(tie.block).v;
    tie.constraint = layout.addConstraint(tie.name, rowQuantities);
    tie.firstRow = layout.constraintRow(tie.constraint);
    tie.begins.assign(1, 0);
    for (const int row : tie.members) {
      tie.begins.push_back(tie.begins.back() + layout.block(row).nv);
      tie.velocities.push_back(layout.block(row).v);
      for (const int column : tie.members) tie.couplings.push_back(layout.couple(row, column));
      tie.constraintRows.push_back(layout.couple(tie.constraint, row));
      tie.constraintColumns.push_back(layout.couple(row, tie.constraint));
    }
  }
}

void AttachedFrames::evaluate(const State& state, Assembly& assembly) const {
  FieldKinematics k;
  for (const Tie& tie : ties_) {
    tie.field->kinematics(state, k);
    const Pose relative = loadPose(state.q.data() + tie.q).relative(k.frame);
    const Vector6 c = se3::log(relative), lambda = state.lambda.segment<6>(tie.firstRow);
    if (c.tail<3>().squaredNorm() > largestAngleSquared) assembly.refuse(tie.block);
    const Vector6 w = -se3::tangentInverse(c).transpose() * lambda;
    assembly.addConstraint(tie.constraint, c);
    for (std::size_t m = 0; m + 1 < tie.members.size(); ++m) {
      const int first = tie.begins[m], count = tie.begins[m + 1] - first;
      // Force and moment apart: on a coordinate that nothing else acts on they cancel, and their size tells what that is worth.
      const FieldForce byForce = k.J.block(0, first, 3, count).transpose() * w.head<3>();
      const FieldForce byMoment = k.J.block(3, first, 3, count).transpose() * w.tail<3>();
      assembly.addForce(tie.members[m], byForce);
      assembly.addForce(tie.members[m], byMoment);
    }
    assembly.addForce(tie.block, Vector6(-se3::transported(relative, w)));
    if (assembly.request().tangent) addTangent(tie, state, k, relative, c, w, assembly);
  }
}

/// As for a pair of markers: dw/dpi12 in all rows, -coad(w) in those of H, which see w change with the frame it is transported to, and the
/// Hessian of the field.
void AttachedFrames::addTangent(const Tie& tie, const State& state, const FieldKinematics& k, const Pose& relative, const Vector6& c,
                                const Vector6& w, Assembly& assembly) {
  const int n = tie.field->size();
  const std::size_t count = tie.members.size();
  const Matrix6 inverse = se3::tangentInverse(c);
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, maxFieldVelocities + 6> J(6, n + 6); // pi12 = J delta
  J.leftCols(n) = k.J;
  J.rightCols<6>() = -se3::AdInverse(relative);
  const auto columns = [&](std::size_t m) { return J.middleCols(tie.begins[m], tie.begins[m + 1] - tie.begins[m]); };
  for (std::size_t m = 0; m < count; ++m) {
    const FieldJacobian G = inverse.lazyProduct(columns(m));
    assembly.addGradient(tie.constraintRows[m], tie.constraintColumns[m], G);
  }
  if (!assembly.request().stiffness) return;
  const Vector6 lambda = state.lambda.segment<6>(tie.firstRow);
  const Matrix6 stiffness = -se3::tangentInverseTransposeDerivative(c, lambda) * inverse, ofH = stiffness - se3::coad(w);
  FieldHessian H = FieldHessian::Zero(n, n);
  tie.field->addHessian(state, w, H);
  for (std::size_t column = 0; column < count; ++column) {
    const FieldJacobian byField = stiffness.lazyProduct(columns(column)), byH = ofH.lazyProduct(columns(column));
    for (std::size_t row = 0; row < count; ++row) {
      const bool isField = row + 1 < count;
      FieldHessian K = columns(row).transpose().lazyProduct(isField ? byField : byH);
      if (isField && column + 1 < count) K += H.block(tie.begins[row], tie.begins[column], K.rows(), K.cols());
      assembly.addStiffness(tie.couplings[row * count + column], K);
    }
  }
}

void AttachedFrames::addConstraintBias(const State& state, VectorX& bias) const {
  FieldKinematics k;
  for (const Tie& tie : ties_) {
    tie.field->kinematics(state, k);
    const Pose relative = loadPose(state.q.data() + tie.q).relative(k.frame);
    const Vector6 c = se3::log(relative);
    const Matrix6 inverse = se3::tangentInverse(c);
    const Vector6 carried = se3::AdInverse(relative) * state.v.segment<6>(tie.v), twist = k.twist - carried;
    // w12' = w_F' - Ad(H12^-1) w_H' + ad(w12) Ad(H12^-1) w_H
    const Vector6 relativeBias = k.accelerationBias - se3::adProduct(carried, twist), rate = inverse * twist;
    bias.segment<6>(tie.firstRow) += inverse * relativeBias + se3::tangentInverseDerivative(c, twist) * rate;
  }
}

void AttachedFrames::addMovement(const State& state, double length, VectorX& movement) const {
  FieldKinematics k;
  for (const Tie& tie : ties_) {
    tie.field->kinematics(state, k);
    for (std::size_t m = 0; m + 1 < tie.members.size(); ++m) {
      for (int i = tie.begins[m]; i < tie.begins[m + 1]; ++i) {
        double& largest = movement[tie.velocities[m] + i - tie.begins[m]];
        largest = std::max({largest, k.J.col(i).head<3>().norm(), length * k.J.col(i).tail<3>().norm()});
      }
    }
  }
}

void AttachedFrames::embed(DirectorSystem&) const {
  if (ties_.empty()) return;
  throw InputError(ties_.front().name + " has no form in director coordinates; take an analysis in pose coordinates, such as "
                                        "generalized-alpha or moreau");
}

int attachFrame(ModelBuilder& builder, const std::string& owner, int index, std::unique_ptr<FrameField> field) {
  FieldKinematics k;
  field->kinematics(builder.state(), k);
  const int block = builder.addPose(owner, index, k.frame, k.twist);
  const std::string name = owner + (index < 0 ? ", its frame" : ", frame of node " + std::to_string(index));
  builder.term<AttachedFrames>().add(name, block, std::move(field));
  return block;
}

}
