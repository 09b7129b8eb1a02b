// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/Ainvil_GalleryRows.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace ainvil {
namespace gallery_detail {
namespace {

struct Vec {
  double x, y;
};
Vec operator+(Vec a, Vec b) {
  return {a.x + b.x, a.y + b.y};
}
Vec operator-(Vec a, Vec b) {
  return {a.x - b.x, a.y - b.y};
}
Vec operator*(double s, Vec a) {
  return {s * a.x, s * a.y};
}

// A triangulation of any number of nodes >= 3: a square lattice of unit meshes, its last line
// perhaps cut short, with every node moved by up to a fifth of a mesh in x and y, which keeps the
// cells convex, and the diagonal of every cell thrown by lot. Nodes are numbered line by line.
class Triangulation {
public:
  explicit Triangulation(Ordinal nodes)
      : nodes_(nodes), width_(Ordinal(std::sqrt(nodes - 1.0)) + 1), positions_(nodes) {
    for (Ordinal node = 0; node < nodes; ++node) {
      const std::uint64_t counter = 2 * std::uint64_t(node);
      positions_[node] = {node % width_ + 0.4 * (random(counter) - 0.5),
                          node / width_ + 0.4 * (random(counter + 1) - 0.5)};
    }
  }

  Ordinal width() const { return width_; } // of the domain, in nodes and in meshes
  Vec position(Ordinal node) const { return positions_[node]; }

  // Calls visit(other, next) for each triangle (node, other, next), counterclockwise.
  template <class Visit>
  void visitTriangles(Ordinal node, const Visit& visit) const {
    for (const Ordinal dy : {-1, 0})
      for (const Ordinal dx : {-1, 0}) {
        const Ordinal x = node % width_ + dx, y = node / width_ + dy;
        if (x >= 0 && x + 1 < width_ && y >= 0)
          visitCell(y * width_ + x, node, visit);
      }
  }

private:
  template <class Visit>
  void visitCell(Ordinal first, Ordinal node, const Visit& visit) const {
    const Ordinal left = nodes_ - first; // nodes from the first corner on
    if (left <= width_)
      return;
    const Ordinal corner[4] = {first, first + 1, first + width_ + 1, first + width_};
    if (left == width_ + 1) // the end of a short last line
      return visitTriangle({corner[0], corner[1], corner[3]}, node, visit);
    const int tail = hash(~std::uint64_t(first)) & 1; // the diagonal leaves corner 0 or corner 1
    const int head = tail + 2;
    visitTriangle({corner[tail], corner[tail + 1], corner[head]}, node, visit);
    visitTriangle({corner[head], corner[(head + 1) % 4], corner[tail]}, node, visit);
  }

  template <class Visit>
  static void visitTriangle(std::array<Ordinal, 3> t, Ordinal node, const Visit& visit) {
    for (int a = 0; a < 3; ++a)
      if (t[a] == node)
        visit(t[(a + 1) % 3], t[(a + 2) % 3]);
  }

  Ordinal nodes_, width_;
  std::vector<Vec> positions_;
};

// The median-dual control volume of a node: its area and its faces, one for each neighbour and a
// last one that closes it, on the boundary, whose neighbour is the node itself.
class ControlVolume {
public:
  struct Face {
    Ordinal neighbour;
    Vec normal; // outward, as long as the face
  };

  ControlVolume(const Triangulation& mesh, Ordinal node) {
    const Vec p = mesh.position(node);
    mesh.visitTriangles(node, [&](Ordinal other, Ordinal next) {
      const Vec q = mesh.position(other) - p, r = mesh.position(next) - p;
      const Vec centroid = (1.0 / 3) * (q + r);
      area_ += (q.x * r.y - q.y * r.x) / 6;
      addSegment(other, centroid - 0.5 * q);
      addSegment(next, 0.5 * r - centroid);
    });
    Vec open{0, 0};
    for (const Face& face : *this)
      open = open - face.normal;
    faces_[num_faces_++] = {node, open};
  }

  double area() const { return area_; }
  int numFaces() const { return num_faces_; }
  const Face* begin() const { return faces_; }
  const Face* end() const { return faces_ + num_faces_; }

  // Renames the neighbours and puts them in ascending order, by insertion.
  void renumber(const std::vector<Ordinal>& new_number) {
    const auto less = [](const Face& a, const Face& b) { return a.neighbour < b.neighbour; };
    for (Face* face = faces_; face != faces_ + num_faces_; ++face) {
      face->neighbour = new_number[face->neighbour];
      std::rotate(std::upper_bound(faces_, face, *face, less), face, face + 1);
    }
  }

private:
  // The segment runs counterclockwise around the node.
  void addSegment(Ordinal neighbour, Vec segment) {
    int k = 0;
    while (k < num_faces_ && faces_[k].neighbour != neighbour)
      ++k;
    if (k == num_faces_)
      faces_[num_faces_++] = {neighbour, {0, 0}};
    faces_[k].normal = faces_[k].normal + Vec{segment.y, -segment.x};
  }

