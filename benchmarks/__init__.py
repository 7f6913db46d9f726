"""Benchmarks: suites, peers, and the page made of their results."""
