"""The types of the tool layer that are exchanged: contracts, calls, results, placeholders and grants."""
