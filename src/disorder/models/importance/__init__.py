"""How much a prediction depends on each word: gradients, attention, leaving words out."""
