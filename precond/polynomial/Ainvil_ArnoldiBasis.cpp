// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial/Ainvil_ArnoldiBasis.hpp"

#include "backend/Ainvil_Hash.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_VectorKernels.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace ainvil {
namespace detail {
namespace {

/// Most columns of V that one pass over the rows projects on.
constexpr int widest = 8;

/// h_c = v_c . g for Width neighbouring columns v_c of V.
template <int Width, class Scalar, class Device>
struct ProjectionBody {
  MultiVectorArg<const Scalar, Device> v; ///< the columns
  MultiVectorArg<const Scalar, Device> g;
  double *total, *negative; ///< where h_c and -h_c go
  bool again;               ///< h_c is added to what is there

  KOKKOS_FUNCTION bool begin(int) { return true; }
  KOKKOS_INLINE_FUNCTION Sums<Width> row(Offset i) const {
    Sums<Width> products;
    const double g_i = g(i, 0);
    for (int c = 0; c < Width; ++c)
      products.value[c] = double(v(i, c)) * g_i;
    return products;
  }
  KOKKOS_FUNCTION void finish(const Sums<Width>& sums) const {
    for (int c = 0; c < Width; ++c) {
      total[c] = (again ? total[c] : 0.0) + sums.value[c];
      negative[c] = -sums.value[c];
    }
  }
};

template <class Scalar, class Device>
struct RandomKernel {
  MultiVectorArg<Scalar, Device> v;
  std::uint64_t first; ///< number of the first counter

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    constexpr double unit = 1.0 / 4503599627370496.0; // 2^-52
    v(i, 0) = static_cast<Scalar>(double(hash(first + std::uint64_t(i)) >> 11) * unit - 1);
  }
};

/// Calls work(width, first) for pieces of `count` columns, whose width is one that a kernel knows:
/// the widest while there are as many left, then half of it.
template <int Width = widest, class Work>
void forPieces(int first, int count, const Work& work) {
  for (; count >= Width; first += Width, count -= Width)
    work(std::integral_constant<int, Width>(), first);
  if constexpr (Width > 1)
    forPieces<Width / 2>(first, count, work);
}

} // namespace

template <class Scalar, class Device>
ArnoldiBasis<Scalar, Device>::ArnoldiBasis(const execution_space& exec, Offset n, int vectors,
                                           std::shared_ptr<const Reduction<Device>> reduction,
                                           Offset first_row)
    : vectors_(allocateView<MultiVector<Scalar, Device>>(exec, "Ainvil::arnoldi_basis", size_t(n),
                                                         size_t(vectors))),
      shape_(SumTeams::forRows(exec, n)),
      sums_(exec, reduction == nullptr ? widest : std::max(widest, vectors), shape_,
            reduction.get()),
      numbers_(allocateZeros<double, Device>(exec, "Ainvil::projections", 2 * size_t(vectors) + 1)),
      host_numbers_(hostMirror(numbers_)), reduction_(std::move(reduction)), first_row_(first_row) {
}

template <class Scalar, class Device>
typename ArnoldiBasis<Scalar, Device>::Out ArnoldiBasis<Scalar, Device>::vectors(int first,
                                                                                 int count) const {
  const size_t n = vectors_.extent(0);
  return Out(vectors_.data() + size_t(first) * n, n, size_t(count));
}

template <class Scalar, class Device>
void ArnoldiBasis<Scalar, Device>::fillRandom(const execution_space& exec, Out v, int seed) const {
  Kokkos::parallel_for("Ainvil::ArnoldiBasis[random]", Range<execution_space>(exec, 0, v.extent(0)),
                       RandomKernel<Scalar, Device>{v, (std::uint64_t(seed) << 40) + first_row_});
}

/// A kernel a piece; over processes one reduction for all pieces, and another kernel for each.
template <class Scalar, class Device>
void ArnoldiBasis<Scalar, Device>::project(const execution_space& exec, int count, In g, Out w,
                                           bool again) const {
  const ColumnSet one = ColumnSet::first(1);
  const auto sumsFrom = [&](int first) {
    PartialSums<Device> sums = sums_;
    if (reduction_ != nullptr)
      sums.of_process = Kokkos::subview(sums_.of_process,
                                        std::make_pair(size_t(first), sums_.of_process.extent(0)));
    return sums;
  };
  const auto bodyOf = [&](auto width, int first) {
    double* const total = numbers_.data() + first;
    return ProjectionBody<decltype(width)::value, Scalar, Device>{vectors(first, width), g, total,
                                                                  total + capacity(), again};
  };
  forPieces(0, count, [&](auto width, int first) {
    launchSums<decltype(width)::value>(exec, "Ainvil::ArnoldiBasis[project]", shape_,
                                       sumsFrom(first), Offset(g.extent(0)), bodyOf(width, first),
                                       reduction_.get(), one);
  });
  if (reduction_ != nullptr) {
    const ProcessSums<Device> all = Kokkos::subview(sums_.of_process, std::make_pair(0, count));
    reduction_->sum(exec, all);
    forPieces(0, count, [&](auto width, int first) {
      finishSums<decltype(width)::value>(exec, sumsFrom(first), bodyOf(width, first), one);
    });
  }
  const KernelBases<const Scalar> v{vectors_.data(), Offset(vectors_.extent(0)), 0};
  const KernelBases<const double> negative{numbers_.data() + capacity(), 1, 0};
  combineColumns<Scalar, Scalar, Device>(exec, ColumnSet::first(1), v, negative, {{count}}, 1, w);
}

template <class Scalar, class Device>
double ArnoldiBasis<Scalar, Device>::dot(const execution_space& exec, In x, In y) const {
  if (x.extent(0) == 0 && reduction_ == nullptr)
    return 0;
  const int at = 2 * capacity();
  sumRows<1>(exec, "Ainvil::ArnoldiBasis[dot]", shape_, sums_, Offset(x.extent(0)),
             ProjectionBody<1, Scalar, Device>{x, y, numbers_.data() + at,
                                               numbers_.data() + capacity(), false},
             reduction_.get());
  Kokkos::deep_copy(exec, host_numbers_, numbers_);
  compat::fence(exec, "Ainvil::ArnoldiBasis::dot");
  return host_numbers_(at);
}

template <class Scalar, class Device>
double ArnoldiBasis<Scalar, Device>::size(const execution_space& exec, In x) const {
  const double here = norm<Scalar, Device>(exec, x);
  if (reduction_ == nullptr)
    return here;
  const ProcessSums<Device> sum = sumsOfProcess<1>(sums_, ColumnSet::first(1));
  sum(0) = here;
  reduction_->sum(exec, sum);
  compat::fence(exec, "Ainvil::ArnoldiBasis::size");
  return sum(0);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class ArnoldiBasis<double, DEVICE>;                                                     \
  template class ArnoldiBasis<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
