#include "tendril/shells/coordinate_ties.h"

#include "tendril/model/assembly.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

namespace tendril {

namespace {
constexpr int largestBlock = 6;
double sign(std::size_t i) { return i == 0 ? 1 : -1; }
}

void CoordinateTies::tie(const std::string& name, const BlockCoordinate& first, const BlockCoordinate& second) {
  if (first.block == second.block) throw InputError(name + ": it ties coordinates of one block; take those of two");
  Tie tie;
  tie.name = name, tie.coordinates = {first, second};
  ties_.push_back(std::move(tie));
}

void CoordinateTies::hold(const std::string& name, const BlockCoordinate& coordinate, double value) {
  Tie tie;
  tie.name = name, tie.coordinates = {coordinate}, tie.value = value;
  ties_.push_back(std::move(tie));
}

void CoordinateTies::declare(Layout& layout) {
  for (Tie& tie : ties_) {
    tie.constraint = layout.addConstraint(tie.name, {RowQuantity::Angle});
    tie.row = layout.constraintRow(tie.constraint);
    for (const BlockCoordinate& c : tie.coordinates) {
      const Block& block = layout.block(c.block);
      if (block.kind != Block::Kind::Vector || c.index >= block.nv || block.nv > largestBlock)
        throw InputError(tie.name + ": it needs coordinates of small vector blocks");
      tie.q.push_back(block.q + c.index), tie.sizes.push_back(block.nv);
      tie.rows.push_back(layout.couple(tie.constraint, c.block));
      tie.columns.push_back(layout.couple(c.block, tie.constraint));
    }
  }
}

void CoordinateTies::evaluate(const State& state, Assembly& assembly) const {
  using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, largestBlock, 1>;
  for (const Tie& tie : ties_) {
    double gap = -tie.value;
    for (std::size_t i = 0; i < tie.coordinates.size(); ++i) {
      const Column G = sign(i) * Column::Unit(tie.sizes[i], tie.coordinates[i].index);
      gap += sign(i) * state.q[tie.q[i]];
      assembly.addForce(tie.coordinates[i].block, Column(-state.lambda[tie.row] * G));
      if (assembly.request().tangent) assembly.addGradient(tie.rows[i], tie.columns[i], G.transpose());
    }
    assembly.addConstraint(tie.constraint, Eigen::Matrix<double, 1, 1>(gap));
  }
}

void CoordinateTies::embed(DirectorSystem&) const {
  if (ties_.empty()) return;
  throw InputError(ties_.front().name + " has no form in director coordinates; take an analysis in pose coordinates, such as "
                                        "generalized-alpha");
}

}
