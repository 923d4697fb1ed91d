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

ProgressBar::ProgressBar() : isTerminal_(::isatty(STDERR_FILENO)), last_(std::chrono::steady_clock::now()) {}
ProgressBar::~ProgressBar() { wipe(); }

void ProgressBar::show(const RunProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!isTerminal_ || now - last_ < interval) return;
  last_ = now;
  isDrawn_ = true;
  Buffer out;
  const int full = int(progress.fraction * width);
  fmt::format_to(std::back_inserter(out), "\r\033[K[{:=<{}}{:<{}}] {:3.0f} %  step {}", "", full, "", width - full, 100 * progress.fraction,
                 progress.step);
  if (progress.remaining >= 0) {
    fmt::format_to(std::back_inserter(out), "  ");
    appendDuration(out, progress.remaining);
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
