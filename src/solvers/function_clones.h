#pragma once

/// Marks a function that is compiled for processors with and without AVX2; the one that fits is chosen when the program is loaded. The
/// address sanitizer does not bear it.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TENDRIL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TENDRIL_CLONES
#endif
