#include "app/stop_request.h"

#include <csignal>

namespace tendril::app {

namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void onStopSignal(int signal) {
  requested = 1;
  std::signal(signal, SIG_DFL);
}

}

void catchStopSignals() {
  std::signal(SIGINT, onStopSignal);
  std::signal(SIGTERM, onStopSignal);
}

bool stopRequested() { return requested != 0; }

}
