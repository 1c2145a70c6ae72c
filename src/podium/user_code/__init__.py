"""Python code that users bring along: plugins and extenders, loaded by the names they are given.

Loading runs code, which is what the user asked for; whatever is wrong with it is an InputError
that says which code and where.
"""
