"""The language of the tool layer that travels: contracts, calls, results, placeholders and grants."""
