#include "app/commands.h"
#include "tendril/io/friction_file.h"
#include "tendril/model/error.h"
#include "tendril/scenes/friction_methods.h"
#include "tendril/solvers/friction_solver.h"
#include "tendril/solvers/lcp.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Format = FrictionFileOptions::Format;

struct Method {
  std::string name;
  std::optional<FrictionMethod> friction;
  std::optional<FrictionlessMethod> frictionless;
};
/// Besides the solvers that scenes have too (friction_methods.h): those of contact without friction.
struct FrictionlessName {
  const char* name;
  FrictionlessMethod method;
};
constexpr FrictionlessName frictionlessNames[] = {{"lemke", FrictionlessMethod::Lemke}, {"active-set", FrictionlessMethod::ActiveSet}};

struct Options {
  std::vector<fs::path> files;
  std::string solver = "automatic";
  std::string format = "automatic";
  double tolerance = 1e-8;
  int threads = 1;
  long maxIterations = 0;
  fs::path write, convert;
  bool json = false;
  bool force = false;
};

/// What is printed of one file.
struct Answer {
  fs::path file;
  std::string title;
  int contacts = 0, rows = 0, velocities = 0;
  std::size_t blocks = 0;
  std::optional<int> rank;
  FrictionReport report;
  Eigen::VectorXd impulses;

  /// Rows of contacts per velocity of the system; where that is not known, per row of W's rank.
  std::optional<double> density() const {
    const int freedoms = velocities > 0 ? velocities : rank.value_or(0);
    return freedoms > 0 ? std::optional(double(rows) / freedoms) : std::nullopt;
  }
  std::optional<double> rankRatio() const { return rank && *rank > 0 ? std::optional(double(rows) / *rank) : std::nullopt; }
};

Method findMethod(const std::string& name) {
  if (const FrictionMethodName* known = findFrictionMethod(name)) return {known->name, known->method, {}};
  for (const FrictionlessName& known : frictionlessNames)
    if (name == known.name) return {known.name, {}, known.method};
  throw InputError("--solver " + name + ": no such solver");
}

FrictionReport solveWithoutFriction(const FrictionProblem& problem, FrictionlessMethod method, const Options& options, Eigen::VectorXd& r) {
  const auto start = std::chrono::steady_clock::now();
  const FrictionlessReport pivoting = solveFrictionless(problem, method, r);
  FrictionReport report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Eigen::VectorXd u;
  velocities(problem, r, u);
  report.residual = frictionResidual(problem, r, u);
  report.method =
      fmt::format("{} pivots of {}", pivoting.pivots, method == FrictionlessMethod::Lemke ? "Lemke's method" : "the active-set method");
  report.failure = pivoting.message;
  report.converged =
      pivoting.status == PivotStatus::Solved && std::max(report.residual.published, report.residual.scaled) <= options.tolerance;
  if (!report.converged && report.failure.empty()) report.failure = fmt::format("the residual is {:.2e}", report.residual.scaled);
  return report;
}

FrictionReport solve(const fs::path& file, const FrictionProblem& problem, const Options& options, Eigen::VectorXd& r) {
  const Method method = findMethod(options.solver);
  r = Eigen::VectorXd::Zero(problem.rows());
  if (method.frictionless) try {
      return solveWithoutFriction(problem, *method.frictionless, options, r);
    } catch (const std::invalid_argument& error) {
      throw InputError({file.string()}, "", error.what());
    }
  FrictionSolver solver;
  FrictionOptions given;
  given.method = *method.friction;
  given.tolerance = options.tolerance;
  given.maxIterations = options.maxIterations;
  given.threads = options.threads;
  return solver.solve(problem, given, r);
}

void write(const fs::path& target, const FrictionFile& content, const Options& options) {
  const Format format = options.format == "text"     ? Format::Text
                        : options.format == "local"  ? Format::FclibLocal
                        : options.format == "global" ? Format::FclibGlobal
                                                     : Format::Automatic;
  writeFrictionFile(target, content, {format, options.force});
}

