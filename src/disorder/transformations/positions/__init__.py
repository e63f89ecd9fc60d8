"""Word positions: how transformations draw orders, swap words, and keep or drop some of them."""
