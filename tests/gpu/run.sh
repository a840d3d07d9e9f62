#!/usr/bin/env bash
# What only a GPU can show, within five minutes: the kernels are right there, and how fast they are.
#
#   tests/gpu/run.sh [FOLDER]      timings go to FOLDER/gpu.json (default: build/gpu)
#
# PYTHON (default: python3) has torch built for CUDA, triton, transformers, nanobind, pytest and
# what else the project needs. The core is built for it, apart from any other build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PYTHON=${PYTHON:-python3}
OUT=${1:-build/gpu}
SITE=$PWD/build/gpu-site
unset TRITON_INTERPRET
export PYTHONUNBUFFERED=1

mkdir -p "$OUT" "$SITE"
tar --exclude='*.so' -cf - guided grammars tests pyproject.toml | tar -C "$SITE" -xf -
"$PYTHON" -m cmake -S . -B build/gpu-core -DCMAKE_BUILD_TYPE=Release \
    -DGUIDED_OUTPUT="$SITE/guided" -DPython_EXECUTABLE="$(command -v "$PYTHON")" >"$OUT/build.log"
"$PYTHON" -m cmake --build build/gpu-core --parallel "$(nproc)" >>"$OUT/build.log"

OUT=$(realpath "$OUT")
cd "$SITE"
export PYTHONPATH=$SITE${PYTHONPATH:+:$PYTHONPATH}
"$PYTHON" -c 'import torch; assert torch.cuda.is_available(), "there is no GPU"'
timeout 150 "$PYTHON" -m pytest -q -W default tests/gpu/test_on_device.py \
    tests/decoding/attention/test_triton_kernels.py tests/decoding/attention/test_triton_attention.py \
    tests/masks/test_mask_kernel.py tests/masks/test_mirror.py || echo "TESTS FAILED"
timeout 120 "$PYTHON" tests/gpu/bench_kernels.py | tee "$OUT/gpu.json"
