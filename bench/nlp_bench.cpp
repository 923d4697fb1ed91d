#include "tendril/solvers/interior_point.h"
#include "tendril/solvers/staged_ldlt.h"

#include <benchmark/benchmark.h>

#include <cmath>

// Nonlinear programs in stages: time of a factorisation and of an iteration by the number of stages and by their size.

namespace tendril {
namespace {

/// Matrix of the optimality conditions of n coordinates with as many controls and equations per stage: rows of stage k reach coordinates of
/// k - 1, k, k + 1 and controls of k - 1, k.
StagedMatrix motion(int stages, int n) {
  StagedMatrix A(std::vector<int>(std::size_t(stages), 3 * n), 0);
  const double h = 0.01;
  for (int k = 0; k < stages; ++k)
    for (int i = 0; i < n; ++i) {
      const int q = A.offset(k) + i, tau = q + n, row = tau + n;
      const auto set = [&](int r, int c, double value) { A.values()[A.position(r, c)] = value; };
      set(tau, tau, h);
      for (int j = 0; j <= i; ++j) set(q, A.offset(k) + j, i == j ? 0.01 : 0.003);
      for (int j = 0; j < n; ++j) {
        const double inertia = i == j ? 1 : 0.1;
        set(row, A.offset(k) + j, -2 * inertia);
        set(row, A.offset(k) + n + j, h / 2 * inertia);
        if (k > 0) set(row, A.offset(k - 1) + j, inertia);
        if (k > 0) set(row, A.offset(k - 1) + n + j, h / 2 * inertia);
        if (k + 1 < stages) set(row, A.offset(k + 1) + j, inertia);
      }
    }
  return A;
}

void factoriseAndSolve(benchmark::State& run) {
  const StagedMatrix A = motion(int(run.range(0)), int(run.range(1)) / 3);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(A.order());
  Eigen::VectorXd x = b;
  StagedLdlt ldlt;
  for (auto _ : run) {
    benchmark::DoNotOptimize(ldlt.factorise(A));
    x = b;
    ldlt.solve(x);
  }
  run.SetItemsProcessed(run.iterations() * run.range(0)); // stages
}
BENCHMARK(factoriseAndSolve)->ArgNames({"stages", "rows"})->ArgsProduct({{100, 1000}, {6, 12, 30}})->Unit(benchmark::kMicrosecond);

/// Pendulums side by side that torques lift from rest below to rest above in time 4, |tau| <= 2, least integral of tau^2: by midpoint
/// discrete mechanics, every function with its derivatives written out.
class Pendulums : public VectorProgram {
 public:
  Pendulums(int intervals, int pendulums) : N(intervals), n(pendulums), h(4.0 / intervals) {
    for (int k = 0; k <= N; ++k)
      for (int i = 0; i < n; ++i) {
        structure_.addVariable(k); // angle
        structure_.addEquality(k); // balance of momentum at the node
        if (k == 0 || k == N) structure_.addEquality(k);
        if (k < N) structure_.addVariable(k); // torque
        if (k < N) structure_.addInequality(k, -2, 2);
      }
    x.resize(structure_.variables());
    for (int k = 0; k <= N; ++k)
      for (int i = 0; i < n; ++i) {
        x[angle(k, i)] = M_PI * k / N;
        if (k < N) x[torque(k, i)] = 0;
        if (k == 0 || k == N) structure_.equalityJacobian.push_back({place(k, i), angle(k, i)});
        if (k == N) continue;
        structure_.inequalityJacobian.push_back({k * n + i, torque(k, i)});
        for (int end : {k, k + 1})
          for (int variable : {angle(k, i), angle(k + 1, i), torque(k, i)})
            structure_.equalityJacobian.push_back({balance(end, i), variable});
        structure_.hessian.push_back({torque(k, i), torque(k, i)});
        structure_.hessian.push_back({angle(k, i), angle(k, i)});
        structure_.hessian.push_back({angle(k + 1, i), angle(k, i)});
        structure_.hessian.push_back({angle(k + 1, i), angle(k + 1, i)});
      }
  }
  const ProgramStructure& structure() const override { return structure_; }
  bool evaluate(ProgramValues& values) override {
    values.objective = 0;
    values.equality.setZero();
    for (int k = 0; k < N; ++k)
      for (int i = 0; i < n; ++i) {
        const double a = x[angle(k, i)], b = x[angle(k + 1, i)], tau = x[torque(k, i)], force = h / 2 * (tau - std::sin((a + b) / 2));
        values.objective += h * tau * tau;
        values.equality[balance(k, i)] += force - (b - a) / h;
        values.equality[balance(k + 1, i)] += force + (b - a) / h;
        values.inequality[k * n + i] = tau;
      }
    for (int i = 0; i < n; ++i) {
      values.equality[place(0, i)] = x[angle(0, i)];
      values.equality[place(N, i)] = x[angle(N, i)] - M_PI;
    }
    return true;
  }
  bool differentiate(const ProgramMultipliers* m, ProgramDerivatives& d) override {
    d.gradient.setZero();
    d.inequalityJacobian.setOnes();
    int atJacobian = 0, atHessian = 0;
    for (int k = 0; k <= N; ++k)
      for (int i = 0; i < n; ++i) {
        if (k == 0 || k == N) d.equalityJacobian[atJacobian++] = 1;
        if (k == N) continue;
        const double mid = (x[angle(k, i)] + x[angle(k + 1, i)]) / 2, gravity = -h / 4 * std::cos(mid);
        for (double sign : {-1.0, 1.0})
          for (double value : {gravity - sign / h, gravity + sign / h, h / 2}) d.equalityJacobian[atJacobian++] = value;
        d.gradient[torque(k, i)] = 2 * h * x[torque(k, i)];
        if (!m) continue;
        const double curvature = (m->equality[balance(k, i)] + m->equality[balance(k + 1, i)]) * h / 8 * std::sin(mid);
        for (double value : {2 * h * m->weight, curvature, curvature, curvature}) d.hessian[atHessian++] = value;
      }
    return true;
  }

 private:
  int angle(int k, int i) const { return k < N ? 2 * (k * n + i) : 2 * N * n + i; }
  int torque(int k, int i) const { return angle(k, i) + 1; }
  int balance(int k, int i) const { return k == 0 ? 2 * i : k < N ? n + k * n + i : n + N * n + 2 * i; }
  int place(int k, int i) const { return balance(k, i) + 1; }

  int N, n;
  double h;
  ProgramStructure structure_;
};

void liftPendulums(benchmark::State& run) {
  double iterations = 0, seconds = 0, factorisation = 0;
  for (auto _ : run) {
    Pendulums program(int(run.range(0)), int(run.range(1)));
    const InteriorPointReport report = InteriorPoint().solve(program);
    if (!report.converged()) return run.SkipWithError(report.message.c_str());
    iterations += report.iterations;
    seconds += report.totalTime;
    factorisation += report.factorisationTime + report.solutionTime;
  }
  run.counters["iterations"] = iterations / double(run.iterations());
  run.counters["us_per_iteration"] = 1e6 * seconds / iterations;
  run.counters["us_linear_algebra"] = 1e6 * factorisation / iterations;
}
BENCHMARK(liftPendulums)->ArgNames({"intervals", "pendulums"})->ArgsProduct({{100, 1000, 10000}, {1, 4}})->Unit(benchmark::kMillisecond);

}
}
