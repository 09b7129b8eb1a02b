// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Fsai: rows of G by a thread of a host, which remembers where the columns of a
/// pattern are, works on as many rows at a time as fill a vector register, makes use of the zeros
/// of the local systems, and filters while it has their factors.

#include "dense/Ainvil_CholeskyHost.hpp"
#include "dense/Ainvil_CholeskySimd.hpp"
#include "fsai/Ainvil_FsaiRows.hpp"

#include <algorithm>
#include <vector>

namespace ainvil {
namespace detail {

/// An array of scalars with the alignment of any vector register.
template <class Scalar>
class AlignedScalars {
public:
  explicit AlignedScalars(std::size_t n) : lines_((n + per_line - 1) / per_line) {}
  template <class Pack>
  Pack* as() {
    return reinterpret_cast<Pack*>(lines_.data());
  }

private:
  static constexpr std::size_t per_line = 64 / sizeof(Scalar);
  struct alignas(64) Line {
    Scalar scalars[per_line];
  };
  std::vector<Line> lines_;
};

/// What a thread works on rows in.
template <class Scalar>
struct FsaiWorkRows {
  /// Rows whose local systems have more unknowns are worked on one by one: of a few together the
  /// factors, 2 x 147 KiB with registers of two doubles, would leave the second-level cache.
  static constexpr int largest_together = 192;

  std::vector<Ordinal> rows;     ///< at hand, by length
  std::vector<int> position;     ///< of each block column in a pattern, -1 elsewhere; is left so
  std::vector<int> starts;       ///< columns where the rows of the local systems begin
  AlignedScalars<Scalar> packed; ///< the local systems, then their Cholesky factors
  AlignedScalars<Scalar> vector; ///< a row of their inverses
  AlignedScalars<Scalar> small;  ///< E_i, see FsaiHostRows, one row of it after the other
  AlignedScalars<Scalar> image;  ///< E_i L
  std::vector<Scalar> gram;      ///< C

  /// For a matrix of n block rows of size bs and patterns of at most `longest` blocks. Memory:
  /// n integers, and the packed local systems that are worked on at a time.
  FsaiWorkRows(Ordinal n, Ordinal longest, int bs)
      : FsaiWorkRows(n, bs, std::size_t(longest) * bs + SimdCholesky<Scalar>::group) {}

private:
  FsaiWorkRows(Ordinal n, int bs, std::size_t unknowns)
      : position(n, -1), starts(unknowns),
        packed(std::max(packedRow(unknowns),
                        width * packedRow(std::min<std::size_t>(unknowns, largest_together)))),
        vector(width * unknowns), small(width * bs * unknowns), image(width * bs * unknowns),
        gram(std::size_t(bs) * bs) {}

  static constexpr std::size_t width = SimdCholesky<Scalar>::width;
};

/// Block rows i of G, of patterns P whose last block is the diagonal one:
///   A[P, P] = L L^T,   G_i = the last block row of L^-1.
/// The post-filter, see FsaiFilterRow, has the Gram matrix of what it drops, E_i, from the factor:
///   E_i A E_i^T = (E_i L) (E_i L)^T.
/// BS is the block size where compilers know it, else 0.
template <int BS, class Scalar, class Device>
struct FsaiHostRows {
  FsaiSystems<Scalar, Device> systems; ///< of all rows
  const char* active;                  ///< or null: all are
  double filter;                       ///< 0: none
  FsaiWorkRows<Scalar>* work_rows;     ///< one a thread

