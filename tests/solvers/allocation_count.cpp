#include "allocation_count.h"

#include <atomic>
#include <cstddef>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
namespace {
std::atomic<long> count{0};
}

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);

void* malloc(std::size_t size) noexcept {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
  ++count;
  return __libc_calloc(number, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  ++count;
  return __libc_realloc(block, size);
}
}

long allocationCount() { return count; }
bool allocationsCounted() { return true; }
#else
long allocationCount() { return 0; }
bool allocationsCounted() { return false; }
#endif
