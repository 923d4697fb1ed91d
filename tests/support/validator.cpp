#include "support/validator.h"

#include "support/allocation_counter.h"
#include "support/dense.h"
#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <functional>
#include <random>
#include <sstream>
#include <string>

namespace tendril::test {

namespace {

class Validator {
 public:
  Validator(const Model& model, const ValidationOptions& options)
      : model_(model), options_(options), assembly_(model), random_(options.seed) {}

  void run() {
    for (int i = 0; i < options_.states; ++i) {
      SCOPED_TRACE("random state " + std::to_string(i));
      const State state = randomState();
      checkTangents(state);
      checkStatics(state);
      checkKkt(state);
      checkVelocityMaps(state);
      checkConstraintBias(state);
      checkTimeRates(state);
      if (options_.conservative) checkEnergyGradient(state);
      if (options_.powerBalance) checkPowerBalance(state);
      if (options_.internal) checkInvariance(state);
      if (options_.internal) checkActionReaction(state);
      checkAllocation(state);
    }
  }

  State randomState() {
    State state = model_.initialState();
    state.t = std::uniform_real_distribution<double>(0.1 * options_.time, options_.time)(random_);
    VectorX q(model_.nq());
    model_.retract(state.q, randomVector(model_.nv(), options_.amplitude), q);
    state.q = q;
    state.v = randomVector(model_.nv(), options_.speed);
    state.a = randomVector(model_.nv(), options_.speed);
    state.lambda = randomVector(model_.nc(), options_.force);
    return state;
  }

 private:
  static constexpr double step_ = 2e-3;

  VectorX randomVector(int n, double amplitude) {
    std::uniform_real_distribution<double> uniform(-amplitude, amplitude);
    VectorX x(n);
    for (double& entry : x) entry = uniform(random_);
    return x;
  }
  VectorX unit(int i) const { return VectorX::Unit(model_.nv(), i); }

  static Request residualOnly(bool motion = true) {
    Request request;
    request.motion = motion;
    request.tangent = false;
    return request;
  }
  static Request weighted(double damping, double inertia, bool motion = true) {
    Request request;
    request.motion = motion;
    request.damping = damping;
    request.inertia = inertia;
    return request;
  }
  VectorX residual(const State& state, bool motion = true) {
    assembly_.begin(residualOnly(motion));
    model_.evaluate(state, assembly_);
    return assembly_.residual();
  }
  VectorX constraint(const State& state) {
    assembly_.begin(residualOnly());
    model_.evaluate(state, assembly_);
    return assembly_.constraint();
  }
  MatrixX matrix(const State& state, const Request& request) {
    assembly_.begin(request);
    model_.evaluate(state, assembly_);
    return MatrixX(assembly_.matrix());
  }
  MatrixX gradient(const State& state) {
    assembly_.begin(weighted(0, 0));
    model_.evaluate(state, assembly_);
    return MatrixX(assembly_.gradient());
  }
  State moved(const State& state, const VectorX& delta) const {
    State result = state;
    model_.retract(state.q, delta, result.q);
    return result;
  }
  State alongVelocity(const State& state, double tau) const {
    State result = moved(state, tau * state.v);
    result.t += tau;
    return result;
  }