  /// The rows first .. end - 1, those of about equal length together.
  void operator()(int worker, Ordinal first, Ordinal end) const {
    FsaiWorkRows<Scalar>& work = work_rows[worker];
    std::vector<Ordinal>& rows = work.rows;
    rows.clear();
    for (Ordinal row = first; row < end; ++row) {
      if (active != nullptr && active[row] == 0)
        systems.info(row) = 0;
      else if (!(systems.shift > Scalar(0) && systems.info(row) == 0)) // else it is there already
        rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [&](Ordinal a, Ordinal b) { return unknowns(a) < unknowns(b); });
    const auto large = std::find_if(rows.begin(), rows.end(), [&](Ordinal row) {
      return unknowns(row) > work.largest_together;
    });
    const int together = static_cast<int>(large - rows.begin());
    constexpr int width = SimdCholesky<Scalar>::width;
    // Once for all of them: it counts a use of every array.
    const Filter small{systems.a, systems.pattern, systems.values, filter};
    for (int k = 0; k < together; k += width)
      Group<Several>(*this, work, small, rows.data() + k, std::min(width, together - k)).run();
    for (auto row = large; row != rows.end(); ++row)
      Group<One>(*this, work, small, &*row, 1).run();
  }

private:
  using Filter = FsaiFilterRow<Scalar, Device, BS>;

  int blockSize() const { return BS > 0 ? BS : systems.a.block_size; }
  int unknowns(Ordinal row) const {
    const Offset* const row_map = systems.pattern.row_map.data();
    return static_cast<int>(row_map[row + 1] - row_map[row]) * blockSize();
  }

  struct One {
    using Pack = Scalar;
  };
  struct Several {
    using Pack = typename SimdCholesky<Scalar>::Pack;
  };

  /// As many rows as a pack has scalars, or fewer, their local systems side by side. The shorter
  /// ones begin with rows of the identity.
  template <class Size>
  class Group {
    using Pack = typename Size::Pack;

  public:
    Group(const FsaiHostRows& all, FsaiWorkRows<Scalar>& work, const Filter& filter,
          const Ordinal* rows, int count)
        : all_(all), systems_(all.systems), work_(work), filter_(filter), rows_(rows),
          count_(count), n_(paddedSize(all.unknowns(rows[count - 1]))),
          packed_(work.packed.template as<Pack>()) {}

    void run() {
      std::fill(work_.packed.template as<Scalar>(),
                work_.packed.template as<Scalar>() + packedRow(Offset(n_)) * width, Scalar(0));
      for (int i = 0; i < n_; ++i)
        work_.starts[i] = i;
      for (int m = 0; m < width; ++m)
        load(m);
      int failed[width];
      factor(packed_, failed);
      for (int r = bs() - 1; r >= 0; --r) {
        solve(n_ - bs() + r);
        for (int m = 0; m < count_; ++m)
          if (failed[m] == 0)
            store(m, r);
      }
      if (all_.filter > 0)
        dropSmall(failed);
      for (int m = 0; m < count_; ++m) {
        const int pivot = failed[m] > 0 ? failed[m] - before(m) : 0;
        systems_.store(OneLane(), rows_[m], all_.unknowns(rows_[m]), pivot, nullptr);
      }
    }

  private:
    static constexpr int width = sizeof(Pack) / sizeof(Scalar);

    static int paddedSize(int n) {
      constexpr int group = width > 1 ? SimdCholesky<Scalar>::group : 1;
      return (n + group - 1) / group * group;
    }

    void factor(Scalar* packed, int (&failed)[1]) {
      failed[0] = HostCholesky<Scalar>(n_, packed, work_.starts.data()).factor();
    }
    void factor(typename SimdCholesky<Scalar>::Pack* packed,
                int (&failed)[SimdCholesky<Scalar>::width]) {
      SimdCholesky<Scalar>(n_, packed, work_.starts.data()).factor(failed);
    }

    int bs() const { return all_.blockSize(); }
    static Scalar& lane(Pack& pack, int m) { return reinterpret_cast<Scalar*>(&pack)[m]; }
    Pack* row(int i) const { return packed_ + packedRow(Offset(i)); }
    /// Rows of the identity before those of system m.
    int before(int m) const { return m < count_ ? n_ - all_.unknowns(rows_[m]) : n_; }
    Offset begin(int m) const { return systems_.pattern.row_map.data()[rows_[m]]; }

