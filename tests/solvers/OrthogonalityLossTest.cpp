// SPDX-License-Identifier: BSD-3-Clause
/// How orthogonal the basis of GMRES is, against what the estimate by which it takes second passes
/// says.
#include "krylov/Ainvil_ArnoldiKernels.hpp"

#include "solvers/SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

using detail::OrthogonalityLoss;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double never = std::numeric_limits<double>::infinity();
const double semi_orthogonal = std::sqrt(eps);

/// Steps of Arnoldi by the kernels of GMRES.
struct Basis {
  std::vector<Doubles> v;
  std::vector<Doubles> estimates; ///< entries (0, j), ..., (j - 1, j) of V^T V
  int second_passes = 0;

  double trueLoss(int j) const {
    Doubles products;
    for (int k = 0; k < j; ++k)
      products.push_back(dot(v[k], v[j]));
    return norm(products);
  }
  double largestLoss() const {
    double loss = 0;
    for (size_t j = 0; j < v.size(); ++j)
      loss = std::max(loss, trueLoss(int(j)));
    return loss;
  }
};

/// A second pass where the estimated loss is larger than `allowed`. That of the last of some
/// right-hand sides, the others of which start elsewhere.
Basis arnoldi(const HostCsr& a, const Doubles& start, int steps, double allowed,
              int chunks_per_team = 1, int sides = 1) {
  const Exec exec;
  const Offset n = a.size();
  const int capacity = steps + 2;
  const int size = steps + 1;
  const Kokkos::View<double*, Device> basis("basis", sides * steps * n),
      losses("losses", sides * size * size);
  const int record_size = detail::ArnoldiStep::sizeFor(capacity, sides);
  const Kokkos::View<double*, Device> records("records", (steps + 1) * record_size);
  const MultiVector<double, Device> u("u", n, sides), z("z", n, sides);
  const auto column = [](const MultiVector<double, Device>& x, int side) {
    return Kokkos::subview(x, Kokkos::ALL, side);
  };
  for (int side = 0; side < sides; ++side)
    Kokkos::deep_copy(column(u, side),
                      toDevice<double>(side < sides - 1 ? randomVector(n, 50 + side) : start));
  const auto shape = detail::SumTeams::forRows(exec, n);
  const detail::PartialSums<Device> sums(exec, 2 * capacity, shape, nullptr, sides);
  const detail::ChunkShares shares{shape.chunks, sides, chunks_per_team};
  const OrthogonalityLoss loss{losses.data(), size, 11 * eps, allowed, true};
  const auto all = detail::ColumnSet::first(sides);

  Basis result;
  for (int j = 0; j < steps; ++j) {
    for (int side = 0; side < sides; ++side) {
      const Vector<double, Device> candidate("candidate", n);
      Kokkos::deep_copy(candidate, column(u, side));
      Kokkos::deep_copy(column(z, side), toDevice<double>(a.times(toHost(candidate))));
    }
    const auto step = detail::ArnoldiStep::at(records.data() + j * record_size, capacity, sides);
    const detail::ArnoldiOperands<double, double> on{{basis.data(), n, steps * n}, u, z, all, step};
    using Dots = detail::ArnoldiDotsKernel<double, double, Device, detail::ArnoldiForm::General>;
    Kokkos::parallel_for(
        shape.policy<Dots::gpu_threads>(
            exec, Dots::scratchBytes(shape.teamSize<Dots::gpu_threads>(), chunks_per_team), shares),
        Dots{on.toRead(), j, sums.inKernel(), n, shape.rows_per_chunk, shape.lanes, shares, true,
             loss});
    using Update =
        detail::ArnoldiUpdateKernel<double, double, Device, detail::ArnoldiForm::General>;
    const auto runs = detail::runsOf<Exec>(all, n);
    Kokkos::parallel_for(detail::Range<Exec>(exec, 0, runs.numItems()),
                         Update{on, runs, n, j, loss});
  }
  exec.fence();
  const auto v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), basis);
  const auto e = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), losses);
  const auto r = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), records);
  const int last = sides - 1;
  const double *const v_last = v.data() + last * steps * n, *e_last = e.data() + last * size * size;
  for (int j = 0; j < steps; ++j) {
    result.v.emplace_back(v_last + j * n, v_last + (j + 1) * n);
    result.estimates.emplace_back(e_last + j * size, e_last + j * size + j);
    const auto step = detail::ArnoldiStep::at(r.data() + j * record_size, capacity, sides);
    result.second_passes += j > 0 && step.record(last).again() != 0;
  }
  return result;
}

/// Condition number 1e10.
HostCsr graded(int n) {
  return matrixOf(n, [n](int i, int j) {
    const double d = std::pow(10.0, -10.0 * i / (n - 1));
    return i == j ? d : j == i + 1 ? 0.1 * d : 0.0;
  });
}

/// Its entries must say at least what is lost, whatever number of passes a vector has taken.
TEST(OrthogonalityLoss, IsNoMoreThanEstimated) {
  const std::vector<HostCsr> matrices{convectionDiffusion(31, 33, 0.4, 0.1),
                                      convectionDiffusion(9, 7, -1.5), graded(100),
                                      convectionDiffusion(50, 50)};
  for (size_t k = 0; k < matrices.size(); ++k)
    for (const double allowed : {0.0, 1e-12, semi_orthogonal, 1e-4, never}) {
      SCOPED_TRACE(message("matrix ", k, ", ", allowed, " allowed"));
      const Basis basis = arnoldi(matrices[k], randomVector(matrices[k].size(), 5), 40, allowed);
      for (int j = 0; j < 40; ++j) {
        const double estimate = norm(basis.estimates[j]);
        if (estimate > 1e-3) // it is linear in the loss
          break;
        EXPECT_LE(basis.trueLoss(j), estimate) << j;
        EXPECT_NEAR(norm(basis.v[j]), 1, 1e-14) << j;
      }
    }
}

