"""The commands `study`, `designs` and `mitigations`."""
