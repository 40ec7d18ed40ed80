"""The `rename_fields` example: sources, native twin, cases and built modules. See its README."""
