// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IlutSteps.hpp"

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_LoopProgress.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_BothTriangles.hpp"
#include "graph/Ainvil_CollectRows.hpp"
#include "graph/Ainvil_SelectEntries.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ainvil {
namespace detail {
namespace {

/// The lists whose union is row i of the pattern of A - L U: A_i, L_i, and U_k for k in L_i.
struct ResidualLists {
  KernelGraph a, l, u;

  KOKKOS_FUNCTION static Ordinal lengthOf(const KernelGraph& graph, Ordinal row) {
    return static_cast<Ordinal>(graph.row_map(row + 1) - graph.row_map(row));
  }
  KOKKOS_FUNCTION Ordinal count(Ordinal row) const { return 2 + lengthOf(l, row); }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    return k == 0   ? lengthOf(a, row)
           : k == 1 ? lengthOf(l, row)
                    : lengthOf(u, l.entries(l.row_map(row) + k - 2));
  }
  KOKKOS_FUNCTION Ordinal element(Ordinal row, Ordinal k, Ordinal m) const {
    if (k == 0)
      return a.entries(a.row_map(row) + m);
    if (k == 1)
      return l.entries(l.row_map(row) + m);
    return u.entries(u.row_map(l.entries(l.row_map(row) + k - 2)) + m);
  }
};

/// norms(i) = ||A_i||_F by the lanes of the row, with squares that stay in range.
template <class Scalar>
struct RowNorms {
  KernelMatrix<const Scalar> a;
  KernelArray<Scalar> norms;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void*) const {
    const Offset bs2 = Offset(a.block_size) * a.block_size;
    const Offset begin = a.graph.row_map(i) * bs2, end = a.graph.row_map(i + 1) * bs2;
    const double norm = safeNormBy(
        [&](double unit) {
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(member, end - begin),
              [&](const Offset e, double& partial) {
                const double ratio = double(a.values(begin + e)) / unit;
                partial += ratio * ratio;
              },
              sum);
          return sum;
        },
        [&]() {
          double largest = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(member, end - begin),
              [&](const Offset e, double& most) {
                const double size = compat::math::fabs(double(a.values(begin + e)));
                most = size > most ? size : most;
              },
              Kokkos::Max<double>(largest));
          return largest > 0 ? largest : 0.0; // of nothing it is the least number
        });
    Kokkos::single(Kokkos::PerThread(member), [&]() { norms(i) = static_cast<Scalar>(norm); });
  }
};

/// Sizes of the entries of row i, ||w_ij||_F / ||A_i||_F with w_ij = L_ij or D_i U_ij; a lane an
/// entry. What is not finite has none: its values must not spread.
template <class Scalar>
struct EntrySizes {
  KernelMatrix<const Scalar> l, u;
  KernelArray<const Scalar> norms;
  KernelArray<float> of_l, of_u;

  /// Entry e of the product of two blocks, or of the second without a first.
  KOKKOS_INLINE_FUNCTION Scalar entry(const Scalar* d, const Scalar* b, int e) const {
    if (d == nullptr)
      return b[e];
    const int bs = l.block_size, r = e / bs, c = e - r * bs;
    Scalar sum = 0;
    for (int m = 0; m < bs; ++m)
      sum += d[r * bs + m] * b[m * bs + c];
    return sum;
  }
  KOKKOS_INLINE_FUNCTION float size(const Scalar* d, const Scalar* b, Scalar norm) const {
    Scalar sum = 0;
    for (int e = 0; e < l.block_size * l.block_size; ++e) {
      const Scalar part = entry(d, b, e) / norm;
      sum += part * part;
    }
    const float found = static_cast<float>(compat::math::sqrt(sum));
    return isFinite(found) ? found : 0.0f;
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void*) const {
    const Offset bs2 = Offset(l.block_size) * l.block_size;
    const Offset l_begin = l.graph.row_map(i), diagonal = l.graph.row_map(i + 1) - 1;
    const Offset u_begin = u.graph.row_map(i), u_end = u.graph.row_map(i + 1);
    const Scalar norm = norms(i) > Scalar(0) ? norms(i) : Scalar(1);
    forLanes(member, diagonal - l_begin, [&](const Offset t) {
      of_l(l_begin + t) = size(nullptr, l.values.data() + (l_begin + t) * bs2, norm);
    });
    forLanes(member, u_end - u_begin, [&](const Offset t) {
      of_u(u_begin + t) =
          size(l.values.data() + diagonal * bs2, u.values.data() + (u_begin + t) * bs2, norm);
    });
    Kokkos::single(Kokkos::PerThread(member), [&]() { of_l(diagonal) = -1; });
  }
};

