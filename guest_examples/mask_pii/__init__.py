"""The `mask_pii` example: sources, native twin, cases and built modules. See its README."""
