"""The channels of the suite: rows of `networks.py`, or a folder for one with its own connector. A
provider that serves several channels has a folder too.

`networks.py`, and the `__init__.py` of a folder, imports nothing slow and has

- `CHANNELS`: each channel with its limits, words, preview, picture size and form by hand;
- `CONNECTORS`: the descriptions of its connectors.

A folder may also have

- `types.py` with `TYPES`: its effect types, if they are not the usual ones (`assent_launch.effect_types`);
- `connector.py` with `make_connectors`, which makes the connectors of a process;

`registry.py` lists the modules. No other module names them.
"""
