"""Rules of a policy: matching, the source that people write, words; and drift since an approval."""
