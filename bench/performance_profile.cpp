/// The performance profile of the friction solvers (Dolan & More 2002) over problem families and public test problems: for each solver the
/// share of problems that it solves within a factor tau of the time of the fastest. Draws the profile as SVG and prints tables in Markdown.
///
///     tendril_friction_profile --svg FILE --table FILE [--largest CONTACTS] [--data FOLDER]
///
/// Every solution runs in a process of its own: a solver that hangs, grows or crashes has failed on that problem and the others go on.
/// What uses the processor for more than 0.5 s and 1 ms per contact, or for more than 0.5 s and 20 times the time of Automatic, has failed,
/// too. Automatic may go on ten times as long, so that the table tells what it solves at all; for the profile it has failed then.
#include "friction_families.h"
#include "tendril/io/friction_file.h"
#include "tendril/model/error.h"
#include "tendril/solvers/friction_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tendril {
namespace {

namespace fs = std::filesystem;

struct Solver {
  FrictionMethod method;
  const char* name;
  const char* colour;
};
constexpr Solver solvers[] = {{FrictionMethod::Automatic, "automatic", "#c1272d"},
                              {FrictionMethod::GaussSeidel, "Gauss-Seidel", "#0071bc"},
                              {FrictionMethod::SemismoothNewton, "semismooth Newton", "#00a36c"},
                              {FrictionMethod::ProximalNewton, "proximal Newton", "#f7931e"},
                              {FrictionMethod::Admm, "ADMM", "#662d91"},
                              {FrictionMethod::InteriorPoint, "interior point", "#666666"}};
constexpr int solverCount = int(std::size(solvers));
constexpr double tolerances[] = {1e-4, 1e-8};
constexpr double never = std::numeric_limits<double>::infinity();

struct Problem {
  std::string group, name;
  FrictionProblem problem;
};

/// What a child process tells its parent.
struct Outcome {
  bool converged = false;
  double seconds = never; ///< of the processor; the shortest of several for short ones
  double residual = never;
  char method[160] = "";
};

struct Result {
  std::string group, name;
  int contacts = 0, bodies = 0;
  Outcome outcomes[std::size(tolerances)][solverCount];

