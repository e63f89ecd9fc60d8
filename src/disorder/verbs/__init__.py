"""What can be done with a model or a dataset: one folder or file per verb, one public function
each.
"""
