// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Memory of the host that can be made to end: operator new of the whole executable.

#include <cstddef>

namespace ainvil {
namespace test {

/// Smaller allocations, as for messages and names, do not fail.
constexpr std::size_t smallest_failing_allocation = 2000; // bytes

/// Which of the allocations of that size to come in this thread throws std::bad_alloc, 1 the next
/// one; then 0 again. 0: none.
extern thread_local int failing_allocation;

} // namespace test
} // namespace ainvil
