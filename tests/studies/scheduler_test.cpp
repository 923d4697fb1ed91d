#include "tendril/studies/scheduler.h"

#include "studies/worker_pool.h"
#include "support/files.h"
#include "tendril/studies/ranks.h"

#include <csignal>
#include <map>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

namespace tendril::testing {
namespace {

struct Answer {
  TaskEnd end;
  std::string bytes;
};

std::map<std::size_t, Answer> runAll(Scheduler& scheduler, std::size_t count, const std::function<std::string(std::size_t)>& task) {
  std::map<std::size_t, Answer> answers;
  const auto collect = [&](std::size_t number, TaskEnd end, std::string bytes) {
    EXPECT_TRUE(answers.try_emplace(number, Answer{end, std::move(bytes)}).second) << "task " << number << " was answered twice";
  };
  EXPECT_TRUE(scheduler.run(count, task, collect));
  EXPECT_EQ(answers.size(), count);
  return answers;
}

std::string numbered(std::size_t number) { return std::to_string(number); }

std::string square(std::string_view task) {
  const long number = std::stol(std::string(task));
  return std::to_string(number * number);
}

// One process serves all tests: there is one job in its life.
Ranks& ranks() {
  static Ranks alone;
  return alone;
}

TEST(Scheduler, AnswersEachTaskOnceWhateverTheNumberOfWorkers) {
  for (const int workers : {1, 2, 5}) {
    Scheduler scheduler(ranks(), square, {.workers = workers});
    EXPECT_EQ(scheduler.workers(), workers);
    for (const std::size_t count : {0u, 1u, 3u, 400u}) {
      for (const auto& [number, answer] : runAll(scheduler, count, numbered)) {
        EXPECT_EQ(answer.end, TaskEnd::Done);
        EXPECT_EQ(answer.bytes, std::to_string(number * number));
      }
    }
  }
}

TEST(Scheduler, GivesWorkToAllWorkers) {
  Scheduler scheduler(ranks(), [](std::string_view) { return usleep(2000), std::to_string(getpid()); }, {.workers = 3});
  std::map<std::string, int> tasks;
  for (const auto& [number, answer] : runAll(scheduler, 60, numbered)) ++tasks[answer.bytes];
  EXPECT_EQ(tasks.size(), 3u);
  for (const auto& [process, count] : tasks) EXPECT_GE(count, 8) << "of 60, a fair share is 20";
}

TEST(Scheduler, LosesOnlyTheTaskAtWhichAWorkerDies) {
  const auto work = [](std::string_view task) {
    if (task == "7") std::raise(SIGKILL);
    if (task == "20") std::_Exit(9);
    if (task == "31") throw std::runtime_error("no 31");
    return square(task);
  };
  Scheduler scheduler(ranks(), work, {.workers = 2});
  for (const auto& [number, answer] : runAll(scheduler, 200, numbered)) {
    const bool isLost = number == 7 || number == 20;
    EXPECT_EQ(answer.end, isLost ? TaskEnd::Killed : number == 31 ? TaskEnd::Threw : TaskEnd::Done) << number;
    const std::string expected = number == 7 ? "signal 9" : number == 20 ? "code 9" : number == 31 ? "no 31" : square(numbered(number));
    EXPECT_NE(answer.bytes.find(expected), std::string::npos) << answer.bytes;
  }
}

TEST(Scheduler, LosesNothingElseIfEveryTaskKillsItsWorker) {
  Scheduler scheduler(ranks(), [](std::string_view) { return std::raise(SIGKILL), std::string(); }, {.workers = 2});
  for (const auto& [number, answer] : runAll(scheduler, 20, numbered)) EXPECT_EQ(answer.end, TaskEnd::Killed);
}

// Longer than a channel holds, to and fro.
TEST(Scheduler, CarriesLongTasksAndAnswers) {
  Scheduler scheduler(ranks(), [](std::string_view task) { return std::string(task) + std::string(task); }, {.workers = 2});
  const auto task = [](std::size_t number) { return std::string(1 + number * 100000, char('a' + number)); };
  for (const auto& [number, answer] : runAll(scheduler, 8, task))
    EXPECT_EQ(answer.bytes, std::string(2 * (1 + number * 100000), char('a' + number)));
}

TEST(Scheduler, StopsOnRequestAndKeepsWhatIsDone) {
  int asked = 0;
  Scheduler scheduler(ranks(), [](std::string_view task) { return usleep(1000), std::string(task); },
                      {.workers = 2, .stop = [&] { return ++asked > 20; }});
  std::set<std::size_t> done;
  EXPECT_FALSE(scheduler.run(100000, numbered, [&](std::size_t number, TaskEnd end, const std::string&) {
    EXPECT_EQ(end, TaskEnd::Done);
    done.insert(number);
  }));
  EXPECT_GT(done.size(), 5u);
  EXPECT_LT(done.size(), 10000u);
}

/// With few files that this process may have open.
class FewFiles {
 public:
  FewFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Workers that are not needed cost nothing, and more of them than there can be processes are a failure with a name.
TEST(Scheduler, MayHaveMoreWorkersThanFilesButNotUseThem) {
  const FewFiles few;
  Scheduler scheduler(ranks(), square, {.workers = 1000000});
  EXPECT_EQ(runAll(scheduler, 10, numbered).size(), 10u);
  Scheduler busy(ranks(), [](std::string_view) { return sleep(60), ""; }, {.workers = 1000});
  expectError<MachineFailure>([&] { busy.run(1000, numbered, [](std::size_t, TaskEnd, const std::string&) {}); }, {"worker", "-j"});
}

TEST(Scheduler, EndsWorkersThatAreBusyWhenItIsLeftEarly) {
  const auto begin = std::chrono::steady_clock::now();
  {
    Scheduler scheduler(ranks(), [](std::string_view task) { return task == "0" ? "" : (sleep(60), ""); }, {.workers = 2});
    EXPECT_THROW(scheduler.run(3, numbered, [](std::size_t, TaskEnd, const std::string&) { throw std::runtime_error("full"); }),
                 std::runtime_error);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Scheduler, KeepsQueuesShortTowardsTheEnd) {
  EXPECT_EQ(tasksAhead(3, 2), 1u);
  EXPECT_EQ(tasksAhead(40, 2), 10u);
  EXPECT_EQ(tasksAhead(1000000, 2), 64u);
}

// Ends of a stream that come in pieces are waited for.
TEST(Scheduler, PutsParcelsTogether) {
  std::string stream;
  append(stream, 5, 1, "five");
  append(stream, 6, 2, "");
  for (std::size_t length = 0; length < stream.size(); ++length) {
    std::size_t begin = 0;
    const auto first = take(std::string_view(stream).substr(0, length), begin);
    EXPECT_EQ(first.has_value(), length >= 28) << length;
  }
  std::size_t begin = 0;
  const auto first = take(stream, begin), second = take(stream, begin);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->task, 5u);
  EXPECT_EQ(first->bytes, "five");
  EXPECT_EQ(second->mark, 2u);
  EXPECT_FALSE(take(stream, begin));
}

}
}
