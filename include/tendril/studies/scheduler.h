#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tendril {

class Ranks;

/// What a worker does with a task: bytes in, bytes out. It runs in a process of its own and may be given any task at any time, so the
/// answer must depend on the task alone; then all numbers are the same whoever computed them, and how many did.
using Work = std::function<std::string(std::string_view task)>;

enum class TaskEnd {
  Done,  ///< the bytes are the answer
  Threw, ///< the bytes are the message of the exception
  Killed ///< the process of the worker ended; the bytes say how
};

/// Takes the answers, in the order in which they come.
using Collect = std::function<void(std::size_t task, TaskEnd end, std::string bytes)>;

struct SchedulerOptions {
  /// Workers of this rank; 0: one in a job of ranks, as many as ranks where the build cannot join them, else one per core of this machine.
  int workers = 0;
  /// Asked about every tenth of a second. Once true, nothing more is handed out, and workers get SIGTERM once.
  std::function<bool()> stop = {};
};

/// Hands tasks out to workers as they become free. Workers are processes that are forked when there is something to do, with what `work`
/// has captured, and that take task after task: one that crashes or is killed costs the task it was at, and another takes its place. They
/// hold nothing of this process but a channel to it, and end with it, however it ends.
///
/// In a job of several ranks each rank has workers; the root hands tasks to all, and the other ranks `serve`. A worker is given several
/// tasks ahead while there are many, one when few are left, so that all end at about the same time.
class Scheduler {
 public:
  /// The ranks must outlive the scheduler.
  Scheduler(Ranks& ranks, Work work, SchedulerOptions options = {});
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  /// On the root, ends the service of the other ranks.
  ~Scheduler();

  /// Root: works off tasks 0 to count - 1; `task` makes the bytes of a task when it is handed out. An exception of either function ends it,
  /// as does MachineFailure if no process can be started.
  /// False if it was stopped before all were done; otherwise it may be called again and again.
  bool run(std::size_t count, const std::function<std::string(std::size_t)>& task, const Collect& collect);
  /// Other ranks: works for the root until its scheduler ends.
  void serve();
  /// Workers of all ranks.
  int workers() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
