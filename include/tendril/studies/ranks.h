#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// The processes of a job of MPI (`mpirun -n K tendril ...`), of which this is one; or this process alone, where it was not started as one
/// of a job, or where the build has no MPI. At most one object in a process's life.
class Ranks {
 public:
  /// Joins the job.
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  /// Leaves it. Waits for all ranks, so every rank has to come here.
  ~Ranks();

  /// Whether this build has MPI.
  static bool areSupported();
  /// Whether this process was started as one of a job, though it may be the only one.
  bool isJob() const { return isJob_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool isRoot() const { return rank_ == 0; }
  /// Processes of a job that a build without MPI cannot join: it is left to rank 0, and the others have nothing to do. 1 otherwise.
  int unjoined() const { return unjoined_; }

  /// Returns at once; messages between two ranks arrive in the order in which they were sent.
  void send(int to, std::string message);
  /// Whether there was a message, which is then taken.
  bool receive(int& from, std::string& message);
  /// The texts of all ranks, on every rank. Every rank has to call it.
  std::vector<std::string> gather(const std::string& mine);
  /// Ends all ranks at once, for what none of them can go on from.
  [[noreturn]] void abandon(int code);

 private:
  struct Outbox;
  std::unique_ptr<Outbox> outbox_;
  int rank_ = 0, size_ = 1, unjoined_ = 1;
  bool isJob_ = false;
};

/// Prepares on every rank what all of them need. `prepare` returns in bytes what has to be the same everywhere. What it throws on one rank
/// ends it on all, so that none waits for another: its own exception there, InputError elsewhere and where ranks do not agree on `what`.
void agree(Ranks& ranks, const std::string& what, const std::function<std::string()>& prepare);

}
