#include "support/files.h"
#include "tendril/io/results.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

using namespace tendril;
using tendril::testing::expectError;
using tendril::testing::readAll;
using tendril::testing::TemporaryFolder;
using tendril::testing::writeAll;

namespace {

const RunMetadata metadata{"0.1.0", "tendril: 1\n# a scene\n", {"run", "scene.yaml", "--set", "h=0.1"}};
const std::chrono::duration<double> never(1e9);

/// State entry j of row i, so that every number of the file is known.
double entry(std::size_t i, int j) { return 1000.0 * static_cast<double>(i) + j; }

struct Recording {
  explicit Recording(ResultWriter file, int columns = 5) : writer(std::move(file)), row(columns) {
    q = writer.addState("q", columns, {"m", "Positions.", "inertial"});
    lambda = writer.addState("lambda", 0);
    energy = writer.addOutput("energy", 1, {"J", "Total energy.", ""});
  }
  void step(std::size_t i) {
    std::iota(row.begin(), row.end(), entry(i, 0));
    writer.set(q, row);
    writer.set(energy, -static_cast<double>(i));
    writer.endStep(0.1 * static_cast<double>(i));
  }
  ResultWriter writer;
  std::vector<double> row;
  ResultWriter::Series q, lambda, energy;
};

/// The file holds exactly the rows 0..n-1 of a Recording.
void expectRows(const std::filesystem::path& file, std::size_t n, int columns = 5) {
  const ResultReader reader(file);
  ASSERT_EQ(reader.rows(), n);
  const auto q = reader.state("q");
  const auto energy = reader.output("energy");
  const Eigen::VectorXd time = reader.time();
  ASSERT_EQ(q.rows(), static_cast<Eigen::Index>(n));
  ASSERT_EQ(q.cols(), columns);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(time[i], 0.1 * static_cast<double>(i));
    ASSERT_EQ(energy(i, 0), -static_cast<double>(i));
    for (int j = 0; j < columns; ++j) ASSERT_EQ(q(i, j), entry(i, j)) << i << ", " << j;
  }
}

/// Limits the size of files while alive, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }

 private:
  rlimit before{};
  void (*handler)(int);
};

}

TEST(Results, ComeBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  Recording run(ResultWriter(folder / "results.h5", metadata));
  for (std::size_t i = 0; i < 3000; ++i) run.step(i);
  EXPECT_EQ(run.writer.rows(), 3000u);
  run.writer.writeArray("impact_times", std::vector<double>{0.5, 1.5}, {"s", "Impacts.", ""});
  run.writer.writeArray("none", {}, {"s", "", ""});
  run.writer.close();
  EXPECT_EQ(run.writer.rowsOnDisk(), 3000u);
  expectRows(folder / "results.h5", 3000);
  const ResultReader reader(folder / "results.h5");
  EXPECT_EQ(reader.metadata().version, metadata.version);
  EXPECT_EQ(reader.metadata().scene, metadata.scene);
  EXPECT_EQ(reader.metadata().arguments, metadata.arguments);
  EXPECT_EQ(reader.states(), (std::vector<std::string>{"lambda", "q"}));
  EXPECT_EQ(reader.outputs(), (std::vector<std::string>{"energy", "impact_times", "none"}));
  EXPECT_EQ(reader.stateInfo("q").unit, "m");
  EXPECT_EQ(reader.stateInfo("q").description, "Positions.");
  EXPECT_EQ(reader.stateInfo("q").frame, "inertial");
  EXPECT_EQ(reader.state("lambda").cols(), 0);
  EXPECT_TRUE(reader.isSeries("energy"));
  EXPECT_FALSE(reader.isSeries("impact_times"));
  EXPECT_EQ(reader.output("impact_times")(1, 0), 1.5);
  EXPECT_EQ(reader.output("none").size(), 0);
  EXPECT_EQ(reader.stateRow("q", 2999)[4], entry(2999, 4));
  expectError<InputError>([&] { reader.stateRow("q", 3000); }, {"results.h5", "states/q", "no row 3000", "3000 rows"});
  expectError<InputError>([&] { reader.output("enrgy"); }, {"results.h5", "outputs/enrgy", "no such series"});
}

