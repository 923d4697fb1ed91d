#pragma once
#include "dynamics/impulse_memory.h"
#include "tendril/contact/contact_detection.h"
#include "tendril/model/director_system.h"
#include "tendril/solvers/friction_solver.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// Mean twists of all blocks over an interval of length h, in their frames at the configuration q, one of its two ends:
///
///     v = D(q) (q1 - q0) / h,     D = (N^T N)^-1 N^T,
///
/// translations as they are, rotations by the sine of their angle. D^T lifts forces on the blocks to momenta of the directors, so that
/// their work over the interval is exactly h f . v.
void meanTwist(const DirectorSystem& system, const VectorX& q, const VectorX& q0, const VectorX& q1, double h, VectorX& v);

/// Contacts at a node of a discrete path in director coordinates: impulses r, found together with the interval that leaves the node,
///
///     arrived + D^T H^T r + leaving(q0, q1) - G^T mu = 0,     U- = H v- + drift,   U+ = H v+ + drift,
///
/// H the rows of the contacts at q0, v- and v+ the mean twists of the intervals before and after. The law (ContactLaw) holds between r and
/// V. A contact that lasts, comes to rest or has no restitution must not have closed at the end of the interval:
///
///     V_n = U+_n + (gap + c)/h = gap(q1)/h,     V_t = U+_t,     c = gap(q1) - gap - h U+_n,
///
/// as a joint would hold it there; an overlap that was there, more than rounding, stays and does not grow. An impact takes place at the
/// last node before the surfaces would meet, so that none arises: V = U+ + e U-.
///
/// Newton's method: velocities linear in r by the matrix of the step (W), the friction problem, the balance with its impulses, until the
/// law holds between the impulses and the velocities that they truly cause.
class NodeContacts {
 public:
  using Observer = std::function<void(long step, const FrictionProblem& problem, const VectorX& impulses)>;

  /// Throws InputError for what the contacts cannot be.
  NodeContacts(const DirectorSystem& system, const ContactModel& contacts, const FrictionOptions& friction, Observer observer);

  /// Throws InputError where bodies overlap.
  void start(const State& state);

  struct Node {
    long step;
    const VectorX& q;
    double t;
    double before, after;   ///< sizes of the intervals that meet there; before is 0 at the start
    const VectorX& twist;   ///< mean twists of the interval before
    const VectorX& arrived; ///< as the balance takes it
    double weight;          ///< how often a momentum counts in that
  };
  /// The balance that a step sets: solved with other momentum coming in, and the response of its end.
  class Balance {
   public:
    virtual ~Balance() = default;
    virtual void solve(const VectorX& arrived, double t) = 0;
    virtual const VectorX& reached() const = 0;
    /// By the matrix at the end found last, made by linearise().
    virtual void linearise(double t) = 0;
    virtual void respond(const VectorX& momentum, VectorX& move) = 0;
  };
  /// `balance` has been solved without contacts; if none acts, it is left as it is. NumericalFailure with the true residual.
  void resolve(const Node& node, Balance& balance);

  /// Impulses act at the node resolved last.
  bool acts() const { return acts_; }
  /// What came in there, with the impulses of contacts.
  const VectorX& arrived() const { return arrived_; }
  const ContactReport& report() const { return report_; }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  struct Candidate {
    ContactBlock block;
    Vector6 before, free, after, drift; ///< relative velocities; drift: mean of both intervals
    Vector6 r = Vector6::Zero();        ///< rows of the law
    double pull = 0;                    ///< impulse of cohesion
    double curvature = 0;               ///< c
    bool lasts = true;                  ///< not an impact with restitution
    bool isIn = false;                  ///< takes part in the problem
  };
  void findCandidates(const Node& node);
  void findEndGaps(const Node& node, const VectorX& end);
  void measure(const Node& node, const VectorX& end);
  void findImpacts(const Node& node);
  bool admit(const Node& node);
  bool presses(const Node& node) const;
  void gather();
  double lawVelocity(const Candidate& c, int component, double h) const;
  void setVelocities(double h);
  void findDelassus(const Node& node, Balance& balance);
  void iterate(const Node& node, Balance& balance);
  bool isRounding(const Node& node, const FrictionResidual& residual) const;
  void applyImpulses(const Node& node, Balance& balance);
  bool widenReach(double h, const VectorX& twist);
  void record();

  const DirectorSystem& system_;
  const Model& model_;
  FrictionOptions options_;
  Observer observer_;
  ContactDetection detection_;
  double margin_ = 0;
  FrictionSolver solver_;
  FrictionProblem problem_;
  ImpulseMemory memory_;
  ContactReport report_;

  State at_; ///< for whoever reads a state: the node, or the end of the interval
  std::vector<double> reach_;
  std::vector<Candidate> candidates_;
  std::size_t found_ = 0;            ///< how many of them there are
  std::vector<std::size_t> in_;      ///< those that take part
  std::vector<ContactBlock> blocks_; ///< theirs
  struct EndGap {
    std::uint64_t key;
    double gap;
  };
  std::vector<EndGap> endGaps_;
  VectorX freeTwist_, twist_, force_, momentum_, move_, arrived_, r_, V_, Wr_;
  MatrixX columns_;
  bool acts_ = false, bends_ = true;
};

}
