"""What a caller can do. A tool is a typed async function from a call and a request to a reply; knows no transport."""
