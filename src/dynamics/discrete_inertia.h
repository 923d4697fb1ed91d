#pragma once
#include "tendril/equations/kkt_system.h"

#include <memory>

namespace tendril {

/// An interval of a discrete path, q_{n+1} = q_n exp(x), run through at v = x / h.
struct DiscreteInterval {
  const State& node; ///< with v
  const State& end;
  const VectorX& x;
  double h;
};

/// What inertia adds to the discrete Lagrangian equations of an interval (see LieGroupVariational): the momenta that leave its first node
/// and reach its second, with what the forces r(q, v, 0) of the model at the nodes contain of inertia taken out.
class DiscreteInertia {
 public:
  virtual ~DiscreteInertia() = default;

  /// The next intervals begin at this node.
  virtual void begin(const State& node) = 0;
  virtual void leaving(const DiscreteInterval& interval, VectorX& p) = 0;
  virtual void arriving(const DiscreteInterval& interval, VectorX& p) = 0;
  /// Weight with which the model adds its inertia at the node to the matrix, times h^2; what is left to add is addTangent().
  virtual double weightInModel() const = 0;
  virtual void addTangent(const DiscreteInterval& interval, Assembly& assembly) const = 0;
  virtual void noteRoundoff(const DiscreteInterval& interval, const VectorX& leaving, Assembly& assembly) const = 0;
  /// p = M v of a node, and back.
  virtual void momenta(const State& node, VectorX& p) = 0;
  virtual void velocities(const State& node, const VectorX& p, double h, VectorX& v) = 0;
};

/// Of poses alone: a constant inertia in each block's own frame; that of a beam's node is the one of the half elements beside it in the
/// initial shape. The assembly is told to leave out the forces quadratic in the velocity. With vector blocks: the mass matrix M(q) of the
/// model.
std::unique_ptr<DiscreteInertia> discreteInertia(KktSystem& kkt, const State& initial);

}
