#pragma once
#include "tendril/control/controlled_path.h"

#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// A row that reads configurations alone: a polynomial of the redundant coordinates y = (q_n, q_{n+1}).
struct FlatRow {
  struct Product {
    int i, j;
    double value;
  };
  std::vector<Product> products;
  std::vector<std::pair<int, double>> linear;
  double constant = 0;
  bool spansInterval = false;

  /// n: number of coordinates. InputError, naming the method, if the row reads more.
  FlatRow(const PathRow& row, int n, const std::string& method);
  double value(const VectorX& y) const;
  /// gradient += scale d(phi)/dy.
  void addGradient(const VectorX& y, double scale, VectorX& gradient) const;
};

/// What the methods to compare with know of a control problem: a fixed duration, motions without contacts, rows of configurations of a
/// node and the next one, efforts that are squares. InputError, naming the method, for anything else, and for numbers that do not fit.
void requirePlain(const ControlProblem& problem, const std::string& method, int controls, const std::vector<VectorX>& guess,
                  const MatrixX& controlsOfGuess);

/// Sizes of the controls, forces, moments or tensions per length (activations: 1), that move a system of this mass and length in the time
/// of the problem.
std::vector<double> unitsOfControls(const ControlProblem& problem, double mass, double length);

/// Numbers of the controls that have bounds.
std::vector<int> boundedControls(const ControlProblem& problem, int controls);

}
