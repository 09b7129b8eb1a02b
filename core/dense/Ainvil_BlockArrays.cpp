// SPDX-License-Identifier: BSD-3-Clause
#include "dense/Ainvil_BlockArrays.hpp"

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_Prefetch.hpp"
#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {

using detail::Range;

namespace {

/// out block e = op(in block source(e)), in blocks of bs x bs; source(e) = e if there is no array.
template <class Scalar, class Device>
struct CopyBlocks {
  Kokkos::View<const Offset*, Device> source;
  Kokkos::View<const Scalar*, Device> in;
  Kokkos::View<Scalar*, Device> out;
  int bs;
  bool transposed;

  KOKKOS_FUNCTION Offset from(Offset e) const { return source.data() == nullptr ? e : source(e); }
};

/// A thread a block: a division a scalar takes longer than its copy on hosts.
template <class Scalar, class Device>
struct CopyByBlocks : CopyBlocks<Scalar, Device> {
  KOKKOS_FUNCTION void operator()(const Offset e) const {
    const int bs = this->bs, bs2 = bs * bs;
    const Offset from = this->from(e);
    Scalar* const to = this->out.data() + e * bs2;
    if (from < 0) {
      for (int i = 0; i < bs2; ++i)
        to[i] = Scalar(0);
      return;
    }
    const Scalar* const block = this->in.data() + from * bs2;
    if (!this->transposed) {
      for (int i = 0; i < bs2; ++i)
        to[i] = block[i];
      return;
    }
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c)
        to[r * bs + c] = block[c * bs + r];
  }
};

/// A thread a scalar: those of a warp write side by side.
template <class Scalar, class Device>
struct CopyByScalars : CopyBlocks<Scalar, Device> {
  KOKKOS_FUNCTION void operator()(const Offset i) const {
    const int bs = this->bs, bs2 = bs * bs;
    const Offset e = i / bs2;
    const int within = static_cast<int>(i - e * bs2);
    const int r = within / bs, c = within - r * bs;
    const Offset from = this->from(e);
    this->out(i) =
        from < 0 ? Scalar(0) : this->in(from * bs2 + (this->transposed ? c * bs + r : within));
  }
};

template <class Scalar, class Device>
void copyBlocks(const typename Device::execution_space& exec, const char* label,
                const CopyBlocks<Scalar, Device>& copy) {
  using Exec = typename Device::execution_space;
  const Offset n = Offset(copy.out.extent(0)), num_blocks = n / (Offset(copy.bs) * copy.bs);
  const bool few = num_blocks < 16 * Offset(exec.concurrency()); // large ones, for all threads
  if (copy.bs > 1 && (compat::IsGpu<Exec>::value || few))
    Kokkos::parallel_for(label, Range<Exec>(exec, 0, n), CopyByScalars<Scalar, Device>{copy});
  else
    Kokkos::parallel_for(label, Range<Exec>(exec, 0, num_blocks),
                         CopyByBlocks<Scalar, Device>{copy});
}

} // namespace

template <class Scalar, class Device>
void gatherBlocks(const typename Device::execution_space& exec, Trans trans,
                  const Kokkos::View<const Offset*, Device>& source, int block_size,
                  const Kokkos::View<const Scalar*, Device>& in,
                  const Kokkos::View<Scalar*, Device>& out) {
  copyBlocks<Scalar, Device>(exec, "Ainvil::gatherBlocks",
                             {source, in, out, block_size, trans == Trans::Yes});
}

template <class Scalar, class Device>
void transposeBlocks(const typename Device::execution_space& exec, int block_size,
                     const Kokkos::View<const Scalar*, Device>& in,
                     const Kokkos::View<Scalar*, Device>& out) {
  copyBlocks<Scalar, Device>(exec, "Ainvil::transposeBlocks", {{}, in, out, block_size, true});
}

template <class From, class To, class Device>
void convert(const typename Device::execution_space& exec,
             const Kokkos::View<const From*, Device>& in, const Kokkos::View<To*, Device>& out) {
  using Exec = typename Device::execution_space;
  Kokkos::parallel_for(
      "Ainvil::convert", Range<Exec>(exec, 0, out.extent(0)),
      KOKKOS_LAMBDA(const Offset i) { out(i) = static_cast<To>(in(i)); });
}

