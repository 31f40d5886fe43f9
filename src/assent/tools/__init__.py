"""The tools. A tool is a typed async function from a call and a request to a reply; it knows no transport."""
