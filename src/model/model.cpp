#include "tendril/model/model.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tendril {

void Model::evaluate(const State& state, Assembly& assembly) const {
  for (const auto& term : terms_) term->evaluate(state, assembly);
}

void Model::predict(const State& state, const VectorX& delta, double factor, Assembly& assembly) const {
  for (const auto& term : terms_) term->predict(state, delta, factor, assembly);
  assembly.predicted = true;
}

void Model::retract(const VectorX& q, const VectorX& delta, VectorX& out) const {
  for (const Block& b : blocks_) {
    if (b.kind == Block::Kind::Pose) {
      Pose moved = loadPose(q.data() + b.q) * se3::exp(delta.segment<6>(b.v));
      moved.R = so3::orthonormalised(moved.R);
      storePose(moved, out.data() + b.q);
    } else {
      out.segment(b.q, b.nq) = q.segment(b.q, b.nq) + delta.segment(b.v, b.nv);
    }
  }
}

void Model::difference(const VectorX& a, const VectorX& b, VectorX& delta) const {
  for (const Block& block : blocks_) {
    if (block.kind == Block::Kind::Pose) {
      delta.segment<6>(block.v) = se3::log(loadPose(a.data() + block.q).relative(loadPose(b.data() + block.q)));
    } else {
      delta.segment(block.v, block.nv) = b.segment(block.q, block.nq) - a.segment(block.q, block.nq);
    }
  }
}

Energy Model::energy(const State& state) const {
  Energy sum;
  for (const auto& term : terms_) term->addEnergy(state, sum);
  return sum;
}

Momentum Model::momentum(const State& state) const {
  Momentum sum;
  for (const auto& term : terms_) term->addMomentum(state, sum);
  return sum;
}

void Model::constraintBias(const State& state, VectorX& b) const {
  b.setZero();
  for (const auto& term : terms_) term->addConstraintBias(state, b);
}

std::string Model::nameOfBlock(int block) const {
  const std::string& owner = owners_[blockNames_[block].owner];
  return blockNames_[block].index < 0 ? owner : owner + ", node " + std::to_string(blockNames_[block].index);
}

std::string Model::nameOfVelocity(int row) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), row, [](int r, const Block& b) { return r < b.v; });
  const std::size_t i = std::size_t(after - blocks_.begin()) - 1;
  const int component = row - blocks_[i].v;
  const std::string name = nameOfBlock(int(i));
  if (blocks_[i].kind == Block::Kind::Vector) return name + ", coordinate " + std::to_string(component);
  static constexpr const char* components[] = {"translation along d1", "translation along d2", "translation along d3",
                                               "rotation about d1",    "rotation about d2",    "rotation about d3"};
  return name + ", " + components[component];
}

std::string Model::nameOfConstraint(int row) const {
  int first = row;
  while (first > 0 && constraintOfRow_[first - 1] == constraintOfRow_[row]) --first;
  return constraintName(row) + ", row " + std::to_string(row - first + 1);
}

const Marker* Model::findMarker(const std::string& name) const {
  const auto found = markerOfName_.find(name);
  return found == markerOfName_.end() ? nullptr : found->second;
}

const Marker& Model::marker(const std::string& name) const {
  if (const Marker* found = findMarker(name)) return *found;
  throw InputError("no marker is named '" + name + "'");
}

// ---- layout ----------------------------------------------------------------------------------------------------------------------------

int Layout::addConstraint(const std::string& name, const std::vector<RowQuantity>& rows) {
  Model& model = *builder_.model_;
  const int c = model.pattern_.addUnknowns(int(rows.size()));
  model.pattern_.couple(c, c); // the diagonal is always present: it is where a regularisation or a switched-off row lives
  model.quantities_.insert(model.quantities_.end(), rows.begin(), rows.end());
  model.constraintOfRow_.insert(model.constraintOfRow_.end(), rows.size(), int(model.constraintNames_.size()));
  model.constraintNames_.push_back(name);
  model.nc_ += int(rows.size());
  return c;
}

namespace {

void requireOwn(int block, int blocks) {
  if (block < 0 || block >= blocks)
    throw InputError("a joint, load or spring acts on a marker of another model; make its markers by the builder of this one");
}

}

int Layout::couple(int row, int column) {
  Pattern& pattern = builder_.model_->pattern_;
  for (const int block : {row, column}) requireOwn(block, pattern.blocks());
  return pattern.couple(row, column);
}
int Layout::reserve(int numbers) {
  const int first = builder_.model_->memory_;
  builder_.model_->memory_ += numbers;
  return first;
}
int Layout::constraintRow(int block) const { return builder_.model_->pattern_.unknowns(block).offset - builder_.model_->nv_; }
const Block& Layout::block(int b) const {
  const std::vector<Block>& blocks = builder_.model_->blocks_;
  requireOwn(b, int(blocks.size()));
  return blocks[std::size_t(b)];
}
const State& Layout::initialState() const { return builder_.model_->initial_; }
double Layout::characteristicLength() const { return builder_.model_->characteristicLength_; }
const Gravity& Layout::gravity() const { return builder_.model_->gravity_; }

// ---- builder ---------------------------------------------------------------------------------------------------------------------------

ModelBuilder::ModelBuilder() : model_(std::make_unique<Model>()) {}

int ModelBuilder::owner(const std::string& name) {
  const auto [entry, isNew] = ownerIndex_.try_emplace(name, int(model_->owners_.size()));
  if (isNew) model_->owners_.push_back(name);
  return entry->second;
}

