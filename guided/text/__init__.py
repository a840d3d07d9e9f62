"""Languages to nodes: each front end reads its text and ends in nodes of a core arena."""
