#pragma once
#include "tendril/lie/types.h"
#include "tendril/solvers/nonlinear_program.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace tendril {

/// Where a discrete Cosserat rod has its frames: with positions at the vertices, or at the edges between them.
enum class CosseratModel { Vertex, Edge };

enum class RodEnd { Begin, End };

/// What of an end is held: nothing; its position; besides that its frame but for rotations about an axis; position and frame.
enum class RodHold { Free, Pinned, Hinged, Clamped };

/// How a corner, where the frame of the unstrained rod turns by Q at once, enters the strain of the edge-based model there.
enum class RodCorner {
  NaturalCurvature, ///< as the curvature cay^-1(Q)/h that a smooth rod would have: stiffens the corner by the law of the tangent
  ReferenceRotation ///< the rotation Q is taken away before the strain is measured
};

/// A special Cosserat rod that bends, twists, shears and stretches. Its centreline need not be along the director d3.
struct CosseratProperties {
  double length = 1;                               ///< of the unstrained rod, by which s is measured [m]
  Vector3 bending = Vector3::Ones();               ///< C1 = (EI_1, EI_2, GJ) [N m^2]
  Vector3 shearing = Vector3::Ones();              ///< C2 = (GA_1, GA_2, EA) [N]
  std::function<Vector3(double)> naturalCurvature; ///< u0(s) [1/m]; empty: straight
  std::function<Vector3(double)> naturalStretch;   ///< v0(s); empty: (0, 0, 1)
  Vector3 weight = Vector3::Zero();                ///< dead load per unstrained length, in the inertial frame [N/m]
};

/// A discrete Cosserat rod of N vertices, h = L/(N - 1) apart (Leyendecker 2006, chapter 7), with positions r and frames R = [d1 d2 d3]:
///
///     V = sum_i h_i/2 (u - u0) . C1 (u - u0) + sum_i h_i/2 (v - v0) . C2 (v - v0) - sum_k f_k . r_k,
///
/// vertex-based (7.42), with frames R_i at the vertices, and edge-based (7.48), with frames at the edges and curvatures at the vertices
/// between them, weighted by dual lengths:
///
///     u_i = cay^-1(R_i^T R_{i+1})/h,     v_i = (R_i + R_{i+1})^T (r_{i+1} - r_i)/(2h),      (rods.6)
///     u_k = cay^-1(R_{k-1}^T R_k)/h_k,   v_i = R_i^T (r_{i+1} - r_i)/h,     h_k = h, at the two ends h/2.
///
/// cay^-1 of a rotation by phi about n is 2 tan(phi/2) n: infinite at half a turn, which no step of the rod can pass. In the edge-based
/// model the ends have frames of their own, R_0 and R_N, half an edge beyond: what is clamped there, and follows where it is not.
///
/// Frames are points of R^9 on the constraints of orthonormality; their null space matrix (-S(d1); -S(d2); -S(d3)) turns the equilibrium
/// P^T dV/dq = 0 (7.33) into balances of forces and of moments with spatial increments, r <- r + dr, R <- exp(w) R. Gradient and Hessian
/// are those along these increments, exact. For a segment with the Cayley vector c = h u, T = I + S(c)/2 + c c^T/4 (dc = T R_b^T (w_b -
/// w_a)) and moment b = R_b T^T C1 (u - u0), second derivatives of c along exp are (c . w) T w / 2, so that
///
///     H = R_b (T^T C1 T / h + (c b^T + b c^T)/4) R_b^T,     d2V/dw_b dw_a = -H - S(b)/2.
///
/// The energy of every segment is invariant under rigid motions, hence the discrete Noether maps of a segment that carries no load between
/// its ends: n_i, m_i^- + r_i x n_i = m_i^+ + r_{i+1} x n_i and, for an isotropic section, m_i . d3. At an equilibrium they are constant
/// along the unloaded rod, whatever N; forces at vertices make them jump. Second order in h. Errors: InputError for numbers that make no
/// rod; energies and derivatives are infinite or NaN where neighbouring frames are half a turn apart.
class CosseratRod {
 public:
  CosseratRod(CosseratProperties properties, int vertices, CosseratModel model = CosseratModel::Edge);

  const CosseratProperties& properties() const { return properties_; }
  CosseratModel model() const { return model_; }
  int vertices() const { return int(positions_.size()); }
  int edges() const { return vertices() - 1; }
  int frames() const { return int(frames_.size()); } ///< N, edge-based N + 1
  double step() const { return properties_.length / edges(); }

  // ---- what acts on it, before it is placed ------------------------------------------------------------------------------------------
  /// Both ends are free at first. The axis of a hinge is fixed in the inertial frame.
  void hold(RodEnd end, RodHold hold, const Vector3& axis = Vector3::UnitZ());
  /// The frame of the unstrained rod turns by `turn`, R -> R turn, at an inner vertex. InputError for a corner as a natural curvature in
  /// the vertex-based model, where a vertex has no curvature.
  void addCorner(int vertex, const Matrix3& turn, RodCorner treatment = RodCorner::ReferenceRotation);
  /// A dead force at a vertex, in the inertial frame, on top of the weight [N].
  void addForce(int vertex, const Vector3& force);
  /// Multiplies weight and forces; 1 at first.
  double loadFactor = 1;
  const Vector3& load(int vertex) const { return loads_[std::size_t(vertex)]; } ///< at the load factor 1

