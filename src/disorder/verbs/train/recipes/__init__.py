"""Training recipes, one file each: which inputs, which loss, in which phases."""
