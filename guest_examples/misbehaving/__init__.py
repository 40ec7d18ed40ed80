"""A guest that spins, traps, swallows memory and lies; the demo shows that only its own tenant's rows suffer."""
