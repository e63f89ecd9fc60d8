"""From a spec to perturbed texts: parsing, word splitting, chaining, suites, texts rebuilt from
stored positions.
"""
