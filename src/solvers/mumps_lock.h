#pragma once
#include <mutex>

namespace tendril {

/// Whoever calls MUMPS holds it: its instances share variables of their library. Ipopt calls MUMPS by itself, and calls functions of ours
/// that may call it, too.
inline std::recursive_mutex& mumpsLock() {
  static std::recursive_mutex mutex;
  return mutex;
}

}
