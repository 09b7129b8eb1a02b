// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Observers of what Kokkos launches and allocates.

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ainvil {
namespace test {

/// Keeps the callbacks of a Kokkos tool and puts them back in the end. One observer at a time.
class ToolCallbacks {
public:
  ToolCallbacks() : previous_(Kokkos::Tools::Experimental::get_callbacks()) {}
  ~ToolCallbacks() { Kokkos::Tools::Experimental::set_callbacks(previous_); }
  ToolCallbacks(const ToolCallbacks&) = delete;
  ToolCallbacks& operator=(const ToolCallbacks&) = delete;

protected:
  /// Kokkos 3.4 allocates the scratch memory of its host threads in these threads, all at once.
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }

private:
  Kokkos::Tools::Experimental::EventSet previous_;
};

/// Counts the allocations Kokkos makes while the object lives.
class AllocationCounter : ToolCallbacks {
public:
  AllocationCounter() {
    seen_.clear();
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
          // Kokkos for CUDA asks for no bytes of team scratch until somebody needs some.
          if (size == 0)
            return;
          const std::lock_guard<std::mutex> lock(mutex());
          seen_.push_back(label);
        });
  }
  int count() const { return static_cast<int>(seen_.size()); }
  /// Their labels, for messages.
  std::string labels() const {
    std::string all;
    for (const std::string& label : seen_)
      all += "'" + label + "' ";
    return all;
  }

private:
  static inline std::vector<std::string> seen_;
};

/// Counts the bytes that Kokkos holds of what it has allocated while the object lives.
class MemoryPeak : ToolCallbacks {
public:
  MemoryPeak() {
    using namespace Kokkos::Tools::Experimental;
    current_ = peak_ = 0;
    sizes_.clear();
    set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void* pointer, std::uint64_t size) {
          const std::lock_guard<std::mutex> lock(mutex());
          sizes_[pointer] = size;
          current_ += size;
          peak_ = std::max(peak_, current_);
        });
    set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void* pointer, std::uint64_t) {
          const std::lock_guard<std::mutex> lock(mutex());
          const auto found = sizes_.find(pointer);
          if (found == sizes_.end()) // older than this object
            return;
          current_ -= found->second;
          sizes_.erase(found);
        });
  }
  std::uint64_t bytes() const { return peak_; }

private:
  static inline std::map<const void*, std::uint64_t> sizes_;
  static inline std::uint64_t current_ = 0, peak_ = 0;
};

/// Fills what Ainvil allocates on the host with bytes that are NaN in all precisions, -1 in
/// integers, so that what reads an array before it is written is seen. Arrays that begin with zeros
/// get them afterwards.
class PoisonedMemory : ToolCallbacks {
public:
  PoisonedMemory() {
    count_ = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle space, const char* label, const void* pointer,
           std::uint64_t size) {
          if (std::string(space.name) != "Host" || std::string(label).rfind("Ainvil::", 0) != 0)
            return;
          const std::lock_guard<std::mutex> lock(mutex());
          std::memset(const_cast<void*>(pointer), 0xff, size);
          ++count_;
        });
  }
  int count() const { return count_; } ///< arrays so far

private:
  static inline int count_ = 0;
};

/// Collects the labels of the kernels launched and of the allocations made while the object lives.
class KernelLabelRecorder : ToolCallbacks {
public:
  KernelLabelRecorder() {
    using namespace Kokkos::Tools::Experimental;
    kernels_.clear();
    allocations_.clear();
    const auto kernel = [](const char* label, std::uint32_t, std::uint64_t*) {
      const std::lock_guard<std::mutex> lock(mutex());
      kernels_.push_back(label);
    };
    set_begin_parallel_for_callback(kernel);
    set_begin_parallel_reduce_callback(kernel);
    set_begin_parallel_scan_callback(kernel);
    set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
          if (size == 0) // as for AllocationCounter
            return;
          const std::lock_guard<std::mutex> lock(mutex());
          allocations_.push_back(label);
        });
  }
  const std::vector<std::string>& kernels() const { return kernels_; }
  const std::vector<std::string>& allocations() const { return allocations_; }
  std::vector<std::string> labels() const {
    std::vector<std::string> all = kernels_;
    all.insert(all.end(), allocations_.begin(), allocations_.end());
    return all;
  }

