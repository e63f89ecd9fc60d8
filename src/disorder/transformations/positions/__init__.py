"""Rows of word positions: the orders, endings, pairs and groups that transformations choose from."""
