// SPDX-License-Identifier: BSD-3-Clause
#include "backend/Ainvil_Allocation.hpp"

#include <cstdint>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ainvil {
namespace {

[[noreturn]] void rethrowAs(const std::string& sentence) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(sentence);
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    // What Kokkos 3.4 to 4.6 say of views, and of launches that need memory of CUDA. Errors of
    // kernels that ran before may come out here too and are no lack of memory.
    const std::string text = error.what();
    for (const char* part :
         {"failed to allocate", "allocation failure", "cudaErrorMemoryAllocation"})
      if (text.find(part) != std::string::npos)
        throw OutOfMemory(sentence);
    throw;
  }
}

std::string sentenceFor(const std::string& label, std::size_t bytes, const char* memory) {
  return message("out of memory: there are no ", bytes, " bytes for ", label, " in ", memory,
                 " memory, free some, or take a smaller matrix or a method that stores less");
}

} // namespace

void detail::throwNoKokkos() {
  if (Kokkos::is_initialized())
    throw Error("this thread may not launch kernels: OpenMP of this Kokkos takes them from the "
                "thread that called Kokkos::initialize only, outside of parallel regions, so call "
                "Ainvil from there");
  throw Error(
      "Kokkos is not initialised, or has been finalised: call Kokkos::initialize before the "
      "first call of Ainvil, or make a Kokkos::ScopeGuard that outlives all its objects");
}

std::size_t detail::arrayBytes(const std::string& label, std::size_t n, std::size_t size) {
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
  if (size > 0 && n > most / size)
    throw OutOfMemory(message("out of memory: ", n, " times ", size, " bytes for ", label,
                              " are more than any memory holds, take a smaller matrix"));
  return n * size;
}

void detail::adviseLargePages([[maybe_unused]] void* data,
                              [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t(1) << 21; // 2 MiB, as x86 and mostly Arm have
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  if (begin < end) // a refusal changes nothing but the time
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

void detail::rethrowOutOfMemory(const std::string& label, std::size_t bytes, const char* memory) {
  rethrowAs(sentenceFor(label, bytes, memory));
}

void detail::rethrowOutOfMemory(const std::string& work) {
  rethrowAs(message("out of memory: ", work, " finds none for what it works with, free some, or ",
                    "take a smaller matrix or a method that stores less"));
}

} // namespace ainvil
