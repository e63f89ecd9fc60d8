"""What verbs give back, and all that a person sees of it: records, tables in the terminal, pages,
charts, Markdown, LaTeX.
"""
