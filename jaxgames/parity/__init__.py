"""Parity games: who wins from each vertex, and with which strategy."""

from jaxgames.parity._solution import Solution as Solution
