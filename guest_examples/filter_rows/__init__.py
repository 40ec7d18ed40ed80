"""The `filter_rows` example: sources, native twin, cases and built modules. See its README."""
