// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Unknowns of other ranks, fetched for a product or given back.

#include "Ainvil_TpetraStructures.hpp"
#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_RowTeams.hpp"

#include <Tpetra_Distributor.hpp>
#include <Tpetra_Import.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

/// buffer(k c + j) = x(rows(k), j) for the c columns j.
template <class Scalar, class Device, class Buffer>
struct PackRows {
  Kokkos::View<const Ordinal*, Device> rows;
  MultiVectorArg<const Scalar, Device> x;
  Buffer buffer;

  KOKKOS_FUNCTION void operator()(const Offset k) const {
    const Offset columns = x.extent(1);
    for (Offset j = 0; j < columns; ++j)
      buffer(k * columns + j) = x(rows(k), j);
  }
};

/// h(rows(k), j) = buffer(k c + j).
template <class Scalar, class Device, class Buffer>
struct UnpackRows {
  Kokkos::View<const Ordinal*, Device> rows;
  Buffer buffer;
  MultiVectorArg<Scalar, Device> h;

  KOKKOS_FUNCTION void operator()(const Offset k) const {
    const Offset columns = h.extent(1);
    for (Offset j = 0; j < columns; ++j)
      h(rows(k), j) = buffer(k * columns + j);
  }
};

/// y(rows(i), j) += alpha sum_{s in list i} buffer(slots(s) c + j), in the order of the list.
template <class Scalar, class Device, class Buffer>
struct AddSlots {
  Kokkos::View<const Ordinal*, Device> rows, offsets, slots;
  Buffer buffer;
  MultiVectorArg<Scalar, Device> y;
  Scalar alpha;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    const Offset columns = y.extent(1);
    for (Offset j = 0; j < columns; ++j) {
      Scalar sum = 0;
      for (Ordinal s = offsets(i); s < offsets(i + 1); ++s)
        sum += buffer(Offset(slots(s)) * columns + j);
      y(rows(i), j) += alpha * sum;
    }
  }
};

} // namespace detail

/// h <- the unknowns of other ranks that an Import of Tpetra names, all columns of them in one
/// message from each rank; and the way back, in which what ranks have computed for unknowns of
/// others is added by their owners. Maps, plan and messages are Tpetra's; kernels write and read
/// the messages themselves: in the memory of the GPU where compat::mpiTakesDeviceMemory(), else in
/// pinned memory of the host. So an exchange takes two launches and one wait for the first of them,
/// where Tpetra's doImport copies and waits several times.
///
/// Workspace: the messages of each number of columns that has been exchanged. An object serves one
/// exchange at a time.
template <class Scalar, class LO, class GO, class Node>
class HaloExchange {
public:
  using Import = Tpetra::Import<LO, GO, Node>;              ///< from own unknowns to others
  using Device = typename Node::device_type;                ///< of the vectors
  using execution_space = typename Device::execution_space; ///< of the kernels
  using VectorIn = MultiVectorArg<const Scalar, Device>;    ///< own unknowns
  using VectorOut = MultiVectorArg<Scalar, Device>;         ///< those of others

  HaloExchange() = default;
  /// The import's target map has unknowns of other ranks alone.
  explicit HaloExchange(const Teuchos::RCP<const Import>& import)
      : import_(import), from_(onDevice<Device>(import->getExportLIDs(), label)),
        to_(onDevice<Device>(import->getRemoteLIDs(), label)) {}

  /// Makes room for the messages of so many columns. \throws OutOfMemory
  void reserve(const execution_space& exec, size_t columns) {
    if (known_.count(columns) > 0)
      return;
    known_[columns] = compat::mpiTakesDeviceMemory() && !on_host
                          ? Messages{made<Device>(exec, columns), {}}
                          : Messages{{}, made<Pinned>(exec, columns)};
  }

  /// From now on there is the way back.
  void allowReverse() {
    // The slots of a row in the messages, by the rank that sends them: sums have one order.
    const Teuchos::ArrayView<const LO> rows = import_->getExportLIDs();
    std::vector<Ordinal> slots(rows.size());
    std::iota(slots.begin(), slots.end(), 0);
    std::stable_sort(slots.begin(), slots.end(),
                     [&](Ordinal a, Ordinal b) { return rows[a] < rows[b]; });
    std::vector<Ordinal> targets, offsets;
    for (size_t s = 0; s < slots.size(); ++s)
      if (s == 0 || rows[slots[s]] != targets.back()) {
        targets.push_back(rows[slots[s]]);
        offsets.push_back(static_cast<Ordinal>(s));
      }
    offsets.push_back(static_cast<Ordinal>(slots.size()));
    targets_ = onDevice<Device>(Teuchos::ArrayView<const Ordinal>(targets), label);
    target_offsets_ = onDevice<Device>(Teuchos::ArrayView<const Ordinal>(offsets), label);
    target_slots_ = onDevice<Device>(Teuchos::ArrayView<const Ordinal>(slots), label);
  }

