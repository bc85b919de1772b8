"""Models with chat completions, as OpenAI, vLLM, Ollama and llama.cpp serve them."""
