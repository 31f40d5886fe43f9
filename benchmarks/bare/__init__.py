"""The peers: the least that the official SDK needs to serve one tool, on both transports."""
