"""The measurements. A module measures one kind of work; `benchmarks.table` lists them."""
