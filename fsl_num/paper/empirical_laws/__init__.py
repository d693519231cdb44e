"""The laws fitted to losses of language models, and the path to them from the functional scaling law."""
