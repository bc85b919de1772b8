"""Which tools are offered for a question, of many: the recall of the routing beside plain BM25."""
