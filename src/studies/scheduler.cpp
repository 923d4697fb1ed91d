#include "tendril/studies/scheduler.h"

#include "studies/worker_pool.h"
#include "tendril/studies/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace tendril {

namespace {

using std::chrono::milliseconds;

/// First letter of a message from the root.
enum class Order : char { Work = 'w', Stop = 's', End = 'e' };

std::size_t workersOf(const Ranks& ranks, int wanted) {
  if (wanted > 0) return std::size_t(wanted);
  return ranks.isJob() ? std::size_t(ranks.unjoined()) : std::max(1u, std::thread::hardware_concurrency());
}

}

struct Scheduler::Impl {
  Impl(Ranks& all, Work what, SchedulerOptions wishes)
      : ranks(all), work(std::move(what)), options(std::move(wishes)), pool(work, workersOf(all, options.workers)) {
    for (const std::string& count : ranks.gather(std::to_string(pool.workers()))) workersOfRank.push_back(std::stoul(count));
    held.resize(workersOfRank.size());
    for (const std::size_t count : workersOfRank) workers += count;
  }

  bool isStopAsked() const { return options.stop && options.stop(); }
  /// Messages have to be looked for; answers of this rank's own workers wake it.
  milliseconds patience() const { return milliseconds(ranks.size() > 1 ? 1 : 100); }

  void handOut(std::size_t& next, std::size_t count, const std::function<std::string(std::size_t)>& task);
  void stopAll();
  std::vector<Parcel> answers();

  Ranks& ranks;
  const Work work;
  SchedulerOptions options;
  WorkerPool pool;
  std::vector<std::size_t> workersOfRank, held; ///< by rank: tasks handed to it and not yet answered
  std::size_t workers = 0;
};

/// Fills a rank up once it holds half of what it shall, or has an idle worker: few messages, and none of them in a hurry.
void Scheduler::Impl::handOut(std::size_t& next, std::size_t count, const std::function<std::string(std::size_t)>& task) {
  for (std::size_t r = 0; r < held.size(); ++r) {
    const std::size_t wanted = tasksAhead(count - next, workers) * workersOfRank[r];
    if (held[r] >= std::max(wanted / 2, workersOfRank[r])) continue;
    std::string message(1, char(Order::Work));
    for (; held[r] < wanted && next < count; ++next, ++held[r]) {
      if (r == 0)
        pool.give(next, task(next));
      else
        append(message, next, 0, task(next));
    }
    if (message.size() > 1) ranks.send(int(r), std::move(message));
  }
}

void Scheduler::Impl::stopAll() {
  pool.interrupt();
  for (int r = 1; r < ranks.size(); ++r) ranks.send(r, {char(Order::Stop)});
}

/// Of this rank's workers and of the other ranks.
std::vector<Parcel> Scheduler::Impl::answers() {
  std::vector<Parcel> all = pool.collect(patience());
  held[0] -= all.size();
  int from = 0;
  std::string message;
  while (ranks.receive(from, message)) {
    for (std::size_t begin = 0; auto answer = take(message, begin);) {
      --held[std::size_t(from)];
      all.push_back(std::move(*answer));
    }
  }
  return all;
}

Scheduler::Scheduler(Ranks& ranks, Work work, SchedulerOptions options)
    : impl_(std::make_unique<Impl>(ranks, std::move(work), std::move(options))) {}

Scheduler::~Scheduler() {
  if (!impl_->ranks.isRoot()) return;
  Ranks& ranks = impl_->ranks;
  for (int r = 1; r < ranks.size(); ++r) ranks.send(r, {char(Order::End)});
  // Each answers with an empty message, the last after all that it had on the way.
  for (int there = ranks.size() - 1; there > 0;) {
    int from = 0;
    std::string message;
    while (ranks.receive(from, message)) there -= message.empty() ? 1 : 0;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

bool Scheduler::run(std::size_t count, const std::function<std::string(std::size_t)>& task, const Collect& collect) {
  Impl& m = *impl_;
  bool isStopped = false;
  for (std::size_t next = 0, open = count; open > 0;) {
    if (!isStopped && m.isStopAsked()) {
      isStopped = true;
      m.stopAll();
      open -= count - next;
      next = count;
    }
    m.handOut(next, count, task);
    for (Parcel& answer : m.answers()) {
      --open;
      if (answer.mark == dropped)
        isStopped = true;
      else
        collect(answer.task, TaskEnd(answer.mark), std::move(answer.bytes));
    }
  }
  return !isStopped;
}

void Scheduler::serve() try {
  Impl& m = *impl_;
  bool isStopped = false;
  while (true) {
    int from = 0;
    std::string message;
    while (m.ranks.receive(from, message)) {
      if (message[0] == char(Order::End)) return m.ranks.send(0, "");
      if (message[0] == char(Order::Stop)) m.pool.interrupt();
      for (std::size_t begin = 1; auto parcel = take(message, begin);) m.pool.give(parcel->task, std::move(parcel->bytes));
    }
    if (!isStopped && m.isStopAsked()) m.pool.interrupt(), isStopped = true;
    std::string answers;
    for (const Parcel& answer : m.pool.collect(m.patience())) append(answers, answer.task, answer.mark, answer.bytes);
    if (!answers.empty()) m.ranks.send(0, std::move(answers));
  }
} catch (const std::exception& error) {
  // The root would wait for this rank for ever.
  fmt::print(stderr, "error: rank {}: {}\n", impl_->ranks.rank(), error.what());
  impl_->ranks.abandon(4);
}

int Scheduler::workers() const { return int(impl_->workers); }
}
