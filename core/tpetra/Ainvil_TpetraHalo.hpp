// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The part of products over ranks that needs other ranks.

#include "Ainvil_TpetraHaloExchange.hpp"
#include "Ainvil_TpetraHaloRows.hpp"

#include <map>

namespace ainvil {
namespace tpetra {

/// With the own unknowns x_r of a rank and those h_r of others that its rows name,
///     y_r += alpha H_r h_r                         begin(x), then add(y)
///     y_r += alpha sum_s (H_s^T x_s)|_r            beginTransposed(x), then addTransposed(y)
/// over the other ranks s. Between the two calls messages travel, and the caller multiplies with
/// the rank's own block. Sums have one order: results are the same every time. All calls that
/// exchange are collective among neighbours.
///
/// Workspace: h_r of one vector and one product with H_r, and those of so many vectors for each
/// number of them that has been multiplied at a time. An object serves one product at a time.
template <class Scalar, class LO, class GO, class Node>
class Halo {
public:
  using Exchange = HaloExchange<Scalar, LO, GO, Node>;      ///< of h_r
  using Device = typename Node::device_type;                ///< of the vectors
  using execution_space = typename Device::execution_space; ///< of the kernels
  using Rows = HaloRows<Scalar, Device>;                    ///< H_r
  using VectorIn = MultiVectorArg<const Scalar, Device>;    ///< a rank's rows, read
  using VectorOut = MultiVectorArg<Scalar, Device>;         ///< a rank's rows, written
  using Values = Kokkos::View<const Scalar*, Device>;       ///< of matrices

  /// No rank needs another.
  Halo() = default;
  /// The exchange brings the unknowns of rows.columns(), in their order.
  Halo(const execution_space& exec, const Rows& rows, const Exchange& exchange)
      : exists_(true), rows_(rows), exchange_(exchange) {
    workspaceOf(exec, 1);
  }

  /// Whether any rank has a halo; else the other calls do nothing.
  bool exists() const { return exists_; }
  const Rows& rows() const { return rows_; }             ///< H_r
  const Exchange& exchange() const { return exchange_; } ///< of h_r

  /// Takes the values of H_r, see HaloRows. Asynchronous; no allocation.
  void update(const execution_space& exec, const Values& all) {
    if (exists_)
      rows_.update(exec, all);
  }

  /// Makes room for products with so many columns. \throws OutOfMemory
  void reserve(const execution_space& exec, size_t columns) const {
    if (exists_)
      workspaceOf(exec, columns);
  }

  /// Sends what of x the others need. Asynchronous on the device.
  void begin(const execution_space& exec, const VectorIn& x) const {
    if (!exists_)
      return;
    workspaceOf(exec, x.extent(1));
    exchange_.begin(exec, x);
  }
  /// Waits for the messages.
  void add(const execution_space& exec, Scalar alpha, const VectorOut& y) const {
    if (!exists_)
      return;
    const Workspace& space = workspaceOf(exec, y.extent(1));
    exchange_.end(exec, space.unknowns);
    rows_.add(exec, alpha, VectorIn(space.unknowns), space.products, y);
  }

  /// The same for the transposed products; needs rows that keepTransposed() and an exchange that
  /// has allowReverse().
  void beginTransposed(const execution_space& exec, const VectorIn& x) const {
    if (!exists_)
      return;
    const Workspace& space = workspaceOf(exec, x.extent(1));
    rows_.multiplyTransposed(exec, x, space.unknowns);
    exchange_.beginReverse(exec, VectorIn(space.unknowns));
  }
  /// Waits for the messages.
  void addTransposed(const execution_space& exec, Scalar alpha, const VectorOut& y) const {
    if (exists_)
      exchange_.endReverse(exec, alpha, y);
  }

private:
  struct Workspace {
    MultiVector<Scalar, Device> unknowns, products;
  };

  const Workspace& workspaceOf(const execution_space& exec, size_t columns) const {
    const auto known = known_.find(columns);
    if (known != known_.end())
      return known->second;
    using Vectors = MultiVector<Scalar, Device>;
    exchange_.reserve(exec, columns);
    const Workspace space = {
        allocateView<Vectors>(exec, "Ainvil::halo", rows_.numPointCols(), columns),
        allocateView<Vectors>(exec, "Ainvil::halo_products", rows_.numPointRows(), columns)};
    return known_.emplace(columns, space).first->second;
  }

  bool exists_ = false;
  Rows rows_;
  mutable Exchange exchange_;
  mutable std::map<size_t, Workspace> known_; ///< by the number of columns
};

} // namespace tpetra
} // namespace ainvil
