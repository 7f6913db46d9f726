"""Several objectives at once: what can be had together, and by which mixture."""
