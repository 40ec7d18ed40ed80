"""The `explode_cascade` example: sources, native twin, cases and built modules. See its README."""