  /// d f / d tau at tau = 0 by (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h.
  template <class Function> static auto differentiate(const Function& f, double h = step_) {
    using Value = std::decay_t<decltype(f(0.0))>;
    return Value((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
  }
  template <class Function> MatrixX jacobian(int columns, const Function& column) const {
    MatrixX J;
    for (int i = 0; i < columns; ++i) {
      const VectorX c = column(i);
      if (i == 0) J.resize(c.size(), columns);
      J.col(i) = c;
    }
    return J;
  }

  std::string rowName(int row) const { return row < model_.nv() ? model_.nameOfVelocity(row) : model_.nameOfConstraint(row - model_.nv()); }
  /// Entries agree to a tolerance relative to the largest; the worst one is named.
  void expectNear(const MatrixX& actual, const MatrixX& expected, double tolerance, const std::string& what, int firstRow = 0,
                  double floor = 0) const {
    if (actual.size() == 0) return;
    ASSERT_EQ(actual.rows(), expected.rows()) << what;
    ASSERT_EQ(actual.cols(), expected.cols()) << what;
    Eigen::Index row, column;
    const double error = (actual - expected).cwiseAbs().maxCoeff(&row, &column);
    const double scale = std::max({actual.cwiseAbs().maxCoeff(), expected.cwiseAbs().maxCoeff(), floor});
    std::ostringstream place;
    place << "row " << row << " (" << rowName(int(row) + firstRow) << ")";
    if (actual.cols() > 1)
      place << ", column " << column << " (" << (column < model_.nv() + model_.nc() ? rowName(int(column)) : "") << ")";
    EXPECT_TRUE(error <= tolerance * scale) << what << ": " << actual(row, column) << " instead of " << expected(row, column) << " in "
                                            << place.str() << "; relative error " << error / scale << ", allowed " << tolerance;
  }

  MatrixX stiffnessByDifferences(const State& state, bool motion) {
    return jacobian(model_.nv(),
                    [&](int j) { return differentiate([&](double h) { return residual(moved(state, h * unit(j)), motion); }); });
  }

  void checkTangents(const State& state) {
    const int nv = model_.nv();
    const auto block = [&](double damping, double inertia) -> MatrixX {
      return matrix(state, weighted(damping, inertia)).topLeftCorner(nv, nv);
    };
    const MatrixX K = block(0, 0), C = block(1, 0) - K, M = block(0, 1) - K;
    const double scale = K.cwiseAbs().maxCoeff();
    if (options_.motionStiffness) expectNear(K, stiffnessByDifferences(state, true), options_.derivative, "dr/dq with motion");
    const MatrixX byVelocity = jacobian(nv, [&](int j) {
      return differentiate(
          [&](double h) {
            State s = state;
            s.v += h * unit(j);
            return residual(s);
          },
          0.1);
    });
    const MatrixX byAcceleration = jacobian(nv, [&](int j) {
      return differentiate(
          [&](double h) {
            State s = state;
            s.a += h * unit(j);
            return residual(s);
          },
          0.1);
    });
    expectNear(C, byVelocity, options_.derivative, "dr/dv", 0, 1e-6 * scale);
    expectNear(M, byAcceleration, options_.derivative, "dr/da", 0, 1e-6 * scale);
    expectNear(block(0.3, 1.7), K + 0.3 * C + 1.7 * M, 1e-13, "linearity of the tangent in its weights");
    Request ratesAlone = weighted(0.3, 1.7);
    ratesAlone.stiffness = false;
    expectNear(matrix(state, ratesAlone).topLeftCorner(nv, nv), 0.3 * C + 1.7 * M, 1e-13, "tangent without stiffness", 0, scale);
    if (nv > 0) expectNear(M, M.transpose(), 1e-12, "symmetry of the inertia", 0, 1e-6 * scale);
  }

  void checkStatics(const State& state) {
    const int nv = model_.nv();
    expectNear(matrix(state, weighted(0, 0, false)).topLeftCorner(nv, nv), stiffnessByDifferences(state, false), options_.derivative,
               "dr/dq without motion");
    State still = state;
    still.v.setZero();
    still.a.setZero();
    if (!options_.movingGround) expectNear(residual(state, false), residual(still, true), 1e-13, "r without motion is r at rest");
  }

  void checkKkt(const State& state) {
    const int nv = model_.nv(), nc = model_.nc();
    if (nc == 0) return;
    const MatrixX G = gradient(state);
    const MatrixX byPosition =
        jacobian(nv, [&](int j) { return differentiate([&](double h) { return constraint(moved(state, h * unit(j))); }); });
    expectNear(G, byPosition, options_.derivative, "G = dg/dq", nv);
    const MatrixX byMultiplier = jacobian(nc, [&](int j) {
      return differentiate(
          [&](double h) {
            State s = state;
            s.lambda[j] += h;
            return residual(s);
          },
          0.1);
    });
    expectNear(-G.transpose(), byMultiplier, 1e-11, "dr/dlambda = -G^T");
    assembly_.multiplierScale = 3.5;
    const MatrixX S = matrix(state, weighted(0, 0));
    expectNear(S.bottomLeftCorner(nc, nv), -3.5 * G, 1e-13, "lower block of the matrix is -s G", nv);
    expectNear(S.topRightCorner(nv, nc), -3.5 * G.transpose(), 1e-13, "upper block of the matrix is -s G^T");
    expectNear(S.bottomRightCorner(nc, nc), MatrixX::Zero(nc, nc), 0, "diagonal block of the constraints is zero", nv);
    assembly_.multiplierScale = 1;
  }

  void checkVelocityMaps(const State& state) {
    const int nv = model_.nv();
    const MatrixX K = matrix(state, weighted(0, 0)).topLeftCorner(nv, nv);
    const MatrixX rate = matrix(state, weighted(0.3, 1.7)).topLeftCorner(nv, nv) - K;
    MatrixX B = MatrixX::Identity(nv, nv);
    std::vector<Matrix6> maps(model_.blocks().size(), Matrix6::Identity());
    for (std::size_t b = 0; b < maps.size(); ++b) {
      const Block& block = model_.blocks()[b];
      if (block.kind != Block::Kind::Pose) continue;
      for (int i = 0; i < 6; ++i) maps[b].col(i) += randomVector(6, 0.5);
      B.block<6, 6>(block.v, block.v) = maps[b];
    }
    assembly_.velocityMaps() = maps;
    expectNear(matrix(state, weighted(0.3, 1.7)).topLeftCorner(nv, nv), K + rate * B, 1e-13, "velocity maps act on the rates alone");
    assembly_.velocityMaps().clear();
  }

  VectorX constraintVelocity(const State& state) {
    Request request = weighted(0, 0);
    request.timeRate = true;
    assembly_.begin(request);
    model_.evaluate(state, assembly_);
    return MatrixX(assembly_.gradient()) * state.v + assembly_.constraintRate();
  }

  void checkConstraintBias(const State& state) {
    if (model_.nc() == 0) return;
    VectorX bias(model_.nc());
    model_.constraintBias(state, bias);
    expectNear(bias, differentiate([&](double h) { return constraintVelocity(alongVelocity(state, h)); }), options_.derivative,
               "bias b of g'' = G a + b", model_.nv(), 1e-3);
  }

  void checkTimeRates(const State& state) {
    const auto at = [&](double h) {
      State s = state;
      s.t += h;
      return s;
    };
    Request request = residualOnly();
    request.timeRate = true;
    assembly_.begin(request);
    model_.evaluate(state, assembly_);
    const VectorX forceRate = assembly_.forceRate(), constraintRate = assembly_.constraintRate();
    expectNear(forceRate, differentiate([&](double h) { return residual(at(h)); }), options_.derivative, "dr/dt", 0,
               1e-3 * residual(state).cwiseAbs().maxCoeff());
    expectNear(constraintRate, differentiate([&](double h) { return constraint(at(h)); }), options_.derivative, "dg/dt", model_.nv(), 1e-3);
  }

  void checkEnergyGradient(const State& state) {
    State still = state;
    still.v.setZero();
    still.a.setZero();
    still.lambda.setZero();
    const VectorX r = residual(still);
    const VectorX slope = jacobian(model_.nv(), [&](int j) {
                            const double d = differentiate([&](double h) { return model_.energy(moved(still, h * unit(j))).total(); });
                            return VectorX::Constant(1, d);
                          }).transpose();
    expectNear(r, slope, options_.derivative, "force = gradient of the energy");
  }

  /// total' = power along a motion that obeys the equations: G v + g_t = 0 and r = 0.
  void checkPowerBalance(const State& random) {
    State state = random;
    if (model_.nc() > 0) {
      const VectorX violation = constraintVelocity(state);
      state.v -= leastNorm(gradient(state), violation);
    }
    state.a.setZero();
    const int nv = model_.nv();
    const MatrixX M = matrix(state, weighted(0, 1)).topLeftCorner(nv, nv) - matrix(state, weighted(0, 0)).topLeftCorner(nv, nv);
    Eigen::LLT<MatrixX> factor(M);
    if (factor.info() == Eigen::Success)
      state.a = -factor.solve(residual(state));
    else
      accelerateByConstraints(state, M);
    const double slope = differentiate([&](double h) {
      State s = alongVelocity(state, h);
      s.v += h * state.a;
      return model_.energy(s).total();
    });
    const Energy energy = model_.energy(state);
    const double scale = std::abs(energy.power) + std::abs(state.v.dot(M * state.a)) + std::abs(energy.total());
    EXPECT_NEAR(slope, energy.power, options_.derivative * scale) << "power balance: rate of the energy against the power supplied";
  }

  /// a and lambda of blocks without inertia, which constraints carry along: M a - G^T lambda = -f, G a = -b.
  void accelerateByConstraints(State& state, const MatrixX& M) {
    const int nv = model_.nv(), nc = model_.nc();
    state.lambda.setZero();
    const MatrixX G = gradient(state);
    MatrixX A = MatrixX::Zero(nv + nc, nv + nc);
    A.topLeftCorner(nv, nv) = M;
    A.topRightCorner(nv, nc) = -G.transpose();
    A.bottomLeftCorner(nc, nv) = G;
    VectorX bias(nc), rhs(nv + nc);
    model_.constraintBias(state, bias);
    rhs << -residual(state), -bias;
    const VectorX x = leastNorm(A, rhs);
    ASSERT_LE((A * x - rhs).norm(), 1e-9 * rhs.norm()) << "neither inertia nor constraints move some block: switch off powerBalance";
    state.a = x.head(nv), state.lambda = x.tail(nc);
  }

  void checkInvariance(const State& state) {
    Vector6 motion;
    motion = randomVector(6, 2.0);
    const Pose superimposed = se3::exp(motion);
    State other = state;
    for (const Block& b : model_.blocks()) {
      if (b.kind == Block::Kind::Pose) storePose(superimposed * loadPose(state.q.data() + b.q), other.q.data() + b.q);
    }
    expectNear(residual(other), residual(state), options_.invariance, "r under a superimposed rigid motion");
    expectNear(constraint(other), constraint(state), options_.invariance, "g under a superimposed rigid motion", model_.nv(), 1);
    expectNear(matrix(other, weighted(0.3, 1.7)), matrix(state, weighted(0.3, 1.7)), options_.invariance,
               "matrix under a superimposed rigid motion");
    EXPECT_NEAR(model_.energy(other).total(), model_.energy(state).total(),
                options_.invariance * (1 + std::abs(model_.energy(state).total())))
        << "energy under a superimposed rigid motion";
  }

  void checkActionReaction(const State& state) {
    const VectorX r = residual(state, options_.massless);
    Vector3 force = Vector3::Zero(), moment = Vector3::Zero();
    double scale = 0;
    for (const Block& b : model_.blocks()) {
      if (b.kind != Block::Kind::Pose) continue;
      const Pose H = loadPose(state.q.data() + b.q);
      const Vector3 f = H.R * r.segment<3>(b.v);
      force += f;
      moment += H.R * r.segment<3>(b.v + 3) + H.x.cross(f);
      scale = std::max(scale, r.segment<6>(b.v).norm() * (1 + H.x.norm()));
    }
    EXPECT_LE(force.norm(), options_.invariance * scale) << "action = reaction: the forces do not cancel";
    EXPECT_LE(moment.norm(), options_.invariance * scale) << "action = reaction: the moments do not cancel";
  }

  void checkAllocation(const State& state) {
    Request request = weighted(0.3, 1.7);
    request.timeRate = true;
    assembly_.begin(request);
    model_.evaluate(state, assembly_);
    const long before = allocationCount;
    assembly_.begin(request);
    model_.evaluate(state, assembly_);
    EXPECT_EQ(allocationCount - before, 0) << "evaluate() allocates memory";
  }

  const Model& model_;
  ValidationOptions options_;
  Assembly assembly_;
  std::mt19937 random_;
};

}

State randomState(const Model& model, const ValidationOptions& options) { return Validator(model, options).randomState(); }

void validate(const Model& model, const ValidationOptions& options) { Validator(model, options).run(); }

}
