#pragma once
#include "io/run_totals.h"
#include "tendril/equations/analysis.h"
#include "tendril/io/results.h"
#include "tendril/model/term.h"

#include <array>
#include <limits>

namespace tendril {

/// What results say of the last step before each row (StepSeries), and of the energy at the row.
class StepSeries {
 public:
  void declare(ResultWriter& writer, bool isDynamic, bool hasContacts);
  /// Takes the numbers of a step.
  void note(const StepReport& report) { size_ = report.h, iterations_ = report.iterations, residual_ = report.residual; }
  void write(ResultWriter& writer, const Energy& energy, const ContactReport* contacts, const RunTotals& totals) const;

 private:
  enum Quantity {
    StepSize,
    Iterations,
    Residual,
    Elastic,
    Gravitational,
    Total,
    Kinetic, // of motions from here
    Work,
    Dissipated, // of contacts from here
    ContactResidual,
    Sweeps,
    ContactNewtonSteps,
    Penetration,
    Count
  };
  std::array<ResultWriter::Series, Count> series_{};
  bool isDynamic_ = false, hasContacts_ = false;
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double size_ = unknown, iterations_ = unknown, residual_ = unknown;
};

}
