"""Models in PRISM's language: read, and built by exploring their states."""
