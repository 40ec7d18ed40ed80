"""How fast it is, and beside what: `python -m benchmarks` runs all of it in a short form."""
