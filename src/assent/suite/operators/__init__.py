"""The operators, one module each. They return drafts and effects and perform none."""
