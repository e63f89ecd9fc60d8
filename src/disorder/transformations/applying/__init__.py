"""From a spec to perturbed texts: parsing, suites, chaining, and texts that a run kept."""
