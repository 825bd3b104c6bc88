"""The application: what training, evaluating, comparing … are, each a function of one request.

A task takes a frozen request (`mt.tasks.requests`) and a listener, and gives a typed result. It
prints nothing: what a person should read goes to the listener as an event.
"""