namespace {

/// Appends to a vector that grows in leaps, so that a model of n blocks is gathered in O(n).
void append(VectorX& storage, int used, const double* numbers, int count) {
  if (used + count > storage.size()) storage.conservativeResize(std::max<Eigen::Index>(2 * storage.size(), used + count));
  std::copy_n(numbers, count, storage.data() + used);
}

}

int ModelBuilder::addPose(const std::string& ownerName, int index, const Pose& pose, const Vector6& velocity) {
  if (!pose.R.allFinite() || !pose.x.allFinite() || !velocity.allFinite()) {
    throw InputError("the initial pose or velocity of " + ownerName + " is not finite");
  }
  Model& m = *model_;
  double stored[12];
  storePose(pose, stored);
  append(m.initial_.q, m.nq_, stored, 12);
  append(m.initial_.v, m.nv_, velocity.data(), 6);
  m.blocks_.push_back({Block::Kind::Pose, m.nq_, m.nv_, 12, 6});
  m.blockNames_.push_back({owner(ownerName), index});
  m.nq_ += 12;
  m.nv_ += 6;
  return m.pattern_.addUnknowns(6);
}

int ModelBuilder::addVector(const std::string& ownerName, const VectorX& q, const VectorX& v) {
  if (q.size() != v.size() || !q.allFinite() || !v.allFinite()) {
    throw InputError("the initial coordinates and velocities of " + ownerName + " must be finite and of one size");
  }
  Model& m = *model_;
  const int n = int(q.size());
  append(m.initial_.q, m.nq_, q.data(), n);
  append(m.initial_.v, m.nv_, v.data(), n);
  m.blocks_.push_back({Block::Kind::Vector, m.nq_, m.nv_, n, n});
  m.blockNames_.push_back({owner(ownerName), -1});
  m.nq_ += n;
  m.nv_ += n;
  return m.pattern_.addUnknowns(n);
}

namespace {

/// A pose block of what a builder has gathered. Its numbers begin anew after build().
const Block& poseBlock(const std::vector<Block>& blocks, int b) {
  if (b < 0 || b >= int(blocks.size()))
    throw InputError("there is no block " + std::to_string(b) + " among the " + std::to_string(blocks.size()) +
                     " that the builder has gathered; after build() it is empty");
  const Block& block = blocks[std::size_t(b)];
  if (block.kind != Block::Kind::Pose) throw InputError("block " + std::to_string(b) + " is a vector block, it has no frame");
  return block;
}

}

void ModelBuilder::setVelocity(int b, const Vector6& twist) { model_->initial_.v.segment<6>(poseBlock(model_->blocks_, b).v) = twist; }

const Marker& ModelBuilder::add(std::unique_ptr<Marker> marker) {
  const std::string& name = marker->name();
  if (!name.empty() && !model_->markerOfName_.try_emplace(name, marker.get()).second) {
    throw InputError("two markers are named '" + name + "'; give each a name of its own");
  }
  marker->label_ = !name.empty()              ? "'" + name + "'"
                   : marker->blocks().empty() ? "the ground"
                                              : "a marker on " + model_->nameOfBlock(marker->blocks().front());
  model_->markers_.push_back(std::move(marker));
  return *model_->markers_.back();
}

const Marker& ModelBuilder::groundMarker(const std::string& name, const Pose& frame) {
  return add(std::make_unique<GroundMarker>(name, frame));
}

const Marker& ModelBuilder::movingMarker(const std::string& name, const Pose& frame, GroundMotion motion) {
  const double length = motion.axis.norm();
  if (!(std::isfinite(length) && length > 0)) {
    throw InputError("the axis of the moving marker '" + name + "' must be a direction; give three numbers that are not all zero");
  }
  motion.axis /= length;
  return add(std::make_unique<GroundMarker>(name, frame, std::move(motion)));
}

const Marker& ModelBuilder::bodyMarker(const std::string& name, int b, const Pose& offset) {
  const Block& own = poseBlock(model_->blocks_, b);
  return add(std::make_unique<BodyMarker>(name, b, own.q, own.v, offset));
}

const Marker& ModelBuilder::segmentMarker(const std::string& name, int a, int b, double xi, const Pose& offset) {
  const Block &begin = poseBlock(model_->blocks_, a), &end = poseBlock(model_->blocks_, b);
  return add(std::make_unique<SegmentMarker>(name, std::array{a, b}, std::array{begin.q, end.q}, std::array{begin.v, end.v}, xi, offset));
}

std::unique_ptr<const Model> ModelBuilder::build() {
  Model& m = *model_;
  if (m.blocks_.empty()) throw InputError("the model has nothing that moves; add a body or a beam");
  m.initial_.q.conservativeResize(m.nq_);
  m.initial_.v.conservativeResize(m.nv_);
  m.initial_.a = VectorX::Zero(m.nv_);
  Vector3 low = Vector3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  const auto include = [&](const Vector3& x) { low = low.cwiseMin(x), high = high.cwiseMax(x); };
  for (const Block& b : m.blocks_) {
    if (b.kind == Block::Kind::Pose) include(m.initial_.q.segment<3>(b.q));
  }
  for (const auto& marker : m.markers_) include(marker->frame(m.initial_).x);
  const double extent = (high - low).norm();
  m.characteristicLength_ = std::isfinite(extent) && extent > 0 ? extent : 1;

  for (std::size_t b = 0; b < m.blocks_.size(); ++b) m.pattern_.couple(int(b), int(b));
  Layout layout(*this);
  for (const auto& term : m.terms_) term->declare(layout);
  m.pattern_.freeze();
  m.initial_.lambda = VectorX::Zero(m.nc_);
  ownerIndex_.clear();
  return std::exchange(model_, std::make_unique<Model>());
}

}