  double limit() const { return 0.5 + 1e-3 * contacts; } ///< seconds
  double seconds(std::size_t t, int solver) const {      ///< `never` where the solver failed
    const Outcome& outcome = outcomes[t][solver];
    return outcome.converged && outcome.seconds <= limit() ? outcome.seconds : never;
  }
};

/// Of this thread: the clock of the process only ticks where limitTime() watches it.
double processorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// What the child does. Solutions are repeated until they last 0.1 s together, and the shortest counts, so that other work on the machine
/// counts little; a new solver each time, so that none profits from what it kept.
Outcome solve(const FrictionProblem& problem, FrictionMethod method, double tolerance) {
  Outcome outcome;
  FrictionOptions options;
  options.method = method;
  options.tolerance = tolerance;
  options.polish = false;
  Eigen::VectorXd r;
  double total = 0;
  do {
    FrictionSolver solver;
    r.setZero(problem.rows());
    const double begin = processorTime();
    const FrictionReport& report = solver.solve(problem, options, r);
    const double seconds = processorTime() - begin;
    total += seconds;
    outcome.seconds = std::min(outcome.seconds, seconds);
    outcome.converged = report.converged;
    outcome.residual = std::max(report.residual.published, report.residual.scaled);
    std::strncpy(outcome.method, report.method.c_str(), sizeof outcome.method - 1);
  } while (total < 0.1 && outcome.converged);
  return outcome;
}

/// Ends this process when it has used so much time of the processor.
void limitTime(double seconds) {
  const double whole = std::floor(seconds);
  const itimerval timer{{0, 0}, {time_t(whole), suseconds_t(1e6 * (seconds - whole))}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

Outcome solveApart(const FrictionProblem& problem, FrictionMethod method, double tolerance, double limit) {
  int channel[2];
  if (pipe(channel) != 0) throw MachineFailure("cannot open a pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw MachineFailure("cannot start a process");
  if (child == 0) {
    limitTime(limit);
    const Outcome outcome = solve(problem, method, tolerance);
    const bool told = write(channel[1], &outcome, sizeof outcome) == ssize_t(sizeof outcome);
    _exit(told ? 0 : 1);
  }
  close(channel[1]);
  Outcome outcome;
  if (read(channel[0], &outcome, sizeof outcome) != ssize_t(sizeof outcome)) outcome = {};
  close(channel[0]);
  waitpid(child, nullptr, 0);
  return outcome;
}

std::vector<Problem> gather(int largest, const fs::path& data) {
  std::vector<Problem> problems;
  for (const families::Family family : families::all)
    for (const int contacts : {10, 30, 100, 300, 1000, 3000, 10000})
      for (const unsigned seed : {0u, 1u})
        if (contacts <= largest)
          problems.push_back(
              {families::nameOf(family), fmt::format("{}, {}", contacts, seed), families::makeProblem(family, contacts, seed)});
  if (data.empty()) return problems;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(data))
    if (entry.path().extension() == ".dat" || entry.path().extension() == ".hdf5") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    FrictionFile content = readFrictionFile(file);
    problems.push_back({"public", file.filename().string(), content.problem()});
  }
  return problems;
}

Result measure(const Problem& problem) {
  Result result{problem.group, problem.name, problem.problem.contacts(), int(problem.problem.bodies.inverseInertia.size()), {}};
  for (std::size_t t = 0; t < std::size(tolerances); ++t) {
    double limit = 10 * result.limit();
    for (int s = 0; s < solverCount; ++s) {
      result.outcomes[t][s] = solveApart(problem.problem, solvers[s].method, tolerances[t], limit);
      if (s == 0) limit = std::min(result.limit(), 0.5 + 20 * result.seconds(t, 0));
    }
  }
  return result;
}

/// Times over the fastest of a problem, ascending; infinite where a solver failed.
std::vector<double> ratios(const std::vector<Result>& results, std::size_t t, int solver) {
  std::vector<double> values;
  for (const Result& result : results) {
    double best = never;
    for (int s = 0; s < solverCount; ++s) best = std::min(best, result.seconds(t, s));
    const double own = result.seconds(t, solver);
    values.push_back(own < never ? own / best : never);
  }
  std::sort(values.begin(), values.end());
  return values;
}

double share(const std::vector<double>& sorted, double tau) {
  return double(std::upper_bound(sorted.begin(), sorted.end(), tau) - sorted.begin()) / double(sorted.size());
}

// ---- The picture ----

constexpr double largestRatio = 256;

struct Panel {
  double left, top, width = 400, height = 260;
  double x(double tau) const { return left + width * std::log2(tau) / std::log2(largestRatio); }
  double y(double fraction) const { return top + height * (1 - fraction); }
};

std::string axes(const Panel& panel, double tolerance) {
  std::string svg =
      fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"title\">solved to {:.0e}</text>\n", panel.left, panel.top - 10, tolerance);
  for (int k = 0; k <= 5; ++k) {
    const double y = panel.y(0.2 * k);
    svg += fmt::format("<line x1=\"{0:.0f}\" y1=\"{2:.1f}\" x2=\"{1:.0f}\" y2=\"{2:.1f}\" class=\"grid\"/>\n", panel.left,
                       panel.left + panel.width, y);
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{} %</text>\n", panel.left - 6, y + 4, 20 * k);
  }
  for (double tau = 1; tau <= largestRatio; tau *= 4) {
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" class=\"grid\"/>\n", panel.x(tau), panel.top,
                       panel.y(0));
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:.0f}</text>\n", panel.x(tau), panel.y(0) + 16, tau);
  }
  return svg + fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">time over that of the fastest</text>\n",
                           panel.left + panel.width / 2, panel.y(0) + 34);
}

std::string curve(const Panel& panel, const std::vector<double>& sorted, const char* colour) {
  std::string points = fmt::format("{:.1f},{:.1f}", panel.x(1), panel.y(share(sorted, 1)));
  double height = share(sorted, 1);
  for (const double ratio : sorted) {
    if (ratio <= 1 || ratio > largestRatio) continue;
    const double next = share(sorted, ratio);
    points += fmt::format(" {0:.1f},{1:.1f} {0:.1f},{2:.1f}", panel.x(ratio), panel.y(height), panel.y(next));
    height = next;
  }
  points += fmt::format(" {:.1f},{:.1f}", panel.x(largestRatio), panel.y(height));
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour);
}

std::string picture(const std::vector<Result>& results) {
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"980\" height=\"400\" viewBox=\"0 0 980 400\">\n"
                    "<style>text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}.grid{stroke:#ddd}</style>\n"
                    "<rect width=\"980\" height=\"400\" fill=\"white\"/>\n";
  for (std::size_t t = 0; t < std::size(tolerances); ++t) {
    const Panel panel{60 + 490.0 * double(t), 40};
    svg += axes(panel, tolerances[t]);
    for (int s = solverCount - 1; s >= 0; --s) svg += curve(panel, ratios(results, t, s), solvers[s].colour);
  }
  for (int s = 0; s < solverCount; ++s) {
    const double x = 60 + 150 * s;
    svg += fmt::format("<line x1=\"{0:.0f}\" y1=\"370\" x2=\"{1:.0f}\" y2=\"370\" stroke=\"{2}\" stroke-width=\"3\"/>"
                       "<text x=\"{3:.0f}\" y=\"374\">{4}</text>\n",
                       x, x + 24, solvers[s].colour, x + 30, solvers[s].name);
  }
  return svg + "</svg>\n";
}

// ---- The tables ----

