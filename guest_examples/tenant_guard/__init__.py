"""The `tenant_guard` example: sources, native twin, cases and built modules. See its README."""
