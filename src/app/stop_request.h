#pragma once

namespace tendril::app {

/// From now on the first SIGINT (Ctrl-C) or SIGTERM only asks for an end in good order; the second ends the process at once.
void catchStopSignals();
bool stopRequested();

}
