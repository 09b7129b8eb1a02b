// SPDX-License-Identifier: BSD-3-Clause
#include "spai/Ainvil_SpaiWork.hpp"

#include "backend/Ainvil_Counted.hpp"
#include "graph/Ainvil_CountRows.hpp"

namespace ainvil {
namespace {

template <class Work>
struct SumOfWork {
  Work work;

  KOKKOS_FUNCTION void operator()(Offset i, double& sum) const { sum += work(i); }
};

template <class Work>
struct LargestWork {
  Work work;

  KOKKOS_FUNCTION void operator()(Offset i, double& largest) const {
    const double of_row = work(i);
    largest = of_row > largest ? of_row : largest;
  }
};

template <class Work>
struct HasWork {
  Work work;
  double least;

  KOKKOS_FUNCTION bool operator()(Offset i) const { return work(i) >= least; }
};

} // namespace

template <class Device>
void detail::requireSpaiWork(const typename Device::execution_space& exec,
                             const SpaiRowWork<Device>& work, double max_work) {
  using Work = SpaiRowWork<Device>;
  const Ordinal n = work.pattern.num_rows;
  if (max_work == 0 || n == 0)
    return;
  const Range<typename Device::execution_space> rows(exec, 0, n);
  double total = 0, largest = 0;
  Kokkos::parallel_reduce("Ainvil::Spai[work]", rows, SumOfWork<Work>{work}, total);
  Kokkos::parallel_reduce("Ainvil::Spai[work]", rows, LargestWork<Work>{work},
                          Kokkos::Max<double>(largest));
  compat::fence(exec, "Ainvil::Spai[work]");
  const double num_point_rows = double(n) * work.block_size;
  const bool too_many = total > max_work * num_point_rows;
  if (!too_many && largest <= spai_longest_row * max_work)
    return;
  Ordinal row = -1;
  countRows(exec, "Ainvil::Spai[work]", n, HasWork<Work>{work, largest}, row);
  const auto sizeOf = [&](const Graph<Device>& graph) {
    const auto ends = Kokkos::subview(graph.row_map, std::make_pair(Offset(row), Offset(row) + 2));
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ends);
    return (host(1) - host(0)) * work.block_size;
  };
  throw BreakdownError(
      message("the least squares problems of spai take too long: ",
              too_many ? message(total / num_point_rows,
                                 " operations a row of the matrix, more than max-work=", max_work,
                                 ", the largest in ")
                       : message(largest, " operations for the largest alone, more than ",
                                 spai_longest_row, " times max-work=", max_work, ", in "),
              counted("block row", row), " with ", sizeOf(work.shadow), " equations and ",
              sizeOf(work.pattern),
              " unknowns, as of long rows and columns of A: choose a smaller power, adaptive=5 "
              "from the diagonal, ilu with match=product, or raise max-work"));
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void detail::requireSpaiWork<DEVICE>(const typename DEVICE::execution_space&,           \
                                                const SpaiRowWork<DEVICE>&, double);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
