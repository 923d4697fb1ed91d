#pragma once
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tendril/solvers/nonlinear_program.h"

namespace tendril::test {

/// A number with its first and second derivatives.
struct Jet {
  double v = 0;
  Eigen::VectorXd g;
  Eigen::MatrixXd h;

  Jet() = default;
  Jet(double value, int n) : v(value), g(Eigen::VectorXd::Zero(n)), h(Eigen::MatrixXd::Zero(n, n)) {}
  static Jet variable(double value, int i, int n) {
    Jet x(value, n);
    x.g[i] = 1;
    return x;
  }
  /// phi(x) from phi and its derivatives at x.
  Jet through(double phi, double first, double second) const {
    Jet r = *this;
    r.v = phi;
    r.g = first * g;
    r.h = first * h + second * g * g.transpose();
    return r;
  }
};

inline Jet operator+(const Jet& a, const Jet& b) {
  Jet r = a;
  r.v += b.v;
  r.g += b.g;
  r.h += b.h;
  return r;
}
inline Jet operator*(const Jet& a, const Jet& b) {
  Jet r = a;
  r.v = a.v * b.v;
  r.g = a.v * b.g + b.v * a.g;
  r.h = a.v * b.h + b.v * a.h + a.g * b.g.transpose() + b.g * a.g.transpose();
  return r;
}
inline Jet operator*(double c, const Jet& a) { return a.through(c * a.v, c, 0); }
inline Jet operator*(const Jet& a, double c) { return c * a; }
inline Jet operator+(const Jet& a, double c) { return a.through(a.v + c, 1, 0); }
inline Jet operator+(double c, const Jet& a) { return a + c; }
inline Jet operator-(const Jet& a) { return -1.0 * a; }
inline Jet operator-(const Jet& a, const Jet& b) { return a + (-b); }
inline Jet operator-(const Jet& a, double c) { return a + (-c); }
inline Jet operator-(double c, const Jet& a) { return c + (-a); }
inline Jet exp(const Jet& a) { return a.through(std::exp(a.v), std::exp(a.v), std::exp(a.v)); }
inline Jet log(const Jet& a) { return a.through(std::log(a.v), 1 / a.v, -1 / (a.v * a.v)); }
inline Jet sin(const Jet& a) { return a.through(std::sin(a.v), std::cos(a.v), -std::sin(a.v)); }
inline Jet cos(const Jet& a) { return a.through(std::cos(a.v), -std::sin(a.v), -std::cos(a.v)); }
inline Jet sqrt(const Jet& a) { return a.through(std::sqrt(a.v), 0.5 / std::sqrt(a.v), -0.25 / (a.v * std::sqrt(a.v))); }
inline Jet inverse(const Jet& a) { return a.through(1 / a.v, -1 / (a.v * a.v), 2 / (a.v * a.v * a.v)); }
inline Jet operator/(const Jet& a, const Jet& b) { return a * inverse(b); }
inline Jet sqr(const Jet& a) { return a * a; }
inline Jet pow(const Jet& a, int k) {
  return a.through(std::pow(a.v, k), k * std::pow(a.v, k - 1), double(k) * (k - 1) * std::pow(a.v, k - 2));
}

/// A program in R^n made of functions of a few variables each, with derivatives by forward differentiation.
class TermProgram : public VectorProgram {
 public:
  using Jets = std::vector<Jet>;
  using Function = std::function<Jet(const Jets&)>;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  int variable(double start, int stage = 0) {
    x.conservativeResize(x.size() + 1);
    x[x.size() - 1] = start;
    return structure_.addVariable(stage);
  }
  /// The same with bounds.
  int bounded(double start, double lower, double upper, int stage = 0) {
    const int i = variable(start, stage);
    inequality(
        lower, {i}, [](const Jets& v) { return v[0]; }, upper, stage);
    return i;
  }
  void minimise(std::vector<int> variables, Function f) { addTerm(-1, -1, std::move(variables), std::move(f), false); }
  int equality(std::vector<int> variables, Function f, int stage = 0, bool linear = false) {
    const int row = structure_.addEquality(stage);
    addTerm(row, -1, std::move(variables), std::move(f), linear);
    return row;
  }
  /// Another term of a row.
  void addToEquality(int row, std::vector<int> variables, Function f) { addTerm(row, -1, std::move(variables), std::move(f), false); }
  int inequality(double lower, std::vector<int> variables, Function f, double upper, int stage = 0, bool linear = false) {
    const int row = structure_.addInequality(stage, lower, upper);
    addTerm(-1, row, std::move(variables), std::move(f), linear);
    return row;
  }

  const ProgramStructure& structure() const override { return structure_; }
  bool evaluate(ProgramValues& values) override {
    values.objective = 0;
    values.equality.setZero();
    values.inequality.setZero();
    for (const Term& term : terms_) {
      const double v = evaluate(term).v;
      if (!std::isfinite(v)) return false;
      (term.equality >= 0     ? values.equality[term.equality]
       : term.inequality >= 0 ? values.inequality[term.inequality]
                              : values.objective) += v;
    }
    return true;
  }
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& out) override {
    out.gradient.setZero();
    int atEquality = 0, atInequality = 0, atHessian = 0;
    for (const Term& term : terms_) {
      const Jet r = evaluate(term);
      const int n = int(term.variables.size());
      for (int i = 0; i < n; ++i) {
        if (term.equality >= 0)
          out.equalityJacobian[atEquality++] = r.g[i];
        else if (term.inequality >= 0)
          out.inequalityJacobian[atInequality++] = r.g[i];
        else
          out.gradient[term.variables[i]] += r.g[i];
      }
      if (!multipliers || term.linear) continue;
      const double weight = term.equality >= 0     ? multipliers->equality[term.equality]
                            : term.inequality >= 0 ? multipliers->inequality[term.inequality]
                                                   : multipliers->weight;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) out.hessian[atHessian++] = weight * r.h(i, j);
    }
    return true;
  }

 private:
  struct Term {
    int equality, inequality;
    std::vector<int> variables; ///< different ones
    Function function;
    bool linear; ///< has no place in the Hessian
  };
  void addTerm(int equality, int inequality, std::vector<int> variables, Function f, bool linear) {
    for (int i : variables) {
      if (equality >= 0) structure_.equalityJacobian.push_back({equality, i});
      if (inequality >= 0) structure_.inequalityJacobian.push_back({inequality, i});
    }
    for (std::size_t i = 0; i < variables.size() && !linear; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        structure_.hessian.push_back({std::max(variables[i], variables[j]), std::min(variables[i], variables[j])});
    terms_.push_back({equality, inequality, std::move(variables), std::move(f), linear});
  }
  Jet evaluate(const Term& term) const {
    const int n = int(term.variables.size());
    Jets arguments;
    for (int i = 0; i < n; ++i) arguments.push_back(Jet::variable(x[term.variables[i]], i, n));
    return term.function(arguments);
  }

  ProgramStructure structure_;
  std::vector<Term> terms_;
};

}
