"""Transforms to start from, each with a native twin in plain Python and built modules in several languages.

>>> from guest_examples import languages_of, load_wasm, twin
>>> transform = twin("mask_pii").build({"rules": [{"path": "email", "action": "redact"}]})
"""

from guest_examples.catalogue import LANGUAGES, NAMES, Twin, languages_of, load_wasm, path, twin

__all__ = ["LANGUAGES", "NAMES", "Twin", "languages_of", "load_wasm", "path", "twin"]
