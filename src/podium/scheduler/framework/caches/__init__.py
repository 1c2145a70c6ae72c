"""What the framework remembers between attempts, so that most of an attempt is not computed again.

Pods of one template come in bursts, and between two of them a row or two of the table change. Each
module answers one question and falls back to the one below it; the plain form (`filtering.py`,
`scoring.py`) is what all of them are tested against.

    phases.py     the phases of an attempt, with only what may differ computed
    templates.py  per shape of a pod: which plugins skip, their states, scores that are constant
    vectors.py    per plugin and fragment of a pod: one column over all nodes
    totals.py     constant and remembered scores added up once, and the best rows by them
    columns.py    which rows of a column are out of date; what a column was before

What makes an entry wrong, and where that is noticed:

- a pod on a node came or went: those rows are computed again (`columns.RowChanges`);
- a node object changed: those rows, and everything in `templates.py` is dropped;
- nodes were added or removed: columns are computed anew, templates are dropped;
- another object changed: templates are dropped, unless no remembered answer depends on its kind;
  columns whose `Dependence.version` changed are computed anew.

Three rules hold everywhere. What was handed out never changes: it is replaced, or a `ColumnVersion`
of it can still be read. Only attempts on the real cluster use and fill the caches; an imagined one
(a fork of the usage) never does. And an exception of a plugin leaves nothing remembered of the call
in which it was raised.
"""
