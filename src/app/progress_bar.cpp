#include "app/progress_bar.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace tendril::app {

namespace {

constexpr int width = 30;
constexpr std::chrono::milliseconds interval{150};

using Buffer = fmt::basic_memory_buffer<char, 256>;

void appendDuration(Buffer& out, double seconds) {
  const long s = std::lround(seconds);
  if (s >= 3600)
    fmt::format_to(std::back_inserter(out), "{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  else
    fmt::format_to(std::back_inserter(out), "{}:{:02}", s / 60, s % 60);
}

}

ProgressBar::ProgressBar() : isTerminal_(::isatty(STDERR_FILENO)), last_(Clock::now()), begin_(last_) {}
ProgressBar::~ProgressBar() { wipe(); }

bool ProgressBar::isDue() {
  const auto now = Clock::now();
  if (!isTerminal_ || now - last_ < interval) return false;
  last_ = now;
  return true;
}

void ProgressBar::show(const RunProgress& progress) {
  if (isDue()) draw(progress.fraction, "step", progress.step, progress.remaining);
}

void ProgressBar::show(std::size_t done, std::size_t all) {
  if (doneAtBegin_ == 0) doneAtBegin_ = done;
  if (!isDue()) return;
  const double seconds = std::chrono::duration<double>(last_ - begin_).count(), since = double(done - doneAtBegin_);
  draw(double(done) / double(all), "run", static_cast<long long>(done), since > 0 ? seconds * double(all - done) / since : -1);
}

void ProgressBar::draw(double fraction, const char* what, long long number, double remaining) {
  isDrawn_ = true;
  Buffer out;
  const int full = int(fraction * width);
  fmt::format_to(std::back_inserter(out), "\r\033[K[{:=<{}}{:<{}}] {:3.0f} %  {} {}", "", full, "", width - full, 100 * fraction, what,
                 number);
  if (remaining >= 0) {
    fmt::format_to(std::back_inserter(out), "  ");
    appendDuration(out, remaining);
    fmt::format_to(std::back_inserter(out), " left");
  }
  std::fwrite(out.data(), 1, out.size(), stderr);
  std::fflush(stderr);
}

void ProgressBar::wipe() {
  if (!isDrawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  isDrawn_ = false;
}

}
