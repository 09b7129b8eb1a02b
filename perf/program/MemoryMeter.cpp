// SPDX-License-Identifier: BSD-3-Clause
#include "program/MemoryMeter.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>

namespace ainvil {
namespace perf {
namespace {

std::string& spaceName() {
  static std::string name;
  return name;
}
std::atomic<std::int64_t> current_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

void add(const Kokkos::Tools::SpaceHandle& space, std::int64_t bytes) {
  if (spaceName() != space.name)
    return;
  const std::int64_t now = current_bytes += bytes;
  std::int64_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}

} // namespace

MemoryMeter::MemoryMeter(const std::string& space) {
  using namespace Kokkos::Tools::Experimental;
  if (get_callbacks().allocate_data != nullptr)
    return;
  counting_ = true;
  spaceName() = space;
  set_allocate_data_callback(
      [](Kokkos::Tools::SpaceHandle handle, const char*, const void*, std::uint64_t size) {
        add(handle, static_cast<std::int64_t>(size));
      });
  set_deallocate_data_callback(
      [](Kokkos::Tools::SpaceHandle handle, const char*, const void*, std::uint64_t size) {
        add(handle, -static_cast<std::int64_t>(size));
      });
}

MemoryMeter::~MemoryMeter() {
  if (!counting_)
    return;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
}

std::int64_t MemoryMeter::current() const {
  return current_bytes;
}
std::int64_t MemoryMeter::peak() const {
  return peak_bytes;
}
void MemoryMeter::resetPeak() {
  peak_bytes = current_bytes.load();
}

} // namespace perf
} // namespace ainvil
