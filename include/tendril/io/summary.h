#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// The summary of a run, written as summary.json:
///   status                    "success", "failed" (numerics), "interrupted", "error" (input or machine)
///   scene, parameters         file and the values of its parameters
///   outputs.NAME              {value: number or array, unit, description}
///   steps, newton {iterations, average, worst}, residual (largest accepted, relative to its tolerance: at most 1), penetration (worst, m)
///   contact                   of runs with contact: penetration (worst, m), residual (worst), sweeps {average, worst} of Gauss-Seidel,
///                             newton {average, worst} steps of the contact solver, contacts (most in a step),
///                             ambiguous_steps (with a contact that allowed several solutions or none)
///   energy                    named numbers, e.g. initial, final, dissipated, work, balance (J)
///   time                      seconds by phase, and total
///   versions, messages
/// Numbers are written with enough digits to read back the same bits. NaN and infinity, which JSON does not know, are written as null.
struct Summary {
  struct Output {
    std::vector<double> values;
    std::string unit = "1";
    std::string description;
    bool isArray = false; ///< an array even if it has one element
  };
  struct Newton {
    long iterations = 0;
    double average = 0;
    long worst = 0;
  };
  struct Contact {
    double penetration = 0, residual = 0;
    double averageSweeps = 0, averageNewtonSteps = 0;
    long worstSweeps = 0, worstNewtonSteps = 0;
    long mostContacts = 0;
    long ambiguousSteps = 0;
  };

  std::string status = "success";
  std::string scene;
  std::map<std::string, double> parameters;
  std::map<std::string, std::string> choices; ///< parameters that are texts; written under `parameters`, too
  std::map<std::string, Output> outputs;
  long steps = 0;
  Newton newton;
  double residual = 0;
  double penetration = 0;
  std::optional<Contact> contact;
  std::map<std::string, double> energy;
  std::map<std::string, double> time;
  std::map<std::string, std::string> versions;
  std::vector<std::string> messages;

  void output(const std::string& name, double value, const std::string& unit, const std::string& description = "");
  void output(const std::string& name, std::span<const double> values, const std::string& unit, const std::string& description = "");

  std::string json() const;
  /// Replaces the file in one step: a reader sees the old summary or the new one. Throws MachineFailure naming the path.
  void write(const std::filesystem::path& file) const;
};

}
