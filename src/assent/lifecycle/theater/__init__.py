"""What `assent.lifecycle.readable` goes by: a file for each thing a body can be instead of a text.

One sign proves nothing, since people publish posts about prompts, briefs and templates; each file says which signs
together do, and where in a text they have to stand. Every pattern here repeats nothing without a bound or is tried on
one bounded sentence or line, so that no input makes it slow.
"""
