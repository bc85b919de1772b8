"""Recorded calls of reading tools, made again with today's tools: do they still return what was recorded?"""
