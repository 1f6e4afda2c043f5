// Threads that wait for each other's work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace localmap {

// How much is done, and a wait for it. Who waits looks a while, and then sleeps: on a machine
// with other work to do, whoever is waited for gets the processor.
class Progress {
public:
    void add() {
        done_.fetch_add(1);
        if (sleeping_.load() == 0) return;
        const std::lock_guard<std::mutex> lock(sleep_);
        more_.notify_all();
    }
    // Not by yielding, which can give away milliseconds.
    void wait_for(std::int64_t enough) {
        for (int looks = 0; looks < kLooks; ++looks) {
            if (done_.load(std::memory_order_acquire) >= enough) return;
            pause();
        }
        std::unique_lock<std::mutex> lock(sleep_);
        sleeping_.fetch_add(1);
        more_.wait(lock, [&] { return done_.load() >= enough; });
        sleeping_.fetch_sub(1);
    }

private:
    static constexpr int kLooks = 1024;  // some tens of microseconds
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
    std::atomic<std::int64_t> done_{0};
    std::atomic<int> sleeping_{0};
    std::mutex sleep_;
    std::condition_variable more_;
};

// Counts a piece of work when it ends, also by an error: others wait for the count.
struct Counted {
    Progress& progress;
    ~Counted() { progress.add(); }
};

}  // namespace localmap
