#pragma once
#include <cstddef>

/// Counts the calls of malloc in this program (operator new and Eigen end there). The definition is weak, so that it may be included by
/// several files of one program; it takes precedence over the C library's. Sanitizers bring their own malloc: nothing is counted there.
namespace tendril::test {
inline long allocationCount = 0;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TENDRIL_COUNTS_ALLOCATIONS 1
extern "C" {
void* __libc_malloc(std::size_t size);
__attribute__((weak, used)) void* malloc(std::size_t size) noexcept {
  ++tendril::test::allocationCount;
  return __libc_malloc(size);
}
}
#else
#define TENDRIL_COUNTS_ALLOCATIONS 0
#endif