/// One pass alone loses everything; with second passes where the estimate asks for them nothing
/// that matters is lost.
TEST(OrthogonalityLoss, IsKeptSmallWhereOnePassFails) {
  const HostCsr a = graded(100);
  const Doubles start = a.times(Doubles(100, 1.0));
  EXPECT_GT(arnoldi(a, start, 99, never).largestLoss(), 0.1);
  const Basis by_need = arnoldi(a, start, 99, semi_orthogonal);
  EXPECT_LT(by_need.largestLoss(), semi_orthogonal);
  EXPECT_GT(by_need.second_passes, 0);
  const Basis twice = arnoldi(a, start, 99, 0);
  EXPECT_LT(twice.largestLoss(), 1e-14);
  EXPECT_EQ(twice.second_passes, 98);
  EXPECT_LT(by_need.second_passes, twice.second_passes);
}

/// Not a bound that grows whatever happens: 30 steps on a Laplacian with wind need no second pass.
TEST(OrthogonalityLoss, NeedsNoSecondPassWhereOneServes) {
  const HostCsr a = convectionDiffusion(40, 40, 0.3, 0.2);
  const Basis basis = arnoldi(a, randomVector(a.size(), 5), 30, semi_orthogonal);
  EXPECT_EQ(basis.second_passes, 0);
  EXPECT_LT(basis.largestLoss(), 1e-10);
}

/// Sums are those of single chunks, however many a team takes, and of whichever right-hand sides.
TEST(OrthogonalityLoss, VectorsDoNotDependOnTheTeams) {
  const HostCsr a = convectionDiffusion(50, 51, 0.3, 0.2);
  const Doubles start = randomVector(a.size(), 7);
  ASSERT_EQ(detail::SumTeams::forRows(Exec(), a.size()).chunks,
            compat::IsGpu<Exec>::value ? 3 : 10);
  for (const double allowed : {0.0, semi_orthogonal}) {
    const Basis expected = arnoldi(a, start, 11, allowed);
    for (const int chunks_per_team : {2, 3, 4, 10})
      for (const int sides : {1, 2, 3})
        EXPECT_EQ(arnoldi(a, start, 11, allowed, chunks_per_team, sides).v, expected.v)
            << chunks_per_team << " chunks a team, " << sides << " sides";
  }
}

/// Every chunk of every column is one team's, and what a team is told of the others is true. Hosts:
/// as many chunks as there are for each thread, at most four. GPUs: no more teams than run at a
/// time, but a team a chunk where they are long.
TEST(SumTeams, ShareChunks) {
  const int threads = Exec().concurrency();
  for (const Offset rows : {Offset(1), Offset(256), Offset(257), Offset(64 * 256 + 1),
                            Offset(64 * 4096), Offset(64 * 4096 + 1), Offset(10'000'000)})
    for (const int columns : {1, 2, 3, 6, 8}) {
      SCOPED_TRACE(message(rows, " rows, ", columns, " columns"));
      const auto shape = detail::SumTeams::forRows(Exec(), rows);
      const auto shares = shape.shares(Exec(), columns);
      EXPECT_EQ(shape.policy(Exec(), 64, shares).league_size(), shares.teams());
      std::vector<int> next(columns), told(columns), teams(columns);
      for (int team = 0; team < shares.teams(); ++team) {
        int taken = 0;
        shares.forColumnsOf(team, [&](int k, int first, int count, int sharing) {
          ASSERT_GE(count, 1);
          EXPECT_EQ(first, next[k]);
          next[k] += count;
          taken += count;
          EXPECT_TRUE(teams[k] == 0 || told[k] == sharing);
          told[k] = sharing;
          ++teams[k];
        });
        EXPECT_LE(taken, shares.per_team);
      }
      EXPECT_EQ(next, std::vector<int>(columns, shape.chunks));
      EXPECT_EQ(told, teams);
      if (compat::IsGpu<Exec>::value) {
        const int at_a_time = std::max(1, threads / (2 * detail::SumTeams::gpu_threads));
        if (shape.rows_per_chunk > detail::SumTeams::longest_shared_chunk) {
          EXPECT_EQ(shares.per_team, 1);
        } else {
          EXPECT_LE(shares.teams(), at_a_time);
        }
        continue;
      }
      EXPECT_GE(shape.rows_per_chunk, 256);
      EXPECT_LE(shape.rows_per_chunk, 4096);
      if (rows > 64 * 256 && rows <= 64 * 4096) {
        EXPECT_LE(shape.chunks, 64);
      }
      EXPECT_LE(shares.per_team, 4);
      if (shares.per_team > 1) {
        EXPECT_GE(shape.chunks / shares.per_team, threads);
      }
    }
}

/// Where what is left of a product is rounding, the estimate must not trust it.
TEST(OrthogonalityLoss, AVectorOfRoundingTakesASecondPass) {
  const HostCsr a = diagonalOf({1, 1 + 1e-13, 1, 1, 1 - 1e-13, 1});
  const Basis basis = arnoldi(a, Doubles(6, 1.0), 2, semi_orthogonal);
  EXPECT_EQ(basis.second_passes, 1);
}

} // namespace
} // namespace test
} // namespace ainvil