    /// System m: the lower triangle of A[P, P], and where its rows begin.
    void load(int m) {
      const int offset = before(m);
      for (int i = 0; i < offset; ++i)
        lane(row(i)[i], m) = Scalar(1);
      if (m >= count_)
        return;
      const int length = (n_ - offset) / bs();
      const Ordinal* const columns = systems_.pattern.entries.data() + begin(m);
      int* const position = work_.position.data();
      for (int q = 0; q < length; ++q)
        position[columns[q]] = q;
      for (int q = 0; q < length; ++q) {
        const int i = offset + q * bs();
        int start = i;
        forEachBlock(columns, q, [&](int p, Offset e) {
          const int j = offset + p * bs();
          start = std::min(start, j);
          copyBlock(m, i, j, e);
        });
        for (int r = 0; r < bs(); ++r)
          work_.starts[i + r] = std::min(work_.starts[i + r], start);
      }
      for (int q = 0; q < length; ++q)
        position[columns[q]] = -1;
      if (systems_.shift > Scalar(0))
        for (int i = offset; i < n_; ++i)
          lane(row(i)[i], m) *= Scalar(1) + systems_.shift;
    }

    /// f(p, e) for the blocks (q, p), p <= q, of A[P, P], e their places in A.
    template <class F>
    void forEachBlock(const Ordinal* columns, int q, const F& f) const {
      const Ordinal q_row = columns[q];
      const auto& graph = systems_.a.graph;
      const Ordinal* const a_columns = graph.entries.data();
      const Offset begin = graph.row_map.data()[q_row], end = graph.row_map.data()[q_row + 1];
      const int* const position = work_.position.data();
      // A search takes log2(length) steps, each of them a branch that nobody foresees; running over
      // the row ends at its diagonal. What a search costs is as much as so many entries.
      constexpr int steps_of_search = 16;
      if (end - begin > Offset(steps_of_search) * (q + 1)) {
        for (int p = 0; p <= q; ++p) {
          const Offset e = findEntry(graph.entries, begin, end, columns[p]);
          if (e >= 0)
            f(p, e);
        }
      } else {
        for (Offset e = begin; e < end && a_columns[e] <= q_row; ++e)
          if (position[a_columns[e]] >= 0)
            f(position[a_columns[e]], e);
      }
    }

    /// Block e of A goes to row i and column j of system m, as far as these lie in the triangle.
    void copyBlock(int m, int i, int j, Offset e) {
      const Scalar* const block = systems_.a.values.data() + e * bs() * bs();
      for (int r = 0; r < bs(); ++r)
        for (int c = 0; c < bs() && j + c <= i + r; ++c)
          lane(row(i + r)[j + c], m) = block[r * bs() + c];
    }

    /// Row k of each L^-1, that is y of L^T y = e_k:
    ///   y_j = (delta_jk - sum over i > j of L_ij y_i) / L_jj.
    void solve(int k) {
      Pack* const y = work_.vector.template as<Pack>();
      std::fill(work_.vector.template as<Scalar>(),
                work_.vector.template as<Scalar>() + Offset(n_) * width, Scalar(0));
      for (int m = 0; m < width; ++m)
        lane(y[k], m) = Scalar(1);
      for (int i = k; i >= 0; --i) {
        const Pack* const l = row(i);
        const Pack y_i = y[i] = l[i] * y[i]; // l_i is 1 / L_ii
        for (int j = work_.starts[i]; j < i; ++j)
          y[j] -= l[j] * y_i;
      }
    }

    /// Row r of block row m of G.
    void store(int m, int r) {
      Pack* const y = work_.vector.template as<Pack>();
      Scalar* to = systems_.values.data() + (begin(m) * bs() + r) * bs();
      for (int i = before(m); i < n_; i += bs(), to += bs() * bs())
        for (int c = 0; c < bs(); ++c)
          to[c] = lane(y[i + c], m);
    }