/// The number of sizes that are at least `least`.
struct CountSizes {
  KernelArray<const float> sizes;
  float least;

  KOKKOS_FUNCTION void operator()(Offset e, Offset& count) const {
    count += sizes(e) >= least ? 1 : 0;
  }
};

/// Numbers that are not negative ascend as these do.
inline std::int32_t bitsOf(float number) {
  std::int32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
inline float floatOf(std::int32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

/// What is kept of a factor: sizes from `least` on, and the diagonal of L.
struct KeepSizes {
  KernelGraph graph;
  KernelArray<const float> sizes;
  float least;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    return sizes(e) >= least || graph.entries(e) == row;
  }
};

/// A search by steps, with what it needs of one step in the next.
template <class Scalar, class Device>
class IlutSteps {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;

  IlutSteps(const execution_space& exec, const Matrix& a, const IlutRule& rule,
            const IluOnPatternOptions& options, FactorKind kind, int steps,
            const std::function<void(Offset)>& progress)
      : exec_(exec), a_(a), rule_(rule), options_(options), kind_(kind), progress_(progress),
        num_sweeps_(2 + 2 * Offset(steps)),
        norms_(allocate<Scalar, Device>(exec, "Ainvil::row_norms", a.numRows())) {
    options_.sweeps = 0;
    options_.modified = 0;
    forEachRow(exec_, "Ainvil::Ilut[norms]", a_.numRows(),
               teamsForRowsOf(a_.graph, a_.block_size * a_.block_size),
               RowNorms<Scalar>{a_, norms_});
    pattern_ = fillTriangles(exec_, a_.graph, 0);
    u_ = sweptUpper(sweptUpper(Matrix()));
  }

  void step() {
    IluOnPattern<Scalar, Device> candidates(options_, kind_);
    candidates.setPattern(exec_, a_, withCandidates(), EntriesOfA::All);
    sweep(candidates, u_);
    u_ = Matrix(); // frees memory
    keep(candidates);
    u_ = sweptUpper(u_);
  }

  const FillTriangles<Device>& pattern() const { return pattern_; }

  Ordinal breakdowns() const { return breakdowns_; }

private:
  bool isSymmetric() const { return kind_ != FactorKind::General; }

  /// All sweeps together tell about a hundred times.
  void sweep(IluOnPattern<Scalar, Device>& factors, const Matrix& u) {
    const int launches = static_cast<int>((100 + num_sweeps_ - 1) / num_sweeps_);
    factors.sweepOnce(exec_, a_, u, launches,
                      shareOf(progress_, sweeps_done_ * a_.numRows(), num_sweeps_));
    ++sweeps_done_;
  }

  /// U of pattern_ by a sweep.
  Matrix sweptUpper(const Matrix& u) {
    IluOnPattern<Scalar, Device> factors(options_, kind_);
    factors.setPattern(exec_, a_, pattern_, EntriesOfA::Some);
    sweep(factors, u);
    breakdowns_ = factors.breakdowns(exec_); // waits before the other arrays go
    return factors.upper().matrix;
  }

  FillTriangles<Device> withCandidates() const {
    const double in_u = pattern_.upper.meanRowLength();
    const Graph<Device> graph =
        unionGraph<Device>(exec_, "Ainvil::Ilut[candidates]", a_.numRows(), a_.numRows(),
                           ResidualLists{a_.graph, pattern_.lower, pattern_.upper},
                           a_.graph.meanRowLength() + pattern_.lower.meanRowLength() * (1 + in_u));
    return bothTriangles(exec_, graph);
  }

  /// pattern_ and u_ become what the rule keeps.
  void keep(const IluOnPattern<Scalar, Device>& candidates) {
    const Matrix &l = candidates.lower().matrix, &u = candidates.upper().matrix;
    const auto of_l = allocate<float, Device>(exec_, "Ainvil::sizes", l.numEntries());
    const auto of_u = allocate<float, Device>(exec_, "Ainvil::sizes", u.numEntries());
    forEachRow(exec_, "Ainvil::Ilut[sizes]", a_.numRows(), teamsForRowsOf(l.graph),
               EntrySizes<Scalar>{l, u, norms_, of_l, of_u});
    const float least = isSymmetric() ? threshold({of_u}) : threshold({of_l, of_u});
    const PermutedGraph<Device> upper =
        selectWithSource(exec_, u.graph, KeepSizes{u.graph, of_u, least});
    if (isSymmetric())
      pattern_ = symmetricTriangles(exec_, upper.graph);
    else
      pattern_ = {selectEntries(exec_, l.graph, KeepSizes{l.graph, of_l, least}), upper.graph};
    const Offset bs2 = Offset(a_.block_size) * a_.block_size;
    u_ = Matrix(upper.graph,
                allocate<Scalar, Device>(exec_, "Ainvil::upper", upper.graph.numEntries() * bs2),
                a_.block_size);
    gatherBlocks<Scalar, Device>(exec_, Trans::No, upper.source, a_.block_size, u.values,
                                 u_.values);
  }

  using Sizes = std::vector<Kokkos::View<float*, Device>>;

  Offset countFrom(const Sizes& of_factors, float least) const {
    Offset count = 0;
    for (const auto& sizes : of_factors) {
      Offset found = 0;
      Kokkos::parallel_reduce("Ainvil::Ilut[threshold]",
                              Range<execution_space>(exec_, 0, sizes.extent(0)),
                              CountSizes{sizes, least}, found);
      count += found;
    }
    return count;
  }

  /// The rule's own, or if more than its bound would be left the smallest that leaves no more; or
  /// one that leaves a thousandth less than the bound. By bisection of its bits.
  float threshold(const Sizes& of_factors) const {
    const Offset most = rule_.mostBeside(a_.numEntries(), a_.numRows()) / (isSymmetric() ? 2 : 1);
    const float drop =
        static_cast<float>(std::min(rule_.drop, double(std::numeric_limits<float>::max())));
    if (countFrom(of_factors, drop) <= most)
      return drop;
    std::int32_t too_small = bitsOf(drop);
    std::int32_t enough = bitsOf(std::numeric_limits<float>::infinity());
    while (enough - too_small > 1) {
      const std::int32_t middle = too_small + (enough - too_small) / 2;
      const Offset count = countFrom(of_factors, floatOf(middle));
      (count > most ? too_small : enough) = middle;
      if (count <= most && count >= most - most / 1000)
        break;
    }
    return floatOf(enough);
  }

  const execution_space exec_;
  const Matrix a_;
  const IlutRule rule_;
  IluOnPatternOptions options_;
  const FactorKind kind_;
  const std::function<void(Offset)>& progress_;
  const Offset num_sweeps_;
  Offset sweeps_done_ = 0;
  Ordinal breakdowns_ = 0;                    ///< of the last sweep
  const Kokkos::View<Scalar*, Device> norms_; ///< ||A_i||_F
  FillTriangles<Device> pattern_;             ///< S
  Matrix u_;                                  ///< U of S
};

} // namespace

template <class Scalar, class Device>
FillTriangles<Device> ilutPatternBySteps(const typename Device::execution_space& exec,
                                         const BsrMatrix<Scalar, Device>& a, const IlutRule& rule,
                                         const IluOnPatternOptions& options, int steps,
                                         FactorKind kind, Ordinal& breakdowns,
                                         const std::function<void(Offset)>& progress) {
  IlutSteps<Scalar, Device> search(exec, a, rule, options, kind, steps, progress);
  for (int s = 0; s < steps; ++s)
    search.step();
  breakdowns = search.breakdowns();
  return search.pattern();
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template FillTriangles<DEVICE> ilutPatternBySteps<SCALAR, DEVICE>(                               \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, const IlutRule&,  \
      const IluOnPatternOptions&, int, FactorKind, Ordinal&, const std::function<void(Offset)>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
