"""What belongs to the four papers alone: their tables and figures, designs of training and test
data, the comparison of mitigations, translation by phrases.

It comes in as a plugin does, by the folders of its parts: nothing outside imports it, and without
this folder everything else works.
"""
