"""Admission policies: expressions of administrators that requests have to make true.

    review(attempted, forms) -> warnings    raises StatusError when a policy denies

    attempted.py    a write as admission sees it
    invocations.py     does a policy, or its binding, speak of it?
    programs.py     expressions and the variables that they see
    attempted.py   the objects that a binding hands to its policy
    validating.py   what the expressions of a policy decide
    validating.py    all policies with all their bindings

Policies are asked when an object is final, after validation and before it is stored. They see the
object as the version shows it that they match. They look at nothing but what is stored, so that a
request is answered without waiting.
"""
