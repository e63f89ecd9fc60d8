"""From raw outputs to probabilities: checks, calibration, answer spans."""
