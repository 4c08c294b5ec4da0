"""Language models: files, tokenizers, chat templates, and the executors that run them."""
