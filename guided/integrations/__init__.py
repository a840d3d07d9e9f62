"""Masks inside the loops of others: transformers, vLLM, SGLang, llama-cpp-python.

Each is a module of its own, so that only what is used is imported:

    guided.integrations.transformers.GuidedLogitsProcessor
    guided.integrations.vllm.GuidedLogitsProcessor
    guided.integrations.vllm_second_runner.GuidedLogitsProcessor
    guided.integrations.sglang.register
    guided.integrations.llama_cpp.GuidedLogitsProcessor
"""
