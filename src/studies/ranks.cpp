#include "tendril/studies/ranks.h"

#include "tendril/model/error.h"

#include <array>
#include <cstdlib>
#include <exception>
#include <list>

#include <fmt/format.h>

#ifdef TENDRIL_HAVE_MPI
#include <mpi.h>
#endif

namespace tendril {

namespace {

/// What launchers tell a process of its job, by the environment. Asked before MPI is: without a job its start would take half a second.
struct Launch {
  int rank = 0, size = 1;
  bool isJob = false;

  static Launch find() {
    // Open MPI, PMI (MPICH, Intel), Slurm's srun with either.
    constexpr std::array<std::array<const char*, 2>, 3> names{
        {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};
    for (const auto& [rank, size] : names) {
      const char *const rankText = std::getenv(rank), *const sizeText = std::getenv(size);
      if (rankText && sizeText) return {std::atoi(rankText), std::atoi(sizeText), true};
    }
    return {};
  }
};

}

#ifdef TENDRIL_HAVE_MPI

// Functions of MPI are called by the second name that the standard gives each of them, PMPI_...: the sequential MUMPS brings some of its
// own under the first.

/// Messages on their way, kept until MPI has taken them.
struct Ranks::Outbox {
  struct Letter {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Letter> letters;

  void removeSent() {
    letters.remove_if([](Letter& letter) {
      int isSent = 0;
      PMPI_Test(&letter.request, &isSent, MPI_STATUS_IGNORE);
      return isSent != 0;
    });
  }
};

bool Ranks::areSupported() { return true; }

Ranks::Ranks() {
  const Launch launch = Launch::find();
  isJob_ = launch.isJob;
  if (launch.size <= 1) return;
  PMPI_Init(nullptr, nullptr);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_);
  outbox_ = std::make_unique<Outbox>();
}

Ranks::~Ranks() {
  if (!outbox_) return;
  for (Outbox::Letter& letter : outbox_->letters) PMPI_Wait(&letter.request, MPI_STATUS_IGNORE);
  PMPI_Finalize();
}

void Ranks::send(int to, std::string message) {
  outbox_->removeSent();
  Outbox::Letter& letter = outbox_->letters.emplace_back();
  letter.text = std::move(message);
  PMPI_Isend(letter.text.data(), int(letter.text.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD, &letter.request);
}

bool Ranks::receive(int& from, std::string& message) {
  if (!outbox_) return false;
  outbox_->removeSent(); // which lets long messages go on
  int isThere = 0, size = 0;
  MPI_Status status;
  PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &isThere, &status);
  if (!isThere) return false;
  PMPI_Get_count(&status, MPI_BYTE, &size);
  message.resize(std::size_t(size));
  from = status.MPI_SOURCE;
  PMPI_Recv(message.data(), size, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return true;
}

std::vector<std::string> Ranks::gather(const std::string& mine) {
  if (!outbox_) return {mine};
  const int length = int(mine.size());
  std::vector<int> lengths(std::size_t(size_), 0), places(std::size_t(size_), 0);
  PMPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < places.size(); ++r) places[r] = places[r - 1] + lengths[r - 1];
  std::string all(std::size_t(places.back() + lengths.back()), '\0');
  PMPI_Allgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < places.size(); ++r) texts.push_back(all.substr(std::size_t(places[r]), std::size_t(lengths[r])));
  return texts;
}

void Ranks::abandon(int code) {
  if (outbox_) PMPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

#else

struct Ranks::Outbox {};

bool Ranks::areSupported() { return false; }

Ranks::Ranks() {
  const Launch launch = Launch::find();
  rank_ = launch.rank;
  unjoined_ = launch.size;
  isJob_ = launch.isJob;
}

Ranks::~Ranks() = default;
void Ranks::send(int, std::string) {}
bool Ranks::receive(int&, std::string&) { return false; }
std::vector<std::string> Ranks::gather(const std::string& mine) { return {mine}; }
void Ranks::abandon(int code) { std::_Exit(code); }

#endif

void agree(Ranks& ranks, const std::string& what, const std::function<std::string()>& prepare) {
  std::exception_ptr failure;
  std::string word;
  try {
    word = '=' + prepare();
  } catch (const std::exception& error) {
    failure = std::current_exception();
    word = std::string("!") + error.what();
  }
  const std::vector<std::string> words = ranks.gather(word);
  if (failure) std::rethrow_exception(failure);
  for (std::size_t r = 0; r < words.size(); ++r) {
    if (words[r][0] == '!') throw InputError(fmt::format("on rank {}: {}", r, words[r].substr(1)));
    if (words[r] != words[0])
      throw InputError(fmt::format("rank {} does not agree with rank 0 on {}; see that all ranks read the same files", r, what));
  }
}

}
