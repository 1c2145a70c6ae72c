"""What several plugins ask about amounts: columns, strategies and extended resources."""
