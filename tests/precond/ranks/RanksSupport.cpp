// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ranks/RanksSupport.hpp"

#include <algorithm>
#include <cmath>
#include <mpi.h>
#include <random>

namespace ainvil {
namespace test {

int rankOfWorld() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int numRanks() {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

Rows rowsOf(const System& system, Spread spread) {
  const int n = system.numBlockRows(), ranks = numRanks(), rank = rankOfWorld();
  if (spread == Spread::Last)
    return {0, rank == ranks - 1 ? n : 0};
  return {static_cast<int>((long long)n * rank / ranks),
          static_cast<int>((long long)n * (rank + 1) / ranks)};
}

System localPart(const System& system, Spread spread) {
  const Rows rows = rowsOf(system, spread);
  const int bs2 = system.block_size * system.block_size;
  System local;
  local.block_size = system.block_size;
  local.row_map = {0};
  for (int row = rows.first; row < rows.end; ++row) {
    for (int e = system.row_map[row]; e < system.row_map[row + 1]; ++e)
      if (rows.first <= system.entries[e] && system.entries[e] < rows.end) {
        local.entries.push_back(system.entries[e] - rows.first);
        local.values.insert(local.values.end(), system.values.begin() + size_t(e) * bs2,
                            system.values.begin() + size_t(e + 1) * bs2);
      }
    local.row_map.push_back(static_cast<int>(local.entries.size()));
  }
  local.rhs.assign(local.numRows(), 1);
  return local;
}

std::vector<double> randomNumbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> numbers(n);
  for (double& number : numbers)
    number = 2.0 * random() / 4294967296.0 - 1;
  return numbers;
}

System bandSystem(int block_rows, int half_width, int block_size, bool symmetric, unsigned seed) {
  System system;
  system.block_size = block_size;
  system.row_map = {0};
  const int bs = block_size;
  const auto value = [&](int i, int j) { // the same for (j, i) if symmetric
    if (symmetric && i > j)
      std::swap(i, j);
    std::mt19937 random(seed + 7919u * i + 104729u * j);
    const double off = 2.0 * random() / 4294967296.0 - 1;
    return i == j ? (2 * half_width + 1) * bs + off : off;
  };
  for (int row = 0; row < block_rows; ++row) {
    for (int column = std::max(0, row - half_width);
         column <= std::min(block_rows - 1, row + half_width); ++column) {
      system.entries.push_back(column);
      for (int i = 0; i < bs; ++i)
        for (int j = 0; j < bs; ++j)
          system.values.push_back(value(row * bs + i, column * bs + j));
    }
    system.row_map.push_back(static_cast<int>(system.entries.size()));
  }
  system.rhs.assign(system.numRows(), 1);
  return system;
}

System singularOnTheLast() {
  System system = bandSystem(40, 1, 1, true, 29);
  system.values[system.row_map[39] + 1] =
      system.values[system.row_map[39]] * system.values[system.row_map[39]];
  system.values[system.row_map[38] + 1] = 1; // pivot of row 39: a - l^2 / 1 = 0
  system.values[system.row_map[38]] = system.values[system.row_map[37] + 2] = 0;
  return system;
}

::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in:\n" << text;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double pair[2] = {a.size() == b.size() ? 0.0 : INFINITY, 0}, all[2];
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    // A NaN is no number that is smaller.
    pair[0] = std::fabs(a[i] - b[i]) <= pair[0] ? pair[0] : std::fabs(a[i] - b[i]);
    if (std::isnan(a[i]) || std::isnan(b[i]))
      pair[0] = INFINITY;
    pair[1] = std::max(pair[1], std::fabs(b[i]));
  }
  MPI_Allreduce(pair, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[1] > 0 ? all[0] / all[1] : all[0];
}

} // namespace test
} // namespace ainvil
