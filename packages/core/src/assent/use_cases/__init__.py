"""What people and agents do here, one async function each. It is the only caller of its transaction.

A tool, a page, a command and a job parse what they were given, call one of these functions, and present its result.
"""