Answer treat(const fs::path& file, const Options& options) {
  FrictionFile content = readFrictionFile(file);
  const FrictionProblem& problem = content.problem();
  Answer answer;
  answer.file = file;
  answer.title = content.title;
  answer.contacts = problem.contacts();
  answer.rows = problem.rows();
  answer.velocities = content.velocities;
  answer.blocks = problem.hasBodies() ? delassus(problem).blocks.size() : problem.W.blocks.size();
  answer.rank = rankOf(problem);
  answer.report = solve(file, problem, options, answer.impulses);
  content.solution = answer.impulses;
  if (!options.write.empty()) write(options.write, content, options);
  return answer;
}

Json toJson(const Answer& answer, const Options& options) {
  const FrictionReport& report = answer.report;
  const auto orNull = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"file", answer.file.string()},
          {"title", answer.title},
          {"contacts", answer.contacts},
          {"rows", answer.rows},
          {"blocks", answer.blocks},
          {"velocities", answer.velocities > 0 ? Json(answer.velocities) : Json()},
          {"rank", orNull(answer.rank)},
          {"rank_ratio", orNull(answer.rankRatio())},
          {"contact_density", orNull(answer.density())},
          {"solver", findMethod(options.solver).name},
          {"method", report.method},
          {"tolerance", options.tolerance},
          {"converged", report.converged},
          {"residual",
           {{"published", report.residual.published}, {"scaled", report.residual.scaled}, {"worst_contact", report.residual.worst}}},
          {"sweeps", report.sweeps},
          {"newton_steps", report.newtonSteps},
          {"factorisations", report.factorisations},
          {"islands", report.islands},
          {"seconds", report.seconds},
          {"ambiguous", report.ambiguous},
          {"failure", report.failure},
          {"impulses", std::vector<double>(answer.impulses.begin(), answer.impulses.end())}};
}

std::string ambiguity(const std::vector<int>& contacts) {
  constexpr std::size_t shown = 10;
  const std::vector<int> first(contacts.begin(), contacts.begin() + std::ptrdiff_t(std::min(shown, contacts.size())));
  return fmt::format("{} of the contacts may have several solutions or none (mu |W_nt| > W_nn, Painleve): {}{}", contacts.size(),
                     fmt::join(first, ", "), contacts.size() > shown ? ", ..." : "");
}

void print(const Answer& answer, const Options& options) {
  const FrictionReport& report = answer.report;
  fmt::print("{}{}{}\n", answer.file.string(), answer.title.empty() ? "" : ": ", answer.title);
  fmt::print("  size        {} contacts, {} rows, {} nonzero blocks\n", answer.contacts, answer.rows, answer.blocks);
  if (answer.rank)
    fmt::print("  rank        {} of {} rows{}\n", *answer.rank, answer.rows,
               answer.rankRatio() ? fmt::format(", ratio {:.3f}", *answer.rankRatio()) : "");
  else
    fmt::print("  rank        not computed: an island of contacts is too large\n");
  if (const auto density = answer.density())
    fmt::print("  density     {:.3f} rows of contacts per {}\n", *density,
               answer.velocities > 0 ? fmt::format("velocity ({} velocities)", answer.velocities) : "row of the rank");
  fmt::print("  solver      {}: {}\n", findMethod(options.solver).name, report.method.empty() ? "nothing to do" : report.method);
  fmt::print("  iterations  {} sweeps, {} Newton steps, {} factorisations, {} islands\n", report.sweeps, report.newtonSteps,
             report.factorisations, report.islands);
  fmt::print("  residual    {:.2e} as published, {:.2e} scaled; tolerance {:.0e}\n", report.residual.published, report.residual.scaled,
             options.tolerance);
  fmt::print("  time        {:.4f} s\n", report.seconds);
  if (!report.ambiguous.empty()) fmt::print("  warning     {}\n", ambiguity(report.ambiguous));
  fmt::print("  {}\n", report.converged ? "solved" : "not converged: " + report.failure);
}

