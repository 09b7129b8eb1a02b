// SPDX-License-Identifier: BSD-3-Clause
#include "FailingNew.hpp"

#include <cstdlib>
#include <new>

namespace ainvil {
namespace test {

thread_local int failing_allocation = 0;

} // namespace test
} // namespace ainvil

using namespace ainvil::test;

void* operator new(std::size_t bytes) {
  if (failing_allocation > 0 && bytes >= smallest_failing_allocation && --failing_allocation == 0)
    throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
// Whatever is freed by the ones below; a sanitizer has its own otherwise, and finds that they
// differ.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
