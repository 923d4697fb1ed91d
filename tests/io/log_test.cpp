#include "support/files.h"
#include "tendril/io/log.h"

#include <sstream>
#include <thread>

using namespace tendril;
using tendril::testing::expectError;
using tendril::testing::readAll;
using tendril::testing::TemporaryFolder;

TEST(Log, WritesAllToTheFileAndTheImportantToTheTerminal) {
  const TemporaryFolder folder;
  std::ostringstream terminal;
  {
    Log log(LogLevel::Warning, terminal);
    log.info("before the file is open");
    log.open(folder / "log.txt");
    log.debug("details");
    log.warning("step cut");
    log.error("no convergence");
  }
  const std::string text = readAll(folder / "log.txt");
  for (const char* part : {"] info: before the file is open\n", "] debug: details\n", "] warning: step cut\n", "] error: no convergence\n"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(terminal.str(), "warning: step cut\nerror: no convergence\n");
}

TEST(Log, KeepsDistinctMessagesForTheSummary) {
  std::ostringstream terminal;
  Log log(LogLevel::Error, terminal);
  for (int i = 0; i < 3; ++i) log.warning("step cut");
  log.info("not kept");
  log.error("stop");
  EXPECT_EQ(log.messages(), (std::vector<std::string>{"step cut (3 times)", "stop"}));
  for (int i = 0; i < 200; ++i) log.warning("message " + std::to_string(i));
  EXPECT_EQ(log.messages().size(), Log::maxKept + 1);
  EXPECT_EQ(log.messages().back(), "102 more messages, see the log");
}

TEST(Log, LinesOfSeveralThreadsStayWhole) {
  const TemporaryFolder folder;
  std::ostringstream terminal;
  Log log(LogLevel::Error, terminal);
  log.open(folder / "log.txt");
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back([&log] {
        for (int i = 0; i < 200; ++i) log.info("abcdefghij");
      });
  }
  std::istringstream text(readAll(folder / "log.txt"));
  int count = 0;
  for (std::string line; std::getline(text, line); ++count) EXPECT_EQ(line.substr(line.find(']')), "] info: abcdefghij");
  EXPECT_EQ(count, 800);
}

TEST(Log, AFullDiskIsReportedOnceAndStopsNothing) {
  std::ostringstream terminal;
  Log log(LogLevel::Error, terminal);
  log.open("/dev/full");
  for (int i = 0; i < 3; ++i) log.info("lost");
  EXPECT_EQ(terminal.str(), "warning: the log cannot be written any more (disk full?); the run goes on\n");
}

TEST(Log, NamesTheFileItCannotCreate) {
  Log log;
  expectError<MachineFailure>([&] { log.open("/nowhere/log.txt"); }, {"/nowhere/log.txt", "No such file", "another folder"});
}
