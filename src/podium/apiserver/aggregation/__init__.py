"""The aggregation layer: APIServices say which group versions there are and who serves them.

    priorities.py     the order in which clients are told of the server's own groups
    api_services.py   the stored APIServices; those that the server registers by itself
    availability.py   whether the service of an APIService can be asked

What the server serves itself, custom resources included, is registered as Local. Requests for the
group version of any other APIService are passed on to its service, in `http/aggregation_proxy.py`.
"""
