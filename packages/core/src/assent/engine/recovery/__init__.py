"""What a server does with a store that was put back to an earlier state: positions, doubts, holding."""
