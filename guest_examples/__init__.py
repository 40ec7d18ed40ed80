"""Transforms to start from, each with a native twin in plain Python and built modules in several languages.

>>> from guest_examples import load_wasm, twin
>>> transform = twin("mask_pii").build({"rules": [{"path": "email", "action": "redact"}]})
"""
