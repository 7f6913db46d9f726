"""Benchmarks: suites, peers, and the pages made of their results."""
