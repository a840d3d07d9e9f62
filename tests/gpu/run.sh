#!/usr/bin/env bash
# What only a GPU can show, within five minutes: the kernels are right there, and how fast they are.
#
#   tests/gpu/run.sh [FOLDER]      timings and logs go to FOLDER (default: build/gpu)
#
# PYTHON (default: python3) has torch built for CUDA, triton, transformers, nanobind, pytest and
# what else the project needs. The core is built for it, apart from any other build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PYTHON=$("${PYTHON:-python3}" -c "import sys; print(sys.executable)")
OUT=${1:-build/gpu}
SITE=$PWD/build/gpu-site
unset TRITON_INTERPRET
export PYTHONUNBUFFERED=1

mkdir -p "$OUT" "$SITE"
tar --exclude='*.so' -cf - guided grammars tests pyproject.toml | tar -C "$SITE" -xf -
"$PYTHON" -m cmake -S . -B build/gpu-core -DCMAKE_BUILD_TYPE=Release \
    -DGUIDED_OUTPUT="$SITE/guided" -DPython_EXECUTABLE="$PYTHON" >"$OUT/build.log"
"$PYTHON" -m cmake --build build/gpu-core --parallel "$(nproc)" >>"$OUT/build.log"

OUT=$(realpath "$OUT")
cd "$SITE"
export PYTHONPATH=$SITE${PYTHONPATH:+:$PYTHONPATH}
"$PYTHON" -c 'import torch; assert torch.cuda.is_available(), "there is no GPU"'
"$PYTHON" tests/gpu/bench_kernels.py --seconds 80 | tee "$OUT/gpu.json"

# Nearly every test compiles a kernel of its own, some seconds each: side by side.
failed=0
check() {
    timeout 150 "$PYTHON" -m pytest -q -W default "${@:2}" >"$OUT/$1.log" 2>&1
}
KERNELS=tests/decoding/attention/test_triton_kernels.py
check device tests/gpu/test_on_device.py tests/masks/test_mask_kernel.py & pids=($!)
check attention tests/decoding/attention/test_triton_attention.py & pids+=($!)
check dtypes $KERNELS -k "dtype or rounded" & pids+=($!)
check shapes $KERNELS -k "head or page or group" & pids+=($!)
check rules $KERNELS -k "windows or trees or caps" & pids+=($!)
check others $KERNELS -k "not (dtype or rounded or head or page or group or windows or trees or caps)" & pids+=($!)
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
tail -n 2 "$OUT"/*.log
exit $failed
