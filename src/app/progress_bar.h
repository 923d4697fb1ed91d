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
  void wipe();

 private:
  bool isTerminal_;
  bool isDrawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}
