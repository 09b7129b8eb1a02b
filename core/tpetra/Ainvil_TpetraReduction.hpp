// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Reductions over the ranks of a Teuchos::Comm.

#include "Ainvil_TpetraCollective.hpp"
#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_Reduction.hpp"

#include <Tpetra_Details_iallreduce.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>

namespace ainvil {
namespace tpetra {

/// What has been thrown on this rank in the midst of what all ranks have a part in, a solve for
/// example, kept until all are at its end.
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

/// One MPI_Allreduce a sum, of memory of the host. Waits for the instance. A rank with a Failure
/// gives NaN, at which solvers, and the search for roots, end on all ranks.
template <class Device>
class CommReduction final : public Reduction<Device> {
public:
  using typename Reduction<Device>::execution_space;

  /// `failure` is that of this rank and must outlive the object.
  CommReduction(const Teuchos::RCP<const Teuchos::Comm<int>>& comm, const Failure& failure)
      : comm_(comm), failure_(failure) {}

  void sum(const execution_space& exec, const ProcessSums<Device>& sums) const override {
    const HostArray from = taken(exec, sums);
    Teuchos::reduceAll(*comm_, Teuchos::REDUCE_SUM, static_cast<int>(sums.extent(0)), from.data(),
                       sums.data());
  }

  /// MPI_Iallreduce, where MPI has it (3.0 and later).
  void begin(const execution_space& exec, const ProcessSums<Device>& sums) const override {
    under_way_ = Tpetra::Details::iallreduce(
        taken(exec, sums), HostArray(sums.data(), sums.extent(0)), Teuchos::REDUCE_SUM, *comm_);
  }

  void end(const execution_space&, const ProcessSums<Device>&) const override {
    under_way_->wait();
    under_way_.reset();
  }

  Offset total(Offset mine) const override {
    const long long here = mine;
    long long all = 0;
    Teuchos::reduceAll(*comm_, Teuchos::REDUCE_SUM, here, Teuchos::outArg(all));
    return all;
  }

  void together(const std::function<void()>& work) const override { onAllRanks(*comm_, work); }

private:
  using HostArray = Kokkos::View<double*, HostDevice>;

  /// The sums of this rank, apart from where those of all go. Waits for the kernel that makes them.
  HostArray taken(const execution_space& exec, const ProcessSums<Device>& sums) const {
    const size_t count = sums.extent(0);
    if (taken_.extent(0) < count)
      taken_ = allocate<double, HostDevice>({}, "Ainvil::tpetra::sums", count);
    ainvil::compat::fence(exec, "Ainvil::tpetra::CommReduction");
    if (failure_.happened())
      std::fill_n(taken_.data(), count, std::numeric_limits<double>::quiet_NaN());
    else
      std::copy_n(sums.data(), count, taken_.data());
    return Kokkos::subview(taken_, std::make_pair(size_t(0), count));
  }

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  const Failure& failure_;                                          ///< the owner's
  mutable HostArray taken_;                                         ///< as long as the most sums
  mutable std::shared_ptr<Tpetra::Details::CommRequest> under_way_; ///< between begin() and end()
};

} // namespace tpetra
} // namespace ainvil
