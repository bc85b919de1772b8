"""The bus: typed events over Redis Streams, each handled with one atomic effect.

Read `consumer.py` first: the life of one message.
"""