TEST(Results, LongScenesAndWideRowsFit) {
  const TemporaryFolder folder;
  const RunMetadata large{"0.1.0", std::string(200000, 'x'), {}};
  const int columns = 300000;
  {
    Recording run(ResultWriter(folder / "results.h5", large), columns);
    for (std::size_t i = 0; i < 3; ++i) run.step(i);
  }
  expectRows(folder / "results.h5", 3, columns);
  EXPECT_EQ(ResultReader(folder / "results.h5").metadata().scene, large.scene);
}

TEST(Results, ASeriesNotSetHoldsNaN) {
  const TemporaryFolder folder;
  {
    ResultWriter writer(folder / "results.h5", metadata);
    const auto x = writer.addOutput("x", 1, {});
    writer.set(x, 1);
    writer.endStep(0);
    writer.endStep(1);
    writer.set(x, 3);
    writer.endStep(2);
  }
  const auto x = ResultReader(folder / "results.h5").output("x");
  EXPECT_EQ(x(0, 0), 1);
  EXPECT_TRUE(std::isnan(x(1, 0)));
  EXPECT_EQ(x(2, 0), 3);
}

TEST(Results, TheSameRunGivesTheSameBytes) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    Recording run(ResultWriter(folder / name, metadata, never));
    for (std::size_t i = 0; i < 100; ++i) run.step(i);
    if (*name == 'a') std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }
  EXPECT_TRUE(readAll(folder / "a") == readAll(folder / "b"));
}

TEST(Results, CanBeReadWhileTheRunGoesOn) {
  const TemporaryFolder folder;
  Recording run(ResultWriter(folder / "results.h5", metadata, std::chrono::seconds(0)));
  for (std::size_t i = 0; i < 20; ++i) {
    run.step(i);
    expectRows(folder / "results.h5", i + 1);
  }
}

TEST(Results, AKilledRunLeavesAReadableFile) {
  const TemporaryFolder folder;
  std::size_t most = 0;
  for (int trial = 0; trial < 25; ++trial) {
    const std::filesystem::path file = folder / ("run" + std::to_string(trial));
    const pid_t child = fork();
    if (child == 0) {
      Recording run(ResultWriter(file, metadata, std::chrono::microseconds(200)), 40);
      writeAll(file.string() + ".started", "");
      for (std::size_t i = 0;; ++i) {
        run.step(i);
        if (i == 2000) writeAll(file.string() + ".far", "");
      }
    }
    // The last one is killed when it has come far, however busy the machine is.
    const std::string milestone = file.string() + (trial < 24 ? ".started" : ".far");
    while (!std::filesystem::exists(milestone)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 1700 * trial));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::size_t rows = ResultReader(file).rows();
    most = std::max(most, rows);
    expectRows(file, rows, 40);
  }
  EXPECT_GT(most, 100u);
}

