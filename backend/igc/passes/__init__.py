"""Compiler passes, one file each. A pass is a frozen dataclass with a `name`; it takes and gives a valid module."""
