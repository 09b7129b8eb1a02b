// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/Ainvil_GalleryRows.hpp"

#include <cmath>

namespace ainvil {
namespace gallery_detail {
namespace {

constexpr Ordinal num_hubs = 3;

// A network of conductances between n nodes on a chain: node i is wired to i - s, i - 1, i + 1 and
// i + s, s = sqrt(n), which makes it look like a board, and three hubs, say supply rails, sense 55
// per cent of all nodes. The senses are one way, so hub rows are long and hub columns are not.
class Circuit {
public:
  explicit Circuit(Ordinal nodes)
      : nodes_(nodes), width_(std::max<Ordinal>(2, Ordinal(std::sqrt(double(nodes))))) {}

  bool isHub(Ordinal i) const {
    for (Ordinal h = 1; h <= num_hubs; ++h)
      if (i == hub(h))
        return true;
    return false;
  }

  bool coupled(Ordinal i, Ordinal j) const {
    const Ordinal distance = i < j ? j - i : i - j;
    return distance <= 1 || distance == width_ || (isHub(i) && random(edge(i, j)) < 0.55);
  }

  // Of the wire between two nodes, over four decades; of a sense, small.
  double conductance(Ordinal i, Ordinal j) const {
    const Ordinal low = i < j ? i : j, high = i < j ? j : i;
    if (high - low != 1 && high - low != width_)
      return 1e-4;
    return std::pow(10.0, 4 * random(edge(low, high)) - 2);
  }

  Ordinal width() const { return width_; }
  Ordinal nodes() const { return nodes_; }

private:
  Ordinal hub(Ordinal h) const { return Ordinal(Offset(nodes_) * h / (num_hubs + 1)); }
  std::uint64_t edge(Ordinal i, Ordinal j) const {
    return std::uint64_t(i) * std::uint64_t(nodes_) + std::uint64_t(j);
  }

  Ordinal nodes_, width_;
};

// Calls visit(j) for the columns of a row in ascending order.
template <class Visit>
void visitRow(const Circuit& circuit, Ordinal i, const Visit& visit) {
  if (circuit.isHub(i)) {
    for (Ordinal j = 0; j < circuit.nodes(); ++j)
      if (circuit.coupled(i, j))
        visit(j);
    return;
  }
  for (const Offset j : {Offset(i) - circuit.width(), Offset(i) - 1, Offset(i), Offset(i) + 1,
                         Offset(i) + circuit.width()})
    if (j >= 0 && j < circuit.nodes())
      visit(static_cast<Ordinal>(j));
}

} // namespace

Problem makeCircuit(const Grid& grid) {
  const Circuit circuit(grid.nx);
  Problem problem;
  problem.spd = false;
  problem.matrix = assembleRows(
      grid.nx, 1,
      [&](Ordinal i) {
        Offset length = 0;
        visitRow(circuit, i, [&](Ordinal) { ++length; });
        return length;
      },
      [&](Ordinal i, Ordinal* columns, double* values) {
        constexpr double ground = 1e-3;
        double sum = ground;
        double* diagonal = nullptr;
        visitRow(circuit, i, [&](Ordinal j) {
          *columns++ = j;
          if (j == i) {
            diagonal = values++;
            return;
          }
          const double g = circuit.conductance(i, j);
          sum += g;
          *values++ = -g;
        });
        *diagonal = sum;
      });
  return problem;
}

// Graph Laplacian of a plane grid whose edges have weights u^-0.6, u uniform in (0, 1]: a power law
// without variance, so that a few edges are very stiff. A leak of 0.01 at every node makes it SPD.
Problem makeNetwork(const Grid& grid) {
  constexpr double leak = 0.01, exponent = -0.6;
  const std::vector<Point> steps = starStencil();
  const auto weight = [=](Point p, Point s) {
    const Point low = s.x + s.y > 0 ? p : p + s;
    const std::uint64_t edge = 2 * std::uint64_t(grid.index(low)) + (s.y != 0 ? 1 : 0);
    return std::pow(1 - random(edge), exponent);
  };
  Problem problem;
  problem.spd = true;
  problem.matrix = assembleStencil(grid, steps, 1, [&](Point p, size_t k, double* value) {
    if (!(steps[k] == here)) {
      *value = -weight(p, steps[k]);
      return;
    }
    *value = leak;
    for (const Point s : steps)
      if (!(s == here) && grid.contains(p + s))
        *value += weight(p, s);
  });
  return problem;
}

// Chains of eight unknowns, each ten times the one before and a source: lower bidiagonal, so ILU(0)
// is exact, yet every sweep of a triangular solve multiplies the error by ten before the chain
// ends.
Problem makeChain(const Grid& grid) {
  constexpr Ordinal length = 8;
  Problem problem;
  problem.spd = false;
  problem.matrix = assembleRows(
      grid.nx, 1, [](Ordinal i) { return i % length == 0 ? 1 : 2; },
      [](Ordinal i, Ordinal* columns, double* values) {
        if (i % length != 0) {
          *columns++ = i - 1;
          *values++ = -10;
        }
        *columns = i;
        *values = 1;
      });
  return problem;
}

} // namespace gallery_detail
} // namespace ainvil
