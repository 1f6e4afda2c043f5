// A parallel loop without global state: threads live for one call, so nothing
// survives a fork, and two fits in two Python threads do not meet.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace localmap {

// Thrown on the calling thread when the poll asked to stop.
struct Interrupted {};

// Asked by the calling thread about ten times a second; true stops the loop.
using Poll = bool (*)();

// Run body(begin, end, worker) over [0, n) in blocks of `grain`, claimed in order.
// A body writes only to what its rows own, so results do not depend on `threads`.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t grain, int threads, Poll poll,
                  Body&& body) {
    const std::int64_t blocks = (n + grain - 1) / grain;
    threads = static_cast<int>(
        std::max<std::int64_t>(1, std::min<std::int64_t>(threads, blocks)));
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::mutex failing;

    auto claim = [&](int worker, auto&& between_blocks) {
        try {
            while (!stop.load(std::memory_order_relaxed)) {
                const std::int64_t block = next.fetch_add(1, std::memory_order_relaxed);
                if (block >= blocks) break;
                body(block * grain, std::min(n, (block + 1) * grain), worker);
                between_blocks();
            }
        } catch (...) {  // out of memory: carried to the caller, not to terminate()
            const std::lock_guard<std::mutex> lock(failing);
            if (!failure) failure = std::current_exception();
            stop.store(true);
        }
    };

    // Each starts two others before it works, so that all of many are soon at it: started[w]
    // is written by worker (w - 1) / 2, and joined after that one.
    std::vector<std::thread> started(static_cast<std::size_t>(threads));
    const auto start_two = [&](auto&& self, int worker) -> void {
        for (int one = 2 * worker + 1; one <= 2 * worker + 2 && one < threads; ++one)
            try {
                started[static_cast<std::size_t>(one)] = std::thread([&self, &claim, one] {
                    self(self, one);
                    claim(one, [] {});
                });
            } catch (const std::exception&) {
                return;  // the system grants no more threads: fewer do the same work
            }
    };
    start_two(start_two, 0);
    using Clock = std::chrono::steady_clock;
    auto asked = Clock::now();
    claim(0, [&] {
        if (poll == nullptr) return;
        const auto now = Clock::now();
        if (now - asked < std::chrono::milliseconds(100)) return;
        asked = now;
        if (poll()) stop.store(true);
    });
    for (auto& helper : started)
        if (helper.joinable()) helper.join();
    if (failure) std::rethrow_exception(failure);
    if (stop.load()) throw Interrupted{};
}

}  // namespace localmap
