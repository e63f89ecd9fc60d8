"""From texts to batches: token blocks, word pieces, vocabularies, batches of one length."""