void printTable(const std::vector<Answer>& answers) {
  std::size_t width = 4;
  for (const Answer& answer : answers) width = std::max(width, answer.file.filename().string().size());
  fmt::print("{:{}}  {:>8}  {:>8}  {:>5}  {:>7}  {:>9}  {:>9}  {:>9}  {}\n", "file", width, "contacts", "blocks", "rank", "density",
             "published", "scaled", "time [s]", "what was done");
  for (const Answer& answer : answers) {
    const FrictionReport& report = answer.report;
    fmt::print("{:{}}  {:>8}  {:>8}  {:>5}  {:>7}  {:>9.1e}  {:>9.1e}  {:>9.4f}  {}{}{}\n", answer.file.filename().string(), width,
               answer.contacts, answer.blocks, answer.rank ? fmt::format("{}", *answer.rank) : "-",
               answer.density() ? fmt::format("{:.3f}", *answer.density()) : "-", report.residual.published, report.residual.scaled,
               report.seconds, report.method, report.converged ? "" : "; NOT CONVERGED",
               report.ambiguous.empty() ? "" : fmt::format("; {} ambiguous", report.ambiguous.size()));
  }
}

void show(const std::vector<Answer>& answers, const Options& options) {
  if (options.json) {
    Json list = Json::array();
    for (const Answer& answer : answers) list.push_back(toJson(answer, options));
    fmt::print("{}\n", list.dump(2));
  } else if (options.files.size() == 1) {
    for (const Answer& answer : answers) print(answer, options);
  } else
    printTable(answers);
}

int contact(const Options& options) {
  if (!(options.tolerance > 0) || std::isinf(options.tolerance)) throw InputError("--tol: expected a positive number, such as 1e-8");
  const bool many = options.files.size() > 1;
  if (many && !(options.write.empty() && options.convert.empty()))
    throw InputError("--write and --convert take one FILE; several were given");
  if (!options.convert.empty()) {
    write(options.convert, readFrictionFile(options.files[0]), options);
    return Success;
  }
  if (!options.write.empty() && !options.force && fs::exists(options.write))
    throw InputError({options.write.string()}, "", "the file exists already", "choose another name, or replace it with --force");
  std::vector<Answer> answers;
  int code = Success;
  for (const fs::path& file : options.files) {
    try {
      answers.push_back(treat(file, options));
    } catch (const InputError& error) {
      if (!many) throw;
      fmt::print(stderr, "error: {}\n", error.what());
      code = WrongInput;
      continue;
    }
    if (!answers.back().report.converged && code == Success) code = NumericsFailed;
  }
  show(answers, options);
  return code;
}

}

void addContact(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("contact", "Solve the friction problem of a file (FCLIB or text), compare solvers, convert files");
  const auto options = std::make_shared<Options>();
  std::vector<std::string> names = frictionMethodWords();
  for (const FrictionlessName& known : frictionlessNames) names.emplace_back(known.name);
  command->add_option("file", options->files, "Files with friction problems; several give a table")->required()->type_name("FILE");
  command
      ->add_option("--solver", options->solver,
                   "The solver; automatic is the cascade, the others are on their own, the last two for contact without friction")
      ->check(CLI::IsMember(names))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--tol", options->tolerance, "Tolerance of both residuals")->capture_default_str();
  command->add_option("--threads", options->threads, "Threads; the result does not depend on it")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--max-iterations", options->maxIterations, "Limit of outer iterations; 0: the solver's own")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--write", options->write, "Write the problem with its solution to this file")->type_name("FILE");
  command->add_option("-o,--convert", options->convert, "Write the problem to this file, without solving it")->type_name("FILE");
  command->add_option("--format", options->format, "Of the file written: text, local, global (FCLIB); automatic goes by name and problem")
      ->check(CLI::IsMember({"automatic", "text", "local", "global"}))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--force", options->force, "Replace files that exist");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return contact(*options); }; });
}

}
