"""Right results of a model that makes mistakes, with fifteen tools at once and with steps."""
