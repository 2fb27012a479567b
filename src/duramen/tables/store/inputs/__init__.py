"""What can be packed: every kind of file and table as groups of neighbouring columns."""
