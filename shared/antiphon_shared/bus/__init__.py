"""The bus: typed events over Redis Streams, each handled with one atomic effect.

Start reading at `consumer.py`: the life of one message.
"""