template <class Scalar, class Device>
Offset countNonFinite(const typename Device::execution_space& exec,
                      const Kokkos::View<const Scalar*, Device>& values) {
  using Exec = typename Device::execution_space;
  // A thread of a host takes many at once, which it has asked for ahead of time. Where all are
  // finite the sums of zero times each are zero; there are some of them, so that none waits for the
  // addition before.
  constexpr int run = compat::IsGpu<Exec>::value ? 1 : 512;
  constexpr int strands = compat::IsGpu<Exec>::value ? 1 : 8;
  const Offset count = values.extent(0);
  Offset bad = 0;
  Kokkos::parallel_reduce(
      "Ainvil::countNonFinite", Range<Exec>(exec, 0, (count + run - 1) / run),
      KOKKOS_LAMBDA(const Offset item, Offset& sum) {
        const Scalar* const data = values.data() + item * run;
        const int length = count - item * run < run ? static_cast<int>(count - item * run) : run;
        detail::prefetch(data, length * Offset(sizeof(Scalar)), detail::prefetch_distance);
        Scalar zeros[strands] = {};
        int i = 0;
        for (; i + strands <= length; i += strands)
          for (int s = 0; s < strands; ++s)
            zeros[s] += data[i + s] * Scalar(0);
        bool finite = true;
        for (int s = 0; s < strands; ++s)
          finite = finite && zeros[s] == Scalar(0);
        for (i = finite ? i : 0; i < length; ++i)
          if (!detail::isFinite(data[i]))
            ++sum;
      },
      bad);
  return bad;
}

template <class Scalar, class Device>
void detail::requireFiniteMatrix(const typename Device::execution_space& exec,
                                 const Kokkos::View<const Scalar*, Device>& values) {
  if (const Offset bad = countNonFinite<Scalar, Device>(exec, values))
    throw InvalidArgument(message(bad, " matrix values are not finite (NaN or infinity)"));
}

template <class Scalar, class Device>
void detail::requireFinite(const typename Device::execution_space& exec,
                           const Kokkos::View<const Scalar*, Device>& values, const char* what) {
  if (const Offset bad = countNonFinite<Scalar, Device>(exec, values))
    throw BreakdownError(message(bad, " values of ", what,
                                 " overflow or are not a number: scale or reorder the matrix, or "
                                 "choose another method"));
}

#define AINVIL_INSTANTIATE_SCALAR(SCALAR, DEVICE)                                                  \
  template void gatherBlocks<SCALAR, DEVICE>(                                                      \
      const typename DEVICE::execution_space&, Trans, const Kokkos::View<const Offset*, DEVICE>&,  \
      int, const Kokkos::View<const SCALAR*, DEVICE>&, const Kokkos::View<SCALAR*, DEVICE>&);      \
  template void transposeBlocks<SCALAR, DEVICE>(const typename DEVICE::execution_space&, int,      \
                                                const Kokkos::View<const SCALAR*, DEVICE>&,        \
                                                const Kokkos::View<SCALAR*, DEVICE>&);             \
  template Offset countNonFinite<SCALAR, DEVICE>(const typename DEVICE::execution_space&,          \
                                                 const Kokkos::View<const SCALAR*, DEVICE>&);      \
  template void detail::requireFiniteMatrix<SCALAR, DEVICE>(                                       \
      const typename DEVICE::execution_space&, const Kokkos::View<const SCALAR*, DEVICE>&);        \
  template void detail::requireFinite<SCALAR, DEVICE>(const typename DEVICE::execution_space&,     \
                                                      const Kokkos::View<const SCALAR*, DEVICE>&,  \
                                                      const char*);
#define AINVIL_INSTANTIATE_CONVERT(FROM, TO, DEVICE)                                               \
  template void convert<FROM, TO, DEVICE>(const typename DEVICE::execution_space&,                 \
                                          const Kokkos::View<const FROM*, DEVICE>&,                \
                                          const Kokkos::View<TO*, DEVICE>&);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  AINVIL_INSTANTIATE_SCALAR(double, DEVICE)                                                        \
  AINVIL_INSTANTIATE_SCALAR(float, DEVICE)                                                         \
  template void gatherBlocks<BFloat16, DEVICE>(                                                    \
      const typename DEVICE::execution_space&, Trans, const Kokkos::View<const Offset*, DEVICE>&,  \
      int, const Kokkos::View<const BFloat16*, DEVICE>&, const Kokkos::View<BFloat16*, DEVICE>&);  \
  AINVIL_INSTANTIATE_CONVERT(double, float, DEVICE)                                                \
  AINVIL_INSTANTIATE_CONVERT(double, BFloat16, DEVICE)                                             \
  AINVIL_INSTANTIATE_CONVERT(float, BFloat16, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
