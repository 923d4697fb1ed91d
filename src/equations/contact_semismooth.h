#pragma once
#include "equations/bordered_matrix.h"
#include "equations/contact_iterate.h"
#include "tendril/solvers/sparse_lu.h"

namespace tendril {

/// A step of the semismooth Newton method: laws and equations of the model linearised together, the matrix of KktSystem bordered by the
/// forces of closed constraints,
///
///     [ S + K   -s G^T    -s B^T             ] [ delta       ]       [  r   ]
///     [ -s G    -e s                         ] [ dlambda / s ]  =  - [ -s g ]
///     [ -s C B            -s^2 (D + e W)     ] [ dF / s      ]       [ -s c ],       C = dc/dgap,  D = dc/dF,  K = - d(B^T F)/dx.
///
/// Forces of open constraints, and tangential ones without friction, vanish in the step: they need no row. e W acts on the increment of F
/// alone, so that the solution does not contain it. It has two uses. Small, it shares forces among constraints that say the same, or almost
/// the same, as those of close points beside a clamp do: under all of the force a contact yields by a part of the tolerance of gaps, which
/// costs no accuracy; less would let the rounding of gaps make forces. Of the order of the compliance while statuses change (e = 1), it
/// makes contact yield as much as the structure does: the set of closed constraints of a slender structure is found from afar in steps that
/// hardly depend on the mesh, where hard constraints would carry forces of either sign and open one after the other. It shrinks from step
/// to step and is small as soon as statuses stay.
///
/// Statuses that come back without progress are cycles: first, for one iteration, all that is closed keeps sticking or slips in the
/// direction it had; then half a step is taken; in the end the method gives up.
class ContactSemismoothStep final : public ContactStep {
 public:
  void begin() override;
  bool compute(ContactIterate& iterate, ContactIncrement& increment) override;

 private:
  struct Past {
    std::size_t statuses;
    double merit;
  };
  void harden(const ContactIterate& iterate);
  bool breakCycle(ContactIterate& iterate, ContactIncrement& increment);
  bool factorise(ContactIterate& iterate);
  bool factoriseCarefully();
  void solveLinear();
  /// e W, normal and tangential twice [m/N].
  Vector3 yield(const ContactIterate& iterate) const;
  void layOut(ContactIterate& iterate, const std::vector<StiffnessBlock>& stiffness);
  void fill(ContactIterate& iterate, const std::vector<StiffnessBlock>& stiffness);
  void solve(const ContactIterate& iterate, ContactIncrement& increment);

  BorderedMatrix matrix_;
  /// Pivots on the diagonal, where the order wants them; solutions are measured, and where they are poor pivots are chosen for their size.
  SparseLu lu_{{.pivotTolerance = 1e-4}};
  SparseLu careful_{{.ordering = SparseLuOptions::Ordering::Columns}};
  std::vector<int> border_; ///< first row of each constraint in the bordered matrix
  std::vector<int> rows_;   ///< and their number
  int size_ = 0;
  VectorX rhs_, solution_;
  std::vector<ContactLawEquations> earlier_;
  std::vector<Past> history_;
  int cycles_ = 0;
  double softness_ = 1;    ///< e while statuses change
  bool isSettled_ = false; ///< statuses are those of the last iteration
};

}
