"""The files of this machine: read with a bound, and written so that nobody else can read them."""