TEST(Results, AFullDiskKeepsTheFlushedRowsReadable) {
  const TemporaryFolder folder;
  std::size_t kept = 0;
  for (const rlim_t limit : {600'000, 1'000'000, 3'333'333}) {
    Recording run(ResultWriter(folder / "results.h5", metadata, never), 50);
    const FileSizeLimit full(limit);
    expectError<MachineFailure>(
        [&] {
          for (std::size_t i = 0; i < 100000; ++i) run.step(i);
        },
        {"results.h5", "File too large", "rows are kept", "free space"});
    kept = run.writer.rowsOnDisk();
    expectError<MachineFailure>([&] { run.writer.flush(); }, {"earlier block"});
    run.writer.close();
    expectRows(folder / "results.h5", kept, 50);
  }
  EXPECT_GT(kept, 1000u);
}

TEST(Results, ADiskFullFromTheStartIsReported) {
  const TemporaryFolder folder;
  const FileSizeLimit full(1000);
  expectError<MachineFailure>([&] { ResultWriter(folder / "results.h5", metadata); },
                              {"results.h5", "File too large", "the first 0 of 0 rows"});
}

TEST(Results, FoldersThatCannotBeWrittenAreNamed) {
  expectError<MachineFailure>([] { ResultWriter("/nowhere/results.h5", metadata); },
                              {"/nowhere/results.h5", "No such file", "choose another folder"});
  expectError<MachineFailure>([] { ResultWriter("/proc/results.h5", metadata); }, {"/proc/results.h5"});
}

TEST(Results, ContinueAfterTheRowsOfACheckpoint) {
  const TemporaryFolder folder;
  {
    Recording run(ResultWriter(folder / "results.h5", metadata));
    for (std::size_t i = 0; i < 50; ++i) run.step(i);
    run.writer.writeArray("impact_times", std::vector<double>{1}, {});
  }
  {
    Recording run(ResultWriter::resume(folder / "results.h5", 30));
    for (std::size_t i = 30; i < 2000; ++i) run.step(i);
    run.writer.writeArray("impact_times", std::vector<double>{1, 2}, {});
  }
  expectRows(folder / "results.h5", 2000);
  EXPECT_EQ(ResultReader(folder / "results.h5").output("impact_times").rows(), 2);
  expectError<InputError>([&] { ResultWriter::resume(folder / "results.h5", 2001); },
                          {"holds only 2000 rows", "after 2001", "older checkpoint"});
  expectError<InputError>([&] { Recording(ResultWriter::resume(folder / "results.h5", 10), 6); },
                          {"states/q", "6 columns", "run without --resume"});
  expectError<InputError>([&] { ResultWriter::resume(folder / "absent.h5", 0); }, {"absent.h5", "cannot continue"});
}

TEST(Results, ListsHoldAnyNumberOfLinesPerStep) {
  const TemporaryFolder folder;
  const std::vector<ResultWriter::ListColumn> columns{{"position", 2, {"m", "Places.", "inertial"}}, {"part", 1, {}}};
  const auto write = [&](ResultWriter& writer, int from, int to) {
    const auto list = writer.addList("contacts", columns);
    for (int step = from; step < to; ++step) {
      for (int line = 0; line < step % 4; ++line) writer.append(list, std::vector<double>{double(step), line + 0.5, -double(line)});
      writer.endStep(step);
    }
    writer.close();
  };
  const auto expectLines = [&](std::size_t rows) {
    const ResultReader reader(folder / "results.h5");
    ASSERT_EQ(reader.rows(), rows);
    EXPECT_TRUE(reader.hasList("contacts"));
    for (std::size_t row = 0; row < rows; ++row) {
      const auto position = reader.list("contacts", "position", row), part = reader.list("contacts", "part", row);
      ASSERT_EQ(position.rows(), Eigen::Index(row % 4));
      ASSERT_EQ(part.rows(), position.rows());
      for (Eigen::Index line = 0; line < position.rows(); ++line) {
        EXPECT_EQ(position(line, 0), double(row));
        EXPECT_EQ(position(line, 1), double(line) + 0.5);
        EXPECT_EQ(part(line, 0), -double(line));
      }
    }
  };
  ResultWriter writer(folder / "results.h5", metadata);
  write(writer, 0, 50);
  expectLines(50);
  ResultWriter resumed = ResultWriter::resume(folder / "results.h5", 31);
  write(resumed, 31, 3000);
  expectLines(3000);
  EXPECT_FALSE(ResultReader(folder / "results.h5").hasList("others"));
}

TEST(Results, FilesThatAreNoResultsAreRefused) {
  const TemporaryFolder folder;
  writeAll(folder / "text.h5", "not an HDF5 file");
  expectError<InputError>([&] { ResultReader(folder / "text.h5"); },
                          {"text.h5", "not an HDF5 file, or it is damaged", "run the scene again"});
  expectError<InputError>([&] { ResultReader(folder / "absent.h5"); }, {"absent.h5", "no such file"});
}

TEST(Results, MistakesOfTheProgramAreCaught) {
  const TemporaryFolder folder;
  ResultWriter writer(folder / "results.h5", metadata);
  const auto q = writer.addState("q", 2);
  EXPECT_THROW(writer.addState("q", 2), std::logic_error);
  EXPECT_THROW(writer.set(q, 1.0), std::logic_error);
  writer.endStep(0);
  EXPECT_THROW(writer.addState("v", 2), std::logic_error);
}
