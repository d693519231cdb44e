"""Mutation testing is for developers: without its tool nothing here is collected."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("cosmic_ray") else ["*.py"]
