"""Models that are asked by chat completions, as OpenAI, vLLM, Ollama and llama.cpp serve them."""
