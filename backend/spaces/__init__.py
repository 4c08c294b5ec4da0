"""The server: Spaces over sockets and REST, versions, runs. It calls the compiler and the engine's client."""
