#pragma once
#include "tendril/io/run.h"

#include <chrono>

namespace tendril::app {

/// One line on stderr that shows how far a run is and the time left, drawn anew a few times a second; nothing where stderr is no terminal.
class ProgressBar {
 public:
  ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Wipes the line.
  ~ProgressBar();
  void show(const RunProgress& progress);
  /// Of a study: runs that are finished.
  void show(std::size_t done, std::size_t all);
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;
  /// Whether it is time to draw.
  bool isDue();
  void draw(double fraction, const char* what, long long number, double remaining);

  bool isTerminal_;
  bool isDrawn_ = false;
  Clock::time_point last_, begin_;
  std::size_t doneAtBegin_ = 0;
};

}