private:
  static inline std::vector<std::string> kernels_, allocations_;
};

/// A kernel or a fence, and the instance it is for.
struct ToolEvent {
  std::string label;
  std::uint32_t instance;
};

/// Collects kernels and fences with their instances, and the labels of allocations, while the
/// object lives. Kokkos tells of fences from 3.5 on and of instances on GPUs only: on hosts all
/// have the same number.
class InstanceRecorder : ToolCallbacks {
public:
  InstanceRecorder() {
    using namespace Kokkos::Tools::Experimental;
    kernels_.clear();
    fences_.clear();
    allocations_.clear();
    ends_in_a_fence_ = false;
    const auto kernel = [](const char* label, std::uint32_t instance, std::uint64_t*) {
      const std::lock_guard<std::mutex> lock(mutex());
      kernels_.push_back({label, instance});
      ends_in_a_fence_ = false;
    };
    set_begin_parallel_for_callback(kernel);
    set_begin_parallel_reduce_callback(kernel);
    set_begin_parallel_scan_callback(kernel);
    set_begin_fence_callback([](const char* label, std::uint32_t instance, std::uint64_t*) {
      if (std::string(label).find("Kokkos Profile Tool Fence") != std::string::npos)
        return; // there because of the observer
      const std::lock_guard<std::mutex> lock(mutex());
      fences_.push_back({label, instance});
      ends_in_a_fence_ = true;
    });
    set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
          if (size == 0)
            return;
          const std::lock_guard<std::mutex> lock(mutex());
          allocations_.push_back(label);
        });
  }
  const std::vector<ToolEvent>& kernels() const { return kernels_; }
  const std::vector<ToolEvent>& fences() const { return fences_; }
  bool endsInAFence() const { return ends_in_a_fence_; } ///< no kernel came after the last one
  const std::vector<std::string>& allocations() const { return allocations_; }

private:
  static inline std::vector<ToolEvent> kernels_, fences_;
  static inline bool ends_in_a_fence_ = false;
  static inline std::vector<std::string> allocations_;
};

/// All in one line, for messages.
inline std::string listOf(const std::vector<std::string>& labels) {
  std::string all;
  for (const std::string& label : labels)
    all += "'" + label + "' ";
  return all;
}
inline std::string listOf(const std::vector<ToolEvent>& events) {
  std::vector<std::string> labels;
  for (const ToolEvent& event : events)
    labels.push_back(event.label);
  return listOf(labels);
}

/// How many products with matrices there were, and how many of these had a launch for long rows.
struct ProductCounts {
  int all = 0, with_long_rows = 0;

  explicit ProductCounts(const std::vector<std::string>& kernels) {
    for (const std::string& label : kernels)
      if (label == "Ainvil::spmv[long rows]")
        ++with_long_rows;
      else if (label.rfind("Ainvil::spmv", 0) == 0)
        ++all;
  }
};

/// Every label begins with "Ainvil::", but for those that Kokkos gives to kernels and buffers of
/// its own: filling and copying views ("Kokkos::View::initialization [Ainvil::...]"), scratch
/// memory. What the library launches or allocates without a label shows as "" or as a type name.
inline void expectOwnLabels(const std::vector<std::string>& labels) {
  // Kokkos 3.4 names the scratch memory of its host threads so; a view without a label shows as "".
  const std::string host_scratch = "[unlabeled]";
  for (const std::string& label : labels)
    EXPECT_TRUE(label.rfind("Ainvil::", 0) == 0 || label.rfind("Kokkos::", 0) == 0 ||
                label == host_scratch)
        << "label '" << label << "'";
}

} // namespace test
} // namespace ainvil
