"""Parts of the documentation site that no extension has."""
