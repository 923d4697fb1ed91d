#pragma once
#include "tendril/model/marker.h"
#include "tendril/model/pattern.h"
#include "tendril/model/term.h"
#include "tendril/model/time_function.h"

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

namespace tendril {

class ModelBuilder;

/// A block of coordinates. A pose block stores position and directors (12 numbers) and moves on SE(3): 6 velocities in the local frame,
/// q <- q exp(delta). A vector block stores what it moves: q <- q + delta.
struct Block {
  enum class Kind { Pose, Vector };
  Kind kind = Kind::Pose;
  int q = 0; ///< first number in State::q
  int v = 0; ///< first number in State::v
  int nq = 12;
  int nv = 6;
};

/// Uniform field of gravity, in the inertial frame [m/s^2], times a function of time.
struct Gravity {
  Vector3 g = Vector3::Zero();
  TimeFunction factor = TimeFunction::constant();
};

/// Quantity of a row of a constraint: the convergence test and the norm of reactions treat lengths and angles apart.
enum class RowQuantity { Length, Angle };

/// What a term sees while the model is frozen.
class Layout {
 public:
  explicit Layout(ModelBuilder& builder) : builder_(builder) {}
  /// Claims the rows of a constraint; returns its unknown block. The name is what messages call it (joint or beam).
  int addConstraint(const std::string& name, const std::vector<RowQuantity>& rows);
  /// Coupling (row block, column block) of the system matrix; block numbers of velocities and of constraints alike.
  int couple(int row, int column);
  /// Room for numbers that a term keeps in every assembly between evaluations; returns the place of the first.
  int reserve(int numbers);
  /// First row of a constraint block within g and lambda.
  int constraintRow(int block) const;
  const Block& block(int b) const;
  /// Initial state (without multipliers) and largest extent of the model, for terms that take a reference from it or judge it.
  const State& initialState() const;
  double characteristicLength() const;
  /// The gravity of the model; stays where it is for the life of the model.
  const Gravity& gravity() const;

 private:
  ModelBuilder& builder_;
};

/// A mechanical system, constant after building: blocks, terms, markers and the pattern of its matrix. An analysis sees
///
///     M(q) a + f(q,v,t) - G(q,t)^T lambda = 0,     g(q,t) = 0      (model.1)
///
/// through evaluate(), and moves configurations through retract(); it never learns which elements there are.
class Model {
 public:
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  int nc() const { return nc_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const Pattern& pattern() const { return pattern_; }
  const Gravity& gravity() const { return gravity_; }
  /// Largest extent of the initial configuration [m]; makes lengths and moments comparable without a unit.
  double characteristicLength() const { return characteristicLength_; }

  State initialState() const { return initial_; }
  void evaluate(const State& state, Assembly& assembly) const;
  /// Lets the terms predict the internal forces after a move by factor * delta, where delta is a full step of Newton's method.
  void predict(const State& state, const VectorX& delta, double factor, Assembly& assembly) const;
  /// Numbers that terms keep in an assembly.
  int memory() const { return memory_; }
  /// out = q exp(delta), block by block; directors are kept orthonormal to round-off. out may be q itself.
  void retract(const VectorX& q, const VectorX& delta, VectorX& out) const;
  /// delta with b = a exp(delta).
  void difference(const VectorX& a, const VectorX& b, VectorX& delta) const;
  Energy energy(const State& state) const;
  Momentum momentum(const State& state) const;
  /// b of g'' = G a + b.
  void constraintBias(const State& state, VectorX& b) const;

  /// "beam 'cable', node 17, force y": what messages call a velocity, and a row of g.
  std::string nameOfVelocity(int row) const;
  std::string nameOfBlock(int block) const;
  std::string nameOfConstraint(int row) const;
  /// Name of the constraint alone ("joint 'hinge'").
  const std::string& constraintName(int row) const { return constraintNames_[constraintOfRow_[row]]; }
  const std::vector<RowQuantity>& constraintQuantities() const { return quantities_; }

  const Marker& marker(const std::string& name) const;
  const Marker* findMarker(const std::string& name) const;
  const std::vector<std::unique_ptr<Marker>>& markers() const { return markers_; }
  const std::vector<std::unique_ptr<Term>>& terms() const { return terms_; }
  /// The term of a type, or null.
  template <class T> const T* term() const {
    const auto found = termOfType_.find(std::type_index(typeid(T)));
    return found == termOfType_.end() ? nullptr : static_cast<const T*>(found->second);
  }

 private:
  friend class ModelBuilder;
  friend class Layout;
  struct BlockName {
    int owner = 0;  ///< index into owners_
    int index = -1; ///< node number, -1 for a body
  };
  int nq_ = 0, nv_ = 0, nc_ = 0, memory_ = 0;
  double characteristicLength_ = 1;
  std::vector<Block> blocks_;
  std::vector<BlockName> blockNames_;
  std::vector<std::string> owners_;
  Pattern pattern_;
  Gravity gravity_;
  State initial_;
  std::vector<std::unique_ptr<Term>> terms_;
  std::map<std::type_index, Term*> termOfType_;
  std::vector<std::unique_ptr<Marker>> markers_;
  std::map<std::string, const Marker*> markerOfName_;
  std::vector<std::string> constraintNames_;
  std::vector<int> constraintOfRow_;
  std::vector<RowQuantity> quantities_;
};

/// Gathers blocks, terms and markers, then freezes them into a Model. Elements are added by the functions of the room `elements`.
class ModelBuilder {
 public:
  ModelBuilder();

  /// A pose block; owner is a body's or beam's name, index the node number or -1.
  int addPose(const std::string& owner, int index, const Pose& pose, const Vector6& velocity = Vector6::Zero());
  int addVector(const std::string& owner, const VectorX& q, const VectorX& v);
  const Block& block(int b) const { return model_->blocks_[b]; }
  Pose pose(int b) const { return loadPose(model_->initial_.q.data() + block(b).q); }
  void setVelocity(int b, const Vector6& twist);
  void setGravity(Gravity gravity) { model_->gravity_ = std::move(gravity); }
  const Gravity& gravity() const { return model_->gravity_; }

  /// The one term of type T; made at the first call. Terms are evaluated in the order of their first use.
  template <class T> T& term() {
    Term*& entry = model_->termOfType_[std::type_index(typeid(T))];
    if (!entry) {
      model_->terms_.push_back(std::make_unique<T>());
      entry = model_->terms_.back().get();
    }
    return static_cast<T&>(*entry);
  }

  /// Markers; an empty name makes an unnamed one. A name may be used once (InputError).
  const Marker& groundMarker(const std::string& name, const Pose& frame);
  const Marker& movingMarker(const std::string& name, const Pose& frame, GroundMotion motion);
  const Marker& bodyMarker(const std::string& name, int block, const Pose& offset = {});
  const Marker& segmentMarker(const std::string& name, int blockA, int blockB, double xi, const Pose& offset = {});
  const Marker* findMarker(const std::string& name) const { return model_->findMarker(name); }
  /// The state gathered so far, in which markers can be located (its vectors may be longer than the model).
  const State& state() const { return model_->initial_; }

  /// Freezes the model. The builder is empty afterwards.
  std::unique_ptr<const Model> build();

 private:
  friend class Layout;
  const Marker& add(std::unique_ptr<Marker> marker);
  int owner(const std::string& name);
  std::unique_ptr<Model> model_;
  std::map<std::string, int> ownerIndex_;
};

}