  // ---- where it stands ---------------------------------------------------------------------------------------------------------------
  /// Without strain from a frame at its begin.
  void placeUnstrained(const Pose& begin);
  /// Along the cubic from one end to the other with tangents d3 L there; frames follow the tangent, the twist that is left is spread
  /// evenly, half a turn at most.
  void placeBetween(const Pose& begin, const Pose& end);
  /// Puts the end, alone, to where it is to be held.
  void moveEnd(const std::optional<Vector3>& position, const std::optional<Matrix3>& orientation);
  const Vector3& position(int vertex) const { return positions_[std::size_t(vertex)]; }
  const Matrix3& frame(int k) const { return frames_[std::size_t(k)]; }
  /// At a vertex: edge-based the mean of the two edges', the end's own at an end.
  Matrix3 frameAt(int vertex) const;
  /// All positions, then all frames, column by column.
  int pointSize() const { return 3 * vertices() + 9 * frames(); }
  void getPoint(Eigen::Ref<VectorX> numbers) const;
  void setPoint(const Eigen::Ref<const VectorX>& numbers);

  // ---- unknowns: increments of what is not held, stage by stage ------------------------------------------------------------------------
  /// dr of a vertex or w of a frame, interleaved along the rod; at a hinge the rotation about its axis alone. Those of a stage couple with
  /// their own stage and its neighbours.
  struct Unknown {
    bool isPosition = true;
    int index = 0; ///< of the vertex or the frame
    int stage = 0;
    int offset = 0, size = 3;       ///< within an increment
    Vector3 axis = Vector3::Zero(); ///< where the size is 1
    int end() const { return offset + size; }
  };
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  int size() const { return unknowns_.empty() ? 0 : unknowns_.back().end(); }
  /// r <- r + dr, R <- exp(w) R.
  void move(const Eigen::Ref<const VectorX>& increment);

  double elasticEnergy() const;
  double loadEnergy() const; ///< of weight and forces
  double energy() const { return elasticEnergy() + loadEnergy(); }
  void gradient(Eigen::Ref<VectorX> g) const;
  /// d(gradient)/d(load factor).
  void loadGradient(Eigen::Ref<VectorX> g) const;
  /// Places of the Hessian that may not be zero, in the lower triangle, and their values.
  const std::vector<MatrixEntry>& hessianPattern() const { return pattern_; }
  void hessian(Eigen::Ref<VectorX> values) const;

  // ---- measures of an edge, in the inertial frame
  // ----------------------------------------------------------------------------------------
  /// Force n = dW/dr_{i+1} that the part beyond exerts on the part before.
  Vector3 force(int edge) const;
  /// m^- + r x n about the origin, m^- = -dW/dw at the begin of the segment (r_i, R_i) to (r_{i+1}, R_{i+1}).
  Vector3 angularMap(int edge) const;
  /// m^- . d3: constant along a straight rod of isotropic section without couples about its axis.
  double isotropyMap(int edge) const;
  /// Strains v of an edge, and u of a segment between frames k and k + 1 [1/m]; C1 (u - u0), in the frame.
  Vector3 stretch(int edge) const;
  Vector3 curvature(int k) const;
  Vector3 materialMoment(int k) const;
  int bends() const { return int(bends_.size()); } ///< N - 1, edge-based N

 private:
  /// Couplings of the unknowns of one segment, in the lower triangle of its matrix; -1 where one of the two is held.
  template <int n> struct Places {
    std::array<int, n> unknown;
    std::array<int, std::size_t(n) * std::size_t(n + 1) / 2> coupling;
  };
  struct Stretch {
    double length;
    Vector3 natural;
    Matrix3 turn = Matrix3::Identity(); ///< from the first frame to the one that the segment begins with
    std::array<int, 2> frames;
    std::array<double, 2> weights;
    Places<4> places{}; ///< r_i, r_{i+1} and both frames
  };
  struct Bend {
    double length;
    Vector3 natural;
    Matrix3 turn = Matrix3::Identity();
    Places<2> places{}; ///< frames k, k + 1
  };
  struct StretchState;
  struct BendState;

  Matrix3 firstFrame(const Stretch& s) const { return frames_[std::size_t(s.frames[0])] * s.turn; }
  void number();
  template <int n> void couple(Places<n>& places);
  template <int n> void scatter(const Places<n>& places, const Eigen::Matrix<double, 3 * n, 1>& f, Eigen::Ref<VectorX> g) const;
  template <int n> void scatter(const Places<n>& places, const Eigen::Matrix<double, 3 * n, 3 * n>& K, Eigen::Ref<VectorX> values) const;
  void addForceOn(int unknown, const Vector3& f, Eigen::Ref<VectorX>& g) const;
  void addLoads(double factor, Eigen::Ref<VectorX> g) const;
  struct Coupling {
    int row, column; ///< unknowns, row >= column
    int entry;       ///< the first of its places in the pattern
  };

  CosseratProperties properties_;
  CosseratModel model_;
  std::array<RodHold, 2> holds_{RodHold::Free, RodHold::Free};
  std::array<Vector3, 2> axes_; ///< of hinges
  std::vector<Vector3> positions_, loads_;
  std::vector<Matrix3> frames_;
  std::vector<Stretch> stretches_;
  std::vector<Bend> bends_;
  std::vector<Unknown> unknowns_;
  std::vector<int> positionUnknown_, frameUnknown_; ///< number of the unknown of a vertex or frame, -1 where it is held
  std::vector<Coupling> couplings_;
  std::vector<MatrixEntry> pattern_;
};

}
