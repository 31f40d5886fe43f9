"""The pages that people see: HTML from the server, no script, the same functions behind them as behind the tools."""
