#pragma once

/// Calls of malloc, calloc and realloc of the whole program so far, those of shared libraries and of operator new included.
long allocationCount();
/// False where a sanitizer owns the allocator and nothing is counted.
bool allocationsCounted();
