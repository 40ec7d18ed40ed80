"""The `pass_through` example: sources, native twin, cases and built modules. See its README."""
