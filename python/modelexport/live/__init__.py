"""`modelexport export` for live models: the part that needs Python. The command line starts it and shows what it says."""
