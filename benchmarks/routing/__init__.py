"""The tools offered for a question, out of many: the recall of the routing compared with plain BM25."""
