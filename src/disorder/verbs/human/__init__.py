"""Can people do what the model does? Blind tasks made from runs and data, answers kept safe, and
scores beside the model's.

After UNLI Table 4 (two experts label permuted pairs that a model accepted) and WS Table 4 (crowd
workers say which texts are sentences). `draw` and `make` join the stages; the rest knows only a
task folder.
"""
