"""Admission webhooks: services outside that are asked about writes, and may change or refuse them.

    stored_hooks.py   the webhooks of all configurations, in their order
    stored_hooks.py       is a webhook to be asked about a write, and in which form?
    reviews.py        what is sent to a webhook, and what its answer means
    mutating.py       all mutating webhooks, one after the other, and the object they make
    validating.py     all validating webhooks at once
    reviews.py        what webhooks have said to one request, kept while it is gone through again

A verb does not wait. Where it meets webhooks that have not been asked yet it raises
`WebhooksNeeded`; whoever serves the request asks them, which may take seconds in which other
requests go on, and goes through the verb again from its beginning. What a webhook was asked about
is compared byte for byte: an object that was changed meanwhile, by whomever, is asked about anew.
"""