  double area_ = 0;
  int num_faces_ = 0;
  Face faces_[9]; // eight lattice neighbours at most, and the boundary
};

using Block = std::array<double, 16>;

// The flux Jacobian A of the Euler equations through a face of normal n, in conservative variables
// (density, momentum, energy), split into the characteristics that run along the normal and against
// it (Steger and Warming 1981). The flow has density 1 and speed of sound 1.
struct SplitJacobian {
  Block along{};   // A+, eigenvalues >= 0
  Block against{}; // A-, eigenvalues <= 0

  // A has the eigenvalues q - c, q, q + c with q = velocity . n, c = |n|; so A+ = f(A) with
  // f(t) = max(t, 0) is the parabola through f at these three, in Newton's form with B = A - q I.
  SplitJacobian(Vec velocity, Vec n) {
    constexpr double g = 0.4; // ratio of specific heats - 1
    const double u = velocity.x, v = velocity.y;
    const double kinetic = 0.5 * (u * u + v * v);
    const double enthalpy = 1 / g + kinetic;
    const double q = u * n.x + v * n.y;
    const double c = std::sqrt(n.x * n.x + n.y * n.y);
    if (c == 0) // no face: an inner control volume closes without one on the boundary
      return;
    const double b[4][4] = {
        {-q, n.x, n.y, 0},
        {g * kinetic * n.x - u * q, (1 - g) * u * n.x, u * n.y - g * v * n.x, g * n.x},
        {g * kinetic * n.y - v * q, v * n.x - g * u * n.y, (1 - g) * v * n.y, g * n.y},
        {(g * kinetic - enthalpy) * q, enthalpy * n.x - g * u * q, enthalpy * n.y - g * v * q,
         g * q}};

    const auto f = [](double t) { return std::max(t, 0.0); };
    const double slope = (f(q + c) - f(q - c)) / (2 * c);
    const double bend = (f(q + c) - 2 * f(q) + f(q - c)) / (2 * c * c);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        double square = 0;
        for (int k = 0; k < 4; ++k)
          square += b[i][k] * b[k][j];
        const double identity = i == j ? 1 : 0;
        along[4 * i + j] = f(q) * identity + slope * b[i][j] + bend * square;
        against[4 * i + j] = q * identity + b[i][j] - along[4 * i + j];
      }
  }
};

// The numbers 0 .. n-1, shuffled inside consecutive windows.
std::vector<Ordinal> shuffledWindows(Ordinal n, Ordinal window) {
  std::vector<Ordinal> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (Ordinal i = 0; i < n; ++i) { // Fisher-Yates, a window at a time
    const Ordinal end = static_cast<Ordinal>(std::min<Offset>(n, Offset(i / window + 1) * window));
    std::swap(order[i], order[i + Ordinal(hash(std::uint64_t(i) << 32) % std::uint64_t(end - i))]);
  }
  return order;
}

} // namespace

// An implicit step of the two-dimensional Euler equations, linearised about a smooth flow of Mach
// number 1/2 that winds through a square domain, by first-order upwind finite volumes with
// free-stream boundaries:
//   area / dt dU_i + sum_j A+(n_ij) dU_i + A-(n_ij) dU_j = rhs_i,   n_ij from node i to node j.
Problem makeEuler(const Grid& nodes) {
  constexpr double pi = 3.14159265358979323846;
  constexpr double mach = 0.5;
  constexpr double dt = 100;     // a sound wave crosses as many meshes in one step
  constexpr Ordinal window = 64; // neighbours in a row of the mesh are renumbered this far apart
  const Ordinal n = nodes.size();
  const Triangulation mesh(n);
  const std::vector<Ordinal> node_of_row = shuffledWindows(n, window);
  std::vector<Ordinal> row_of_node(n);
  std::vector<Vec> velocity(n); // by rows
  for (Ordinal row = 0; row < n; ++row) {
    row_of_node[node_of_row[row]] = row;
    const Vec p = (2 * pi / mesh.width()) * mesh.position(node_of_row[row]);
    const double angle = pi * std::sin(p.x) * std::sin(p.y);
    velocity[row] = mach * Vec{std::cos(angle), std::sin(angle)};
  }

  Problem problem;
  problem.spd = false;
  problem.matrix = assembleRows(
      n, 4, [&](Ordinal row) { return ControlVolume(mesh, node_of_row[row]).numFaces(); },
      [&](Ordinal row, Ordinal* columns, double* values) {
        ControlVolume volume(mesh, node_of_row[row]);
        volume.renumber(row_of_node);
        Block diagonal{};
        for (int i = 0; i < 4; ++i)
          diagonal[5 * i] = volume.area() / dt;
        double* diagonal_values = nullptr;
        for (const auto& [neighbour, normal] : volume) {
          const SplitJacobian jacobian(0.5 * (velocity[row] + velocity[neighbour]), normal);
          for (int k = 0; k < 16; ++k)
            diagonal[k] += jacobian.along[k];
          if (neighbour == row)
            diagonal_values = values;
          else
            std::copy(jacobian.against.begin(), jacobian.against.end(), values);
          *columns++ = neighbour;
          values += 16;
        }
        std::copy(diagonal.begin(), diagonal.end(), diagonal_values);
      });
  return problem;
}

} // namespace gallery_detail
} // namespace ainvil