std::string machine() {
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string profileTable(const std::vector<Result>& results, std::size_t t) {
  std::string text = fmt::format("\n## Profile at {:.0e}\n\nShare of {} problems solved within a factor of the time of the fastest.\n\n",
                                 tolerances[t], results.size());
  text += "| solver | 1 | 2 | 5 | 20 | 100 | solved |\n|---|---|---|---|---|---|---|\n";
  for (int s = 0; s < solverCount; ++s) {
    const std::vector<double> sorted = ratios(results, t, s);
    text += fmt::format("| {} |", solvers[s].name);
    for (const double tau : {1.0, 2.0, 5.0, 20.0, 100.0, 1e300}) text += fmt::format(" {:.0f} % |", 100 * share(sorted, tau));
    text += "\n";
  }
  return text;
}

/// Names what the cascade leaves unsolved.
std::string unsolved(const std::vector<Result>& results) {
  std::string text = "\n## Not solved by the cascade\n\nWithin ten times the limit of the others.\n\n";
  for (std::size_t t = 0; t < std::size(tolerances); ++t) {
    std::string names;
    for (const Result& result : results)
      if (!result.outcomes[t][0].converged) names += fmt::format("{}{}: {}", names.empty() ? "" : "; ", result.group, result.name);
    text += fmt::format("- at {:.0e}: {}\n", tolerances[t], names.empty() ? "none" : names);
  }
  return text;
}

std::string problemTable(const std::vector<Result>& results) {
  constexpr std::size_t t = std::size(tolerances) - 1;
  std::string text = fmt::format("\n## Times at {:.0e}\n\nMilliseconds; a dash: not solved within the limit. For families: contacts asked "
                                 "for, seed.\n\n| problem | contacts |",
                                 tolerances[t]);
  for (const Solver& solver : solvers) text += fmt::format(" {} |", solver.name);
  text += " residual | automatic did |\n|---|---|" + [] {
    std::string bars;
    for (int s = 0; s < solverCount + 2; ++s) bars += "---|";
    return bars;
  }() + "\n";
  for (const Result& result : results) {
    text += fmt::format("| {}: {} | {} |", result.group, result.name, result.contacts);
    for (const Outcome& outcome : result.outcomes[t]) text += outcome.converged ? fmt::format(" {:.3g} |", 1e3 * outcome.seconds) : " - |";
    const Outcome& own = result.outcomes[t][0];
    text += own.residual < never ? fmt::format(" {:.1e} | {} |\n", own.residual, own.method) : " - | - |\n";
  }
  return text;
}

std::string tables(const std::vector<Result>& results, int largest) {
  std::string text = "# Friction solvers: profile and times\n\n";
  text += fmt::format(
      "Machine: {}, {} threads; `make bench` writes this page and the picture anew (the path is in its output).\n"
      "Cold start from zero impulses, both residuals below the tolerance, no polish. Each solver on its own; `automatic` is the cascade.\n"
      "One thread, time of the processor, the shortest of several runs. The problems are those of `bench/friction_families.h`, up to {} "
      "contacts, and the public "
      "files "
      "of\n"
      "`tests/data/fc3d`.\n",
      machine(), sysconf(_SC_NPROCESSORS_ONLN), largest);
  for (std::size_t t = 0; t < std::size(tolerances); ++t) text += profileTable(results, t);
  return text + unsolved(results) + problemTable(results);
}

struct Options {
  fs::path svg, table, data;
  int largest = 3000;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--svg")
      options.svg = argv[i + 1];
    else if (name == "--table")
      options.table = argv[i + 1];
    else if (name == "--data")
      options.data = argv[i + 1];
    else if (name == "--largest")
      options.largest = std::stoi(argv[i + 1]);
    else
      throw InputError(name + ": unknown option; there are --svg, --table, --data and --largest");
  }
  return options;
}

void writeText(const fs::path& file, const std::string& text) {
  if (file.empty()) return;
  if (file.has_parent_path()) fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << text;
  if (!stream.flush()) throw MachineFailure("cannot write " + file.string());
  fmt::print("wrote {}\n", file.string());
}

int run(const Options& options) {
  std::vector<Result> results;
  for (const Problem& problem : gather(options.largest, options.data)) {
    results.push_back(measure(problem));
    const Outcome& automatic = results.back().outcomes[std::size(tolerances) - 1][0];
    fmt::print("{:12} {:45} {:>6} contacts  {:9.4f} s  {:.1e}  {}{}\n", problem.group, problem.name, problem.problem.contacts(),
               automatic.seconds, automatic.residual, automatic.method, automatic.converged ? "" : "  NOT SOLVED");
    std::fflush(stdout);
  }
  const std::string text = tables(results, options.largest);
  if (options.table.empty()) fmt::print("{}", text);
  writeText(options.table, text);
  writeText(options.svg, picture(results));
  return 0;
}

}
}

int main(int argc, char** argv) {
  try {
    return tendril::run(tendril::parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
