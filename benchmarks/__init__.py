"""Micro-measurements and evidence: ``python -m benchmarks.NAME``.

What compares methods on data sets is `localmap bench`; docs/benchmarks.md tells which
command makes which result.
"""
