"""Decisions about expressions: equal or not, which sign, which limit. Nothing here knows of proofs."""
