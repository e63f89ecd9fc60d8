"""How study items are computed: one file per kind of table or figure."""
