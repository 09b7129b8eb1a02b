// SPDX-License-Identifier: BSD-3-Clause
#include "ainv/Ainvil_InverseFactors.hpp"

#include "ainv/Ainvil_ConjugationRounds.hpp"
#include "ainv/Ainvil_FirstColumns.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

template <class Scalar, class Device>
InverseFactors<Scalar, Device>::InverseFactors(const execution_space& exec,
                                               const InverseFactorsParameters& parameters,
                                               Ordinal n)
    : parameters_(parameters), n_(n),
      by_worklist_(parameters.schedule == ColumnSchedule::Device
                       ? compat::IsGpu<execution_space>::value
                       : parameters.schedule == ColumnSchedule::Worklist),
      storage_(exec, n, parameters.symmetric ? 1 : 2, parameters.stabilized,
               by_worklist_ || exec.concurrency() > 1, by_worklist_),
      size_begins_(allocate<Offset, HostDevice>(HostDevice::execution_space(), "Ainvil::begins",
                                                Worklist<Device>::num_sizes)) {
  if constexpr (compat::TeamsMayWait<execution_space>::value)
    places_ = Tickets<Device>(allocateZeros<unsigned, Device>(exec, "Ainvil::tickets", 1));
  if (parameters.drop_rule == DropRule::Relative)
    scales_ = allocate<Scalar, Device>(exec, "Ainvil::scales", n);
  if (!parameters.symmetric)
    row_sizes_ = allocate<Scalar, Device>(exec, "Ainvil::row_sizes", n);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::compute(const execution_space& exec, const Matrix& a,
                                             const Matrix& transposed,
                                             const ColumnProgress& progress) {
  if (n_ == 0)
    return;
  const ColumnState<Scalar, Device>& state = storage_.state;
  if (scales_.data() != nullptr)
    Kokkos::parallel_for("Ainvil::InverseFactors[diagonal]", Range<execution_space>(exec, 0, n_),
                         DiagonalRoots<Scalar, Device>{a, scales_});
  if (row_sizes_.data() != nullptr)
    findRowSizes<Scalar, Device>(exec, a, row_sizes_);
  if (rounds_ == 0)
    makeFirstColumns(exec, a, transposed);
  rounds_ = rounds_by_levels_ = 0;
  num_batched_ = 0;
  Kokkos::deep_copy(exec, state.pending, 1);
  Kokkos::deep_copy(exec, state.change, static_cast<char>(Change::None));
  Kokkos::deep_copy(exec, state.chunk_begin, ColumnState<Scalar, Device>::not_computed);
  Kokkos::deep_copy(exec, storage_.worklist.num_failed, 0);
  Kokkos::deep_copy(exec, storage_.stop, 0);
  storage_.grow(exec, true);
  ConjugationRounds<Scalar, Device> rounds(exec, *this, a, transposed, progress);
  bool goes_on = true;
  if (storage_.sides[0].supports_by_row.exists()) {
    const auto [fewest, most] = boundsOfLevels(exec);
    goes_on = rounds.runLevels(fewest, most);
  }
  if (goes_on && by_worklist_)
    rounds.runWorklist();
  else if (goes_on)
    rounds.runChunks();
  result_.breakdowns =
      countFlags(exec, "Ainvil::InverseFactors[broken]", state.broken, result_.first_breakdown);
  result_.is_too_full = storage_.read(storage_.stop) == Offset(FactorStop::TooFull);
  result_.entries = storage_.read(storage_.num_entries);
}

template <class Scalar, class Device>
std::pair<int, int>
InverseFactors<Scalar, Device>::boundsOfLevels(const execution_space& exec) const {
  // Shorter chains are no trouble for the other rounds, and a few threads of a host lose more by
  // the order of memory than they gain. Few columns a level are long ones, of finite elements, say;
  // and a level takes a GPU 43 to 80 us (docs/results/decisions.md, AINV).
  constexpr Ordinal long_chain = 256, many_threads = 8, columns_of_level = 32, most_levels = 16384;
  if (parameters_.fewest_levels > 0)
    return {parameters_.fewest_levels, n_};
  if (!compat::IsGpu<execution_space>::value && exec.concurrency() < many_threads)
    return {1, 0};
  return {long_chain, std::min(n_ / columns_of_level, most_levels)};
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::makeFirstColumns(const execution_space& exec, const Matrix& a,
                                                      const Matrix& transposed) {
  Kokkos::parallel_for("Ainvil::InverseFactors[pivots]", Range<execution_space>(exec, 0, n_),
                       PivotsOfIdentity<Scalar, Device>{a, storage_.state.pivots});
  if (!storage_.sides[0].supports_by_row.exists())
    return; // one thread computes the columns in order
  do {      // again for those that found no place in the pools
    for (int s = 0; s < storage_.num_sides; ++s) {
      const FactorSide<Scalar, Device>& side = storage_.sides[s];
      Kokkos::parallel_for(
          "Ainvil::InverseFactors[first]", Range<execution_space>(exec, 0, n_),
          FirstColumns<Scalar, Device>{s == 0 ? transposed : a, side.columns, side.supports,
                                       storage_.state.pivots, static_cast<Scalar>(parameters_.drop),
                                       scales_, parameters_.max_column, storage_.num_entries});
    }
  } while (storage_.growPools(exec));
}

template <class Scalar, class Device>
Offset InverseFactors<Scalar, Device>::columnsComputed() const {
  return n_ == 0 ? 0 : num_batched_ - storage_.read(storage_.worklist.num_failed);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class InverseFactors<double, DEVICE>;                                                   \
  template class InverseFactors<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
