"""The operators: what business work is prepared. One file each; they return what they want to happen and do "
"nothing."""
