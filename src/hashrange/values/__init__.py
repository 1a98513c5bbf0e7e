"""Attribute values: their types, numbers, sizes, order and stored form. Knows nothing of tables or requests."""
