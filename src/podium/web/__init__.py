"""The page: a cluster and its scheduler to look at, in a browser.

    a browser ──▶ application ──▶ static_files     scripts and styles, written here
                      │
                      ├─────────▶ documents        what a view shows, as JSON, one file a view
                      └─────────▶ event_stream     what has changed since, a few times a second

access           who may look: a link with a token, for the page of `podium up`
page_server      the page on a loopback port of its own
live_page        the page of a scheduler that runs
report           the same views as one file
play             steps that a newcomer takes, on the page of `podium up` only

Contract: nothing is written but by the steps of Play, no other host is contacted, and a browser
that is slow or wants much holds nobody up. What costs time is made only when somebody asks.
"""
