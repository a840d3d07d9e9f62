"""The Triton kernels of attention. Imported only where Triton is installed and used."""