  /// Reads own unknowns; what is launched behind it runs while messages travel. Asynchronous on the
  /// device. There must be room for the columns.
  void begin(const execution_space& exec, const VectorIn& x) const {
    const Messages& messages = known_.at(x.extent(1));
    messages.visit([&](const auto& pair) {
      pack(exec, from_, x, pair.sent);
      if constexpr (on_host) // kernels would keep the messages waiting
        post(pair, x.extent(1));
    });
  }

  /// Writes the unknowns of others. Waits for what begin() has launched and for the messages;
  /// asynchronous on the device.
  void end(const execution_space& exec, const VectorOut& h) const {
    const Messages& messages = known_.at(h.extent(1));
    messages.visit([&](const auto& pair) {
      using Buffer = std::decay_t<decltype(pair.received)>;
      if constexpr (!on_host) { // the device is at work meanwhile
        packed_.wait();
        post(pair, h.extent(1));
      }
      import_->getDistributor().doWaits();
      Kokkos::parallel_for("Ainvil::tpetra::HaloExchange[unpack]",
                           ainvil::detail::Range<execution_space>(exec, 0, to_.extent(0)),
                           detail::UnpackRows<Scalar, Device, Buffer>{to_, pair.received, h});
    });
  }

  /// Reads what there is for unknowns of others; what is launched behind it runs while messages
  /// travel. Asynchronous on the device. There must be room for the columns.
  void beginReverse(const execution_space& exec, const VectorIn& h) const {
    const Messages& messages = known_.at(h.extent(1));
    messages.visit([&](const auto& pair) {
      pack(exec, to_, h, pair.received);
      if constexpr (on_host)
        postReverse(pair, h.extent(1));
    });
  }

  /// Own unknowns y += alpha times what the others have for them. Waits for what beginReverse() has
  /// launched and for the messages; asynchronous on the device.
  void endReverse(const execution_space& exec, Scalar alpha, const VectorOut& y) const {
    const Messages& messages = known_.at(y.extent(1));
    messages.visit([&](const auto& pair) {
      using Buffer = std::decay_t<decltype(pair.sent)>;
      if constexpr (!on_host) {
        packed_.wait();
        postReverse(pair, y.extent(1));
      }
      import_->getDistributor().doReverseWaits();
      Kokkos::parallel_for("Ainvil::tpetra::HaloExchange[add]",
                           ainvil::detail::Range<execution_space>(exec, 0, targets_.extent(0)),
                           detail::AddSlots<Scalar, Device, Buffer>{
                               targets_, target_offsets_, target_slots_, pair.sent, y, alpha});
    });
  }

private:
  static constexpr const char* label = "Ainvil::tpetra::HaloExchange";
  using Pinned = ainvil::compat::PinnedDevice<execution_space>;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Device::memory_space>::accessible;

  /// What a rank sends and receives, in the memory of one kind.
  template <class Memory>
  struct Pair {
    Kokkos::View<Scalar*, Memory> sent, received;
  };
  struct Messages {
    Pair<Device> device;
    Pair<Pinned> pinned; ///< empty if the device's are taken

    template <class Visitor>
    void visit(const Visitor& visitor) const {
      if (device.sent.data() != nullptr || device.received.data() != nullptr)
        visitor(device);
      else
        visitor(pinned);
    }
  };

  template <class Memory>
  Pair<Memory> made(const execution_space& exec, size_t columns) const {
    return {allocate<Scalar, Memory>(exec, label, from_.extent(0) * columns),
            allocate<Scalar, Memory>(exec, label, to_.extent(0) * columns)};
  }

  using Rows = Kokkos::View<const Ordinal*, Device>;

  template <class Buffer>
  void pack(const execution_space& exec, const Rows& rows, const VectorIn& x,
            const Buffer& buffer) const {
    Kokkos::parallel_for("Ainvil::tpetra::HaloExchange[pack]",
                         ainvil::detail::Range<execution_space>(exec, 0, rows.extent(0)),
                         detail::PackRows<Scalar, Device, Buffer>{rows, x, buffer});
    packed_.record(exec);
  }

  template <class Memory>
  void post(const Pair<Memory>& pair, size_t columns) const {
    import_->getDistributor().doPosts(pair.sent, columns, pair.received);
  }

  template <class Memory>
  void postReverse(const Pair<Memory>& pair, size_t columns) const {
    import_->getDistributor().doReversePosts(pair.received, columns, pair.sent);
  }

  Teuchos::RCP<const Import> import_;
  Rows from_, to_; ///< rows that are sent; where others go
  /// Of the way back: own rows that are added to, and what of the messages is added to each.
  Rows targets_, target_offsets_, target_slots_;
  std::map<size_t, Messages> known_; ///< by the number of columns
  mutable ainvil::compat::QueueMarker<execution_space> packed_;
};

} // namespace tpetra
} // namespace ainvil
