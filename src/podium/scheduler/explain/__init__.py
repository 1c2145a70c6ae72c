"""Why: what a decision means for a person, worked out from the engine's own answers.

Nothing here decides and nothing here prints. The offline driver, the live scheduler and the pages
that they serve all ask the same questions of the same engine: what ruled each node out
(`filter_examination`, `explanation`), which cause that has (`causes`), and what would have to
change (`trial`, `proposals`).
"""
