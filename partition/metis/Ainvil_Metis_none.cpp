// SPDX-License-Identifier: BSD-3-Clause
/// In place of Ainvil_Metis.cpp where Ainvil is built without METIS.
#include "metis/Ainvil_Metis.hpp"

namespace ainvil {
namespace detail {
namespace {

[[noreturn]] void refuse(const char* task, const char* instead) {
  throw InvalidArgument(message("this Ainvil was built without METIS, which ", task, ": ", instead,
                                ", or build it with METIS (-DAINVIL_ENABLE_METIS=ON)"));
}

} // namespace

Kokkos::View<Ordinal*, HostDevice> metisOrder(const Graph<HostDevice>&) {
  refuse("finds orders by nested dissection", "take another ordering, such as rcm");
}

Kokkos::View<Ordinal*, HostDevice> metisParts(const Graph<HostDevice>&, Ordinal) {
  refuse("divides graphs into parts", "ask for a single part");
}

} // namespace detail
} // namespace ainvil
