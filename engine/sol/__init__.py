"""The tensor language SOL: opcodes, text and binary forms, verifier, interpreter. NumPy only."""
