"""What a person sees of a run: tables in the terminal, pages, charts, Markdown. Rendering only;
nothing is computed here.
"""
