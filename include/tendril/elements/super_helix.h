#pragma once
#include "tendril/elements/section.h"
#include "tendril/model/attached_frames.h"
#include "tendril/model/model.h"

#include <string>
#include <vector>

namespace tendril {

/// An inextensible, unshearable rod in N pieces of constant strain, reckoned from its first frame. Frames have d1 along the rod and strains
/// are u = (torsion, curvature about d2, about d3) [1/m], as in beams.
struct SuperHelix {
  std::string name;             ///< what messages call it: "rod 'curl'"
  int begin = -1;               ///< pose block of the first frame
  std::vector<int> strains;     ///< vector blocks of three, one for each element
  std::vector<double> lengths;  ///< h of the elements [m]
  std::vector<Vector3> natural; ///< u0
  SectionProperties section;    ///< its stiffness against torsion and bending, mass and damping time; nothing else is looked at
};

/// Super-helices (Bertails et al. 2006) with a begin that moves: rods whose coordinates are the strains of their elements,
///
///     (elements.6)      H_{i+1} = H_i exp(h_i (e1, u_i)),      V = sum_i h_i (u_i - u0_i)^T K (u_i - u0_i) / 2 + gravity,
///
/// H_0 a pose block that may be free, held by joints, or a body's. The inertia is consistent, with two Gauss points an element that lie on
/// its helix, so that the equations are those of inextensible Kirchhoff beams (Beams) with the constraints eliminated. All is written with
/// spatial twists V, in the inertial frame about its origin. A motion of u_j moves what lies beyond element j by the screws
/// A_j = Ad(H_j) S(h_j, u_j), S = h T(-h (e1, u)) [0; I], and with the inertia M_k of the slice at a Gauss point k,
///
///     r_j = A_j^T Phi_j + h_j K (u_j - u0_j + tau u_j'),      Phi_j = sum_{k beyond j} F_k,      F_k = M_k (V_k' - g) - ad(V_k)^T M_k V_k.
///
/// With d_l V = A_l' du_l + ad(A_l du_l) V, and d_l V' likewise, a part that moves rigidly shows in the columns l < j only through
///
///     dr_j/du_l'' = A_j^T MM_j A_l,      dr_j/du_l' = A_j^T (2 MM_j A_l' + DD_j A_l),
///     dr_j/du_l = A_j^T (MM_j (A_l'' + ad(A_l) g) + DD_j A_l'),      D_k = -M_k ad(V_k) - coad(M_k V_k) - ad(V_k)^T M_k,
///
/// MM_j and DD_j the sums of M_k and D_k beyond j; in rows j < l the wrench is that beyond l, and turns: - coad(Phi_l) A_l. So the tangent
/// is exact, Coriolis terms and all, and costs O(N^2). The slices of the element itself have screws of their own. Damping is
/// Kelvin-Voigt's. The matrix couples all strains of a rod.
class SuperHelices final : public Term {
 public:
  /// Checks lengths, stiffness and mass (InputError) and returns the number of the rod.
  int add(SuperHelix rod);

  int size() const { return int(rods_.size()); }
  const SuperHelix& rod(int number) const { return rods_[std::size_t(number)]; }
  /// u - u0 of an element; K (u - u0 + tau u'), the moment that the part beyond exerts on the part before.
  Vector3 strain(const State& state, int rod, int element) const;
  Vector3 sectionMoment(const State& state, int rod, int element) const;
  /// h (e1, u).
  Vector6 relativeVector(const State& state, int rod, int element) const;

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void addMomentum(const State& state, Momentum& momentum) const override;
  /// InputError: strains are no points of frames.
  void embed(DirectorSystem& system) const override;

 private:
  struct Place {
    int beginQ = 0, beginV = 0;
    std::vector<int> q, v;      ///< of the strains
    std::vector<int> couplings; ///< (row block, column block), the begin first, row by row
    int memory = 0;
  };
  struct Columns;
  struct Strains;
  struct Wrenches;
  void addElastic(const SuperHelix& rod, const Place& place, const State& state, Assembly& assembly) const;
  void evaluate(const SuperHelix& rod, const Place& place, const State& state, Assembly& assembly) const;
  static void reckon(const SuperHelix& rod, const Place& place, const State& state, const Vector6& g, bool motion, Columns& columns);
  static void addMatrix(const SuperHelix& rod, const Place& place, const Columns& columns, Assembly& assembly);
  template <class Visit> static void visitSlices(const SuperHelix& rod, const Place& place, const State& state, const Visit& visit);

  std::vector<SuperHelix> rods_;
  std::vector<Place> places_;
  const Gravity* gravity_ = nullptr;
};

/// The frame F = H exp(s (e1, u)) O at the arclength s within an element of a rod that begins at the pose block H: what lies along the rod,
/// node after node.
class HelixFrame final : public FrameField {
 public:
  HelixFrame(const ModelBuilder& builder, int node, int strains, double arclength, const Pose& offset = {});

  void kinematics(const State& state, FieldKinematics& k) const override;
  void addHessian(const State& state, const Vector6& wrench, FieldHessian& H) const override;

 private:
  Vector6 twist(const State& state) const;

  double arclength_;
  Pose offset_;
  Matrix6 toFrame_; ///< Ad(O^-1)
};

}
