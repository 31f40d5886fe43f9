"""The tools: typed async functions from a call and a request to a reply."""
