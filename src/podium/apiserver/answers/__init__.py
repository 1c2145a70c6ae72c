"""How objects are shown: whole, as metadata only, or as rows of a table; in JSON or YAML."""
