#pragma once
#include "tendril/studies/scheduler.h"

#include <chrono>
#include <deque>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace tendril {

/// A task on its way to a worker, or an answer on its way back.
struct Parcel {
  std::uint64_t task = 0;
  std::uint64_t mark = 0; ///< of an answer: how the task ended
  std::string bytes;
};

/// What becomes of a task, beside the ends of TaskEnd: given up because the pool was interrupted.
inline constexpr std::uint64_t dropped = 3;

/// Parcels in a row as bytes: task, mark and size as 8 bytes each, then the bytes.
void append(std::string& stream, std::uint64_t task, std::uint64_t mark, std::string_view bytes);
/// Takes the first parcel off the stream from `begin` on, if it is there whole.
std::optional<Parcel> take(std::string_view stream, std::size_t& begin);

/// How many tasks a worker shall hold when so many are left for so many workers: several while there are many, so that it never waits
/// for the next; one at the end, so that no worker is idle while another has a queue.
std::size_t tasksAhead(std::size_t left, std::size_t workers);

/// The workers of one process (see Scheduler).
class WorkerPool {
 public:
  WorkerPool(const Work& work, std::size_t workers);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// At most; there are no more than there were tasks at a time.
  std::size_t workers() const { return most_; }
  /// Tasks given and not yet answered.
  std::size_t pending() const { return pending_; }
  void give(std::uint64_t task, std::string bytes);
  /// Asks the workers to stop. From now on what waits is dropped, as is what ends without an answer.
  void interrupt();
  /// Waits at most so long for answers, and returns those that have come. Throws MachineFailure if no process can be started.
  std::vector<Parcel> collect(std::chrono::milliseconds patience);

 private:
  struct Worker {
    pid_t process = 0;
    int channel = -1;
    std::deque<Parcel> given; ///< the first is the one it is at
    std::size_t bytesGiven = 0;
    std::string received;
  };

  void feed();
  bool mayTakeMore(const Worker& worker, std::size_t depth) const;
  void start(Worker& worker);
  [[noreturn]] void work(int channel, pid_t parent) const;
  bool read(Worker& worker, std::vector<Parcel>& answers);
  void bury(Worker& worker, std::vector<Parcel>& answers);

  const Work& work_;
  const std::size_t most_;
  std::vector<Worker> workers_;
  std::deque<Parcel> waiting_;
  std::size_t pending_ = 0;
  bool isInterrupted_ = false;
};

}
