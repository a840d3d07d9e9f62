// A writable block of 32-bit words, borrowed from numpy (buffer protocol) or torch (DLPack) for the
// time of a call.
#pragma once

#include <nanobind/ndarray.h>

#include "bindings.h"

namespace guided::bindings {

class Words {
  public:
    // One row of `words` (dims 1), or `rows` of them (dims 2). Throws ShapeError, which begins with
    // `fact`, for anything else.
    Words(nb::handle owner, const char* fact, size_t dims, int64_t rows, int64_t words);
    Words(const Words&) = delete;
    ~Words() { release(); }

    uint32_t* data = nullptr;
    int64_t stride = 0;  // in words, from row to row

  private:
    void release() {
        if (held_) PyBuffer_Release(&view_);
        held_ = false;
    }
    bool held_ = false;
    Py_buffer view_{};
    nb::ndarray<> array_;
};

}  // namespace guided::bindings
