#pragma once
#include "tendril/elements/section.h"
#include "tendril/model/model.h"

#include <span>
#include <string>
#include <vector>

namespace tendril {

/// Simo-Reissner: all six strains elastic. Kirchhoff-Love: no shear (2 constraints an element). Inextensible Kirchhoff: no shear and no
/// extension (3 constraints an element).
enum class BeamModel { SimoReissner, KirchhoffLove, InextensibleKirchhoff };

/// What an analysis interpolates within an element, which decides what its strains are: Beams::evaluate or Beams::embed.
enum class BeamInterpolation { Helicoidal, Directors };

/// Geometrically exact beams on SE(3), two nodes an element, helicoidal interpolation (Sonneville, Cardona & Bruls 2014):
///
///     d = log(H_A^-1 H_B),   H(s) = H_A exp(s d / L),   eps = (d - d0) / L,      (elements.2), (elements.4)
///     delta pi(s) = Q delta pi_e,   Q = [I - T*, T*],   T* = xi T(xi d) T^-1(d),   delta eps = P delta pi_e / L,   P = [-T^-1(-d),
///     T^-1(d)]
///
/// Strains are constant in an element: (axial, shear, shear, torsion, bending, bending) about the reference d0, which may be curved; no
/// locking, no reduced integration, invariance under rigid motions to round-off, order 2. Residual of an element, in the local frames:
///
///     int_0^L Q^T ( M a(s) - ad(v(s))^T M v(s) - M (R^T g, 0) ) ds + P^T ( K eps + tau K eps' ) - G^T lambda,
///     v(s) = Q v_e,   a(s) = Q a_e + Q' v_e
///
/// with two Gauss points; g_e = D (d - d0) = 0 selects the strains that a model suppresses, and lambda is their force resultant [N],
/// with the opposite sign. dr/dv and dr/da are exact; dr/dq holds the material, geometric, damping and gravity parts exactly and leaves
/// out how the inertia forces change with d, which is O(h^2) of the inertia part. Configurations in which the nodes of an element turn
/// by more than 170 degrees against each other are refused.
class Beams final : public Term {
 public:
  /// Properties shared by elements; returns the number to give to addElement.
  int addSection(const SectionProperties& properties);
  /// An element between two pose blocks, with reference length L [m] and reference d0 (log of the relative pose when unstrained).
  /// Returns its number. The name is the beam's.
  int addElement(const std::string& name, int blockA, int blockB, double length, const Vector6& d0, int section, BeamModel model);

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void predict(const State& state, const VectorX& delta, double factor, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  /// Elements that interpolate directors instead of rotations (Romero & Armero 2002; Betsch & Steinmann 2002), with one Gauss point and
  /// D = (D_A + D_B)/2 in its middle,
  ///
  ///     L eps = (D^T (x_B - x_A), skew(D_A^T D_B)) - the same of the unstrained shape,      V = L eps^T K eps / 2,
  ///
  /// skew the axial vector (d_3A . d_2B - d_2A . d_3B, ...)/2; the suppressed strains L eps are the rows of the constraints, the mass is
  /// the consistent one. Invariant and of order 2 as the helicoidal elements, for nodes that turn by less than a quarter turn against each
  /// other. InputError for a section whose mass matrix is not that of a distribution of mass.
  void embed(DirectorSystem& system) const override;
  void addMomentum(const State& state, Momentum& momentum) const override;
  void addConstraintBias(const State& state, VectorX& b) const override;

  int elements() const { return int(elements_.size()); }
  double length(int element) const { return elements_[element].length; }
  const SectionProperties& section(int element) const { return sections_[elements_[element].section].properties; }
  std::array<int, 2> blocks(int element) const { return {elements_[element].a, elements_[element].b}; }
  /// Strain eps - eps of the reference, and d itself.
  Vector6 strain(const State& state, int element, BeamInterpolation interpolation = BeamInterpolation::Helicoidal) const;
  Vector6 relativeVector(const State& state, int element) const;
  /// Force and moment that the part beyond the section (towards B) exerts on the part before it, in the section frame; damping and the
  /// resultants of suppressed strains included.
  Vector6 sectionForce(const State& state, int element, BeamInterpolation interpolation = BeamInterpolation::Helicoidal) const;

 private:
  struct SectionData {
    SectionProperties properties;
    /// Stiffness without the strains that the model suppresses, per BeamModel.
    std::array<Matrix6, 3> elastic;
    /// Its largest entries for translation and rotation.
    std::array<std::array<double, 2>, 3> stiffest;
  };
  struct Element {
    int a, b, qa, qb, va, vb;
    int section;
    BeamModel model;
    double length;
    Vector6 d0;
    int name;
    int aa, ab, ba, bb;
    int memory = -1, constraint = -1, row = -1, firstSuppressed = 0, suppressed = 0;
    int ca = -1, ac = -1, cb = -1, bc = -1;
  };
  struct Kinematics;

  const Matrix6& elastic(const Element& e) const { return sections_[e.section].elastic[int(e.model)]; }
  void evaluate(const Element& e, const State& state, const Vector3& gravity, Assembly& assembly) const;
  void addResidual(const Element& e, const State& state, const Vector3& gravity, Assembly& assembly) const;
  void noteLimits(const Element& e, const State& state, const Pose& A, double angleSquared, Assembly& assembly) const;
  /// L (eps - eps of the reference), and its rate where wanted.
  Vector6 stretch(const Element& e, const State& state, BeamInterpolation interpolation, Vector6* rate) const;
  Vector6 resultant(const Element& e, const Vector6& stretch, const State& state) const;
  Vector6 geometricResultant(const Element& e, const Vector6& resultant, const State& state, Assembly& assembly) const;

  std::vector<SectionData> sections_;
  std::vector<Element> elements_;
  std::vector<std::string> names_;
  const Gravity* gravity_ = nullptr;
};

/// Force and moment per unit of reference length along segments of a beam [N/m, N], the same all along (fixed in the inertial frame, or
/// following the section), times a factor of time; integrated with the two Gauss points of the beam.
class DistributedLoads final : public Term {
 public:
  void add(std::span<const std::array<int, 2>> segments, std::span<const double> lengths, const Vector6& load, bool follower,
           const TimeFunction& factor);

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void embed(DirectorSystem& system) const override;

 private:
  struct Load {
    Vector6 perLength;
    bool follower;
    TimeFunction factor;
  };
  struct Segment {
    int a, b, load;
    double length;
    int qa = 0, qb = 0, va = 0, vb = 0, aa = 0, ab = 0, ba = 0, bb = 0;
  };
  std::vector<Load> loads_;
  std::vector<Segment> segments_;
};

}
