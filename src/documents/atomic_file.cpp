#include "tendril/documents/atomic_file.h"
#include "tendril/model/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace tendril {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, int cause) {
  std::error_code status;
  const std::string kept = fs::exists(file, status) ? "; the old file is kept" : "";
  throw MachineFailure("cannot write " + file.string() + ": " + std::strerror(cause) + kept +
                       "; free space or check the permissions of its folder, or choose another folder");
}

fs::path beside(const fs::path& file, const char* suffix) { return fs::path(file.string() + suffix); }

/// Gives the old content a second name, so that at every moment a complete file exists under the first.
void keepOld(const fs::path& file, const fs::path& keep) {
  std::error_code status;
  if (!fs::exists(file, status)) return;
  const fs::path second = beside(keep, ".partial");
  fs::remove(second, status);
  fs::create_hard_link(file, second, status);
  if (status) fs::copy_file(file, second, fs::copy_options::overwrite_existing, status);
  if (!status) fs::rename(second, keep, status);
  if (status) fail(keep, status.value());
}

void syncFolder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}

struct AtomicFile::Impl {
  fs::path file, partial;
  int descriptor = -1;
  std::string waiting; ///< to be written

  void writeOut() {
    for (std::string_view rest = waiting; !rest.empty();) {
      const ssize_t written = ::write(descriptor, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(file, errno);
      rest.remove_prefix(std::size_t(written));
    }
    waiting.clear();
  }
};

AtomicFile::AtomicFile(fs::path file) : impl_(std::make_unique<Impl>()) {
  impl_->file = std::move(file);
  impl_->partial = beside(impl_->file, ".partial");
  impl_->descriptor = ::open(impl_->partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (impl_->descriptor < 0) fail(impl_->file, errno);
}

AtomicFile::~AtomicFile() {
  ::close(impl_->descriptor);
  if (!impl_->partial.empty()) ::unlink(impl_->partial.c_str());
}

void AtomicFile::write(std::string_view content) {
  constexpr std::size_t portion = 1 << 20;
  impl_->waiting += content;
  if (impl_->waiting.size() >= portion) impl_->writeOut();
}

void AtomicFile::commit(const fs::path& keep) {
  impl_->writeOut();
  if (::fsync(impl_->descriptor) != 0) fail(impl_->file, errno);
  if (!keep.empty()) keepOld(impl_->file, keep);
  if (::rename(impl_->partial.c_str(), impl_->file.c_str()) != 0) fail(impl_->file, errno);
  impl_->partial.clear();
  syncFolder(impl_->file);
}

void replaceFile(const fs::path& file, std::string_view content, const fs::path& keep) {
  AtomicFile replaced(file);
  replaced.write(content);
  replaced.commit(keep);
}

}