    /// G_i <- C^-1 (G - E)_i,   I + E_i A E_i^T = C C^T, for all rows that have not failed.
    void dropSmall(const int (&failed)[width]) {
      typename Filter::Row limits[width];
      bool drops[width] = {};
      std::fill(work_.small.template as<Scalar>(),
                work_.small.template as<Scalar>() + Offset(n_) * bs() * width, Scalar(0));
      for (int m = 0; m < count_; ++m)
        if (failed[m] == 0) {
          limits[m] = limitOf(m);
          drops[m] = gatherSmall(limits[m], m);
        }
      if (std::none_of(drops, drops + width, [](bool drop) { return drop; }))
        return;
      multiplySmall();
      for (int m = 0; m < count_; ++m)
        if (drops[m]) {
          takeGram(m);
          invertCholeskyFactor(work_.gram.data(), bs());
          for (Offset e = limits[m].begin; e < limits[m].end; ++e)
            filter_.scaleOrDrop(limits[m], e, work_.gram.data());
        }
    }

    auto limitOf(int m) const {
      return filter_.rowOf(rows_[m], [&](const auto& squaredNorm) {
        double sum = 0;
        for (int p = 0; p < (n_ - before(m)) / bs(); ++p)
          sum += squaredNorm(p);
        return sum;
      });
    }

    /// E_i of row m. Returns whether it has an entry.
    bool gatherSmall(const typename Filter::Row& limit, int m) {
      Pack* const small = work_.small.template as<Pack>();
      bool any = false;
      for (Offset e = limit.begin; e < limit.end; ++e) {
        if (!filter_.isDropped(limit, e))
          continue;
        any = true;
        const int i = before(m) + static_cast<int>(e - limit.begin) * bs();
        const Scalar* const block = systems_.values.data() + e * bs() * bs();
        for (int r = 0; r < bs(); ++r)
          for (int c = 0; c < bs(); ++c)
            lane(small[Offset(r) * n_ + i + c], m) = block[r * bs() + c];
      }
      return any;
    }

    /// The E_i L.
    void multiplySmall() {
      Pack* const small = work_.small.template as<Pack>();
      Pack* const image = work_.image.template as<Pack>();
      std::fill(work_.image.template as<Scalar>(),
                work_.image.template as<Scalar>() + Offset(n_) * bs() * width, Scalar(0));
      for (int r = 0; r < bs(); ++r)
        for (int i = 0; i < n_; ++i) {
          Pack& e = small[Offset(r) * n_ + i];
          const Scalar* const scalars = &lane(e, 0);
          if (std::all_of(scalars, scalars + width, [](Scalar s) { return s == Scalar(0); }))
            continue;
          Pack* const l = row(i);
          Pack* const u = image + Offset(r) * n_;
          for (int j = work_.starts[i]; j < i; ++j)
            u[j] += l[j] * e;
          for (int m = 0; m < width; ++m) // l_i is 1 / L_ii
            lane(u[i], m) += lane(e, m) / lane(l[i], m);
        }
    }

    /// C C^T of row m.
    void takeGram(int m) {
      Pack* const image = work_.image.template as<Pack>();
      for (int r = 0; r < bs(); ++r)
        for (int s = 0; s <= r; ++s) {
          double sum = r == s ? 1 : 0;
          for (int j = 0; j < n_; ++j)
            sum += double(lane(image[Offset(r) * n_ + j], m)) *
                   double(lane(image[Offset(s) * n_ + j], m));
          work_.gram[r * bs() + s] = work_.gram[s * bs() + r] = static_cast<Scalar>(sum);
        }
    }

    const FsaiHostRows& all_;
    const FsaiSystems<Scalar, Device>& systems_;
    FsaiWorkRows<Scalar>& work_;
    const Filter& filter_;
    const Ordinal* const rows_;
    const int count_, n_;
    Pack* const packed_;
  };
};

} // namespace detail
} // namespace ainvil
