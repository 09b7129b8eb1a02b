// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block incomplete LU factorisation with level of fill.

#include "breakdown/Ainvil_PivotInverter.hpp"
#include "graph/Ainvil_OrderedRows.hpp"
#include "ilu/Ainvil_BlockIluHostRow.hpp"
#include "ilu/Ainvil_Factorization.hpp"

namespace ainvil {

/// Pattern, method and breakdown policy of BlockIlu.
struct BlockIluParameters {
  int level = 0; ///< fill level k of ILU(k)
  /// 0: factorisation level by level. n > 0: n sweeps over all rows at once; the factors are then
  /// approximate, and exact after as many sweeps as L has level sets.
  int sweeps = 0;
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for pivot blocks that are singular
  double shift = 1e-3; ///< relative size of the shift under BreakdownPolicy::Shift
  /// A pivot block counts as singular where a row or column of it has no entry above so many eps
  /// times the largest entry of its row of A; >= 0.
  double pivot_tolerance = 10;

  static const ParameterTable<BlockIluParameters>& table(); ///< the keys that name them
};

/// A ~ L U in Crout's normalisation: L = D + S_L is lower triangular with the pivot blocks on its
/// diagonal, U = I + S_U is unit upper triangular; A = L U holds on the pattern S(LU). The inverses
/// of the pivot blocks are stored. Any block size; block size 1 is scalar ILU(k). Work: 2
/// block_size^3 operations for every pair (i,k) in L, (k,j) in U with (i,j) in the pattern. Source:
/// Saad, Iterative Methods for Sparse Linear Systems (2003), sections 10.3 and 10.4.
///
/// Sweeps solve the same equations as a fixed point: every sweep computes all rows of L and U from
/// the U of the sweep before, starting from U = D^-1 (upper part of A). Nothing waits, and since
/// the equations of a row are solved exactly, a sweep is worth more than one over single entries.
/// Source: Chow, Patel, Fine-grained parallel incomplete LU factorization (2015), there by entries.
template <class Scalar, class Device>
class BlockIlu final : public Factorization<Scalar, Device> {
public:
  using Base = Factorization<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;
  using typename Base::Matrix;
  using Parameters = BlockIluParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range.
  explicit BlockIlu(BlockIluParameters parameters);

  std::string description() const override;

  /// Pattern of the factors, row order of the factorisation. Records its phases in `report`. A may
  /// lack diagonal blocks: the factors have all of them.
  void initialize(const execution_space& exec, const Matrix& a, Report& report) override;

  /// Factors of a matrix with the same graph. \throws BreakdownError under the policy `fail`, or if
  /// the factors overflow.
  void compute(const execution_space& exec, const Matrix& a, Report& report) override;

  bool refusesNonFinite() const override { return on_host; }

  /// ||(A - L U)_S||_F / ||A||_F on the pattern S of the factors, for the matrix of the last
  /// compute(): what sweeps leave. Waits. Cost: about a sweep; allocates a number a row.
  double residual(const execution_space& exec, const Matrix& a) const;

  /// With sweeps, that residual.
  void diagnose(const execution_space& exec, const Matrix& a, Report& report) const override;

  const Factor& lower() const override { return lower_; }
  const Factor& upper() const override { return upper_; }

private:
  static constexpr bool on_host = !compat::IsGpu<execution_space>::value;

  /// All rows of L and u from those of `u_read`, which is u where rows wait for each other.
  void factorRows(const execution_space& exec, const Matrix& a,
                  const Kokkos::View<Scalar*, Device>& u,
                  const Kokkos::View<const Scalar*, Device>& u_read);
  /// On a host: makes sure that every thread has one, for values to come.
  void addWorkRows(const execution_space& exec, const Matrix& a);
  void sweep(const execution_space& exec, const Matrix& a);

  BlockIluParameters parameters_;
  TriangularFactor<Scalar, Device> lower_;
  TriangularFactor<Scalar, Device> upper_;
  Ordinal longest_row_ = 0;                   ///< of L and U together
  OrderedRows<Device> order_;                 ///< without sweeps
  Kokkos::View<Scalar*, Device> other_upper_; ///< with sweeps, U of every other one
  detail::PivotInverter<Scalar, Device> pivot_inverter_;
  std::vector<detail::WorkRow<Scalar>> work_rows_; ///< on hosts, one a thread
};
} // namespace ainvil
