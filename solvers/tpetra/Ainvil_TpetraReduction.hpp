// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The reduction of the solvers over the ranks of a Teuchos::Comm.

#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraCompat.hpp"
#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_Reduction.hpp"

#include <Tpetra_Details_iallreduce.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>

namespace ainvil {
namespace tpetra {

/// What has been thrown on this rank in the midst of a solve, kept until all ranks are at its end.
class Failure {
public:
  bool happened() const { return problem_ != nullptr; } ///< since clear()
  /// Forgets it.
  void clear() { problem_ = nullptr; }
  /// Throws it, if there is one.
  void rethrow() const {
    if (problem_ != nullptr)
      std::rethrow_exception(problem_);
  }
  /// Runs work() and keeps what it throws; the first counts.
  template <class Work>
  void keepOf(const Work& work) {
    try {
      work();
    } catch (...) {
      if (problem_ == nullptr)
        problem_ = std::current_exception();
    }
  }

private:
  std::exception_ptr problem_;
};

/// One MPI_Allreduce a sum. Device memory is handed to MPI where compat::mpiTakesDeviceMemory(),
/// else it goes through pinned memory; both wait for the instance. A rank with a Failure gives NaN,
/// at which the solvers end on all ranks.
template <class Device>
class CommReduction final : public Reduction<Device> {
public:
  using typename Reduction<Device>::execution_space;

  /// `failure` is that of this rank and must outlive the object.
  CommReduction(const Teuchos::RCP<const Teuchos::Comm<int>>& comm, const Failure& failure)
      : comm_(comm), failure_(failure) {}

  void sum(const execution_space& exec, const Kokkos::View<double*, Device>& sums) const override {
    fillIfFailed(exec, sums);
    reserve(exec, sums.extent(0));
    if constexpr (on_host)
      sumFromDevice(exec, sums);
    else if (compat::mpiTakesDeviceMemory())
      sumFromDevice(exec, sums);
    else
      sumThroughHost(exec, sums);
  }

  /// MPI_Iallreduce, where MPI has it (3.0 and later).
  void begin(const execution_space& exec,
             const Kokkos::View<double*, Device>& sums) const override {
    fillIfFailed(exec, sums);
    reserve(exec, sums.extent(0));
    const auto range = std::make_pair(size_t(0), sums.extent(0));
    const auto from = Kokkos::subview(host_from_, range);
    Kokkos::deep_copy(exec, from, sums);
    ainvil::compat::fence(exec, "Ainvil::tpetra::CommReduction");
    under_way_ = Tpetra::Details::iallreduce(from, Kokkos::subview(host_to_, range),
                                             Teuchos::REDUCE_SUM, *comm_);
  }

  void end(const execution_space& exec, const Kokkos::View<double*, Device>& sums) const override {
    under_way_->wait();
    under_way_.reset();
    Kokkos::deep_copy(exec, sums,
                      Kokkos::subview(host_to_, std::make_pair(size_t(0), sums.extent(0))));
  }

  Offset total(Offset mine) const override {
    const long long here = mine;
    long long all = 0;
    Teuchos::reduceAll(*comm_, Teuchos::REDUCE_SUM, here, Teuchos::outArg(all));
    return all;
  }

  void together(const std::function<void()>& work) const override { onAllRanks(*comm_, work); }

private:
  using Array = Kokkos::View<double*, Device>;
  using HostArray = Kokkos::View<double*, HostDevice>;

  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Device::memory_space>::accessible;

  void fillIfFailed(const execution_space& exec, const Array& sums) const {
    if (failure_.happened())
      Kokkos::deep_copy(exec, sums, std::numeric_limits<double>::quiet_NaN());
  }

  /// Takes new buffers only for more sums than ever before.
  void reserve(const execution_space& exec, size_t count) const {
    if (from_.extent(0) >= count)
      return;
    from_ = allocate<double, Device>(exec, "Ainvil::tpetra::sums", count);
    pinned_ = allocate<double, ainvil::compat::PinnedDevice<execution_space>>(
        exec, "Ainvil::tpetra::sums", 2 * count);
    host_from_ = HostArray(pinned_.data(), count);
    host_to_ = HostArray(pinned_.data() + count, count);
  }

  /// From an array that MPI can read to one that it can write.
  void reduce(size_t count, const double* from, double* to) const {
    Teuchos::reduceAll(*comm_, Teuchos::REDUCE_SUM, static_cast<int>(count), from, to);
  }

  void sumFromDevice(const execution_space& exec, const Array& sums) const {
    const auto from = Kokkos::subview(from_, std::make_pair(size_t(0), sums.extent(0)));
    Kokkos::deep_copy(exec, from, sums);
    ainvil::compat::fence(exec, "Ainvil::tpetra::CommReduction");
    reduce(sums.extent(0), from.data(), sums.data());
  }

  void sumThroughHost(const execution_space& exec, const Array& sums) const {
    const auto range = std::make_pair(size_t(0), sums.extent(0));
    Kokkos::deep_copy(exec, Kokkos::subview(host_from_, range), sums);
    ainvil::compat::fence(exec, "Ainvil::tpetra::CommReduction");
    reduce(sums.extent(0), host_from_.data(), host_to_.data());
    Kokkos::deep_copy(exec, sums, Kokkos::subview(host_to_, range));
  }

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  const Failure& failure_; ///< the owner's
  mutable Array from_;
  mutable Kokkos::View<double*, ainvil::compat::PinnedDevice<execution_space>> pinned_;
  mutable HostArray host_from_, host_to_;                           ///< halves of pinned_
  mutable std::shared_ptr<Tpetra::Details::CommRequest> under_way_; ///< between begin() and end()
};

} // namespace tpetra
} // namespace ainvil
