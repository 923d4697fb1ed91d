#include "studies/worker_pool.h"

#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tendril {

namespace {

constexpr std::size_t headSize = 3 * sizeof(std::uint64_t);
/// Less than what a channel holds: writing to a worker that is busy never waits, and so never meets one that waits to write to us.
constexpr std::size_t mostBytesAhead = 32 * 1024;

bool writeAll(int channel, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(std::size_t(written));
  }
  return true;
}

/// The next parcel of a channel; none at its end.
std::optional<Parcel> readParcel(int channel, std::string& stream) {
  std::array<char, 4096> buffer{};
  while (true) {
    std::size_t begin = 0;
    if (auto parcel = take(stream, begin)) {
      stream.erase(0, begin);
      return parcel;
    }
    const ssize_t count = ::recv(channel, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    stream.append(buffer.data(), std::size_t(count));
  }
}

std::string describeEnd(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("its process ended by itself with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("its process was ended by signal {} ({})", signal, ::strsignal(signal));
}

}

void append(std::string& stream, std::uint64_t task, std::uint64_t mark, std::string_view bytes) {
  for (const std::uint64_t number : {task, mark, std::uint64_t(bytes.size())}) {
    std::array<char, sizeof(number)> raw{};
    std::memcpy(raw.data(), &number, raw.size());
    stream.append(raw.data(), raw.size());
  }
  stream += bytes;
}

std::optional<Parcel> take(std::string_view stream, std::size_t& begin) {
  const std::string_view rest = stream.substr(begin);
  if (rest.size() < headSize) return {};
  std::array<std::uint64_t, 3> head{};
  std::memcpy(head.data(), rest.data(), headSize);
  if (rest.size() - headSize < head[2]) return {};
  begin += headSize + head[2];
  return Parcel{head[0], head[1], std::string(rest.substr(headSize, head[2]))};
}

std::size_t tasksAhead(std::size_t left, std::size_t workers) { return std::clamp<std::size_t>(left / (2 * workers), 1, 64); }

WorkerPool::WorkerPool(const Work& work, std::size_t workers) : work_(work), most_(workers) {}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) {
    if (worker.process == 0) continue;
    ::close(worker.channel);
    if (!worker.given.empty()) ::kill(worker.process, SIGKILL);
    ::waitpid(worker.process, nullptr, 0);
  }
}

void WorkerPool::give(std::uint64_t task, std::string bytes) {
  waiting_.push_back({task, 0, std::move(bytes)});
  ++pending_;
  if (workers_.size() < std::min(most_, pending_)) workers_.emplace_back();
}

void WorkerPool::interrupt() {
  isInterrupted_ = true;
  for (const Worker& worker : workers_) {
    if (worker.process != 0) ::kill(worker.process, SIGTERM);
  }
}

std::vector<Parcel> WorkerPool::collect(std::chrono::milliseconds patience) {
  std::vector<Parcel> answers;
  if (isInterrupted_) {
    for (const Parcel& parcel : waiting_) answers.push_back({parcel.task, dropped, ""});
    waiting_.clear();
  }
  feed();
  std::vector<pollfd> channels;
  for (const Worker& worker : workers_) channels.push_back({worker.channel, POLLIN, 0}); // a channel of -1 is passed over
  const int ready = ::poll(channels.data(), channels.size(), answers.empty() ? int(patience.count()) : 0);
  if (ready < 0 && errno != EINTR) throw MachineFailure(fmt::format("cannot wait for the workers: {}", std::strerror(errno)));
  if (ready > 0) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (channels[i].revents != 0 && !read(workers_[i], answers)) bury(workers_[i], answers);
    }
    feed();
  }
  pending_ -= answers.size();
  return answers;
}

/// The idle first, then a round at a time, so that what waits is spread evenly.
void WorkerPool::feed() {
  const std::size_t most = tasksAhead(waiting_.size(), most_);
  for (std::size_t depth = 1; depth <= most; ++depth) {
    for (Worker& worker : workers_) {
      if (waiting_.empty()) return;
      if (!mayTakeMore(worker, depth)) continue;
      if (worker.process == 0) start(worker);
      Parcel& parcel = worker.given.emplace_back(std::move(waiting_.front()));
      waiting_.pop_front();
      worker.bytesGiven += parcel.bytes.size();
      std::string stream;
      append(stream, parcel.task, 0, parcel.bytes);
      writeAll(worker.channel, stream); // one that has died is found out when its channel is read
    }
  }
}

bool WorkerPool::mayTakeMore(const Worker& worker, std::size_t depth) const {
  return worker.given.empty() || (worker.given.size() < depth && worker.bytesGiven + waiting_.front().bytes.size() < mostBytesAhead);
}

void WorkerPool::start(Worker& worker) {
  std::array<int, 2> ends{};
  const auto fail = [] { throw MachineFailure(fmt::format("cannot start a worker: {}; use fewer with -j", std::strerror(errno))); };
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail();
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) work(ends[1], parent);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    fail();
  }
  worker = {child, ends[0], {}, 0, {}};
}

/// The life of a worker. It holds nothing of its parent's but the channel, so that locks and connections end with the parent.
void WorkerPool::work(int channel, pid_t parent) const {
  constexpr int own = 3;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(0); // it died in between
  if (channel != own) ::dup2(channel, own);
  ::close_range(own + 1, ~0u, 0);
  std::string stream;
  while (const std::optional<Parcel> parcel = readParcel(own, stream)) {
    std::string answer;
    try {
      append(answer, parcel->task, std::uint64_t(TaskEnd::Done), work_(parcel->bytes));
    } catch (const std::exception& error) {
      answer.clear();
      append(answer, parcel->task, std::uint64_t(TaskEnd::Threw), error.what());
    }
    if (!writeAll(own, answer)) break;
  }
  std::fflush(nullptr);
  std::_Exit(0);
}

/// Takes what has come; false at the end of the channel.
bool WorkerPool::read(Worker& worker, std::vector<Parcel>& answers) {
  std::array<char, 65536> buffer; // NOLINT: filled before it is read
  const ssize_t count = ::recv(worker.channel, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  worker.received.append(buffer.data(), std::size_t(count));
  std::size_t begin = 0;
  while (auto answer = take(worker.received, begin)) {
    worker.bytesGiven -= worker.given.front().bytes.size();
    worker.given.pop_front();
    answers.push_back(std::move(*answer));
  }
  worker.received.erase(0, begin);
  return true;
}

/// The task it was at is lost; those that it had not begun are for others.
void WorkerPool::bury(Worker& worker, std::vector<Parcel>& answers) {
  int status = 0;
  ::close(worker.channel);
  ::waitpid(worker.process, &status, 0);
  if (!worker.given.empty()) {
    const std::uint64_t mark = isInterrupted_ ? dropped : std::uint64_t(TaskEnd::Killed);
    answers.push_back({worker.given.front().task, mark, describeEnd(status)});
    for (auto parcel = worker.given.rbegin(); parcel + 1 != worker.given.rend(); ++parcel) waiting_.push_front(std::move(*parcel));
  }
  worker = {};
}

}
