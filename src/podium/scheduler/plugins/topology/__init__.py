"""What several plugins ask about topology domains, and about the pods of one owner."""
