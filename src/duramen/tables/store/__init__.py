"""Tables on disk, packed once into codes, read a column at a time.

`column_store` holds what every store offers, `packed` reads the folder that `packing` writes (its
form is in `layout`), `bed` reads PLINK files in place; the folder `inputs` turns files and tables
of every kind into groups of columns, in bounded memory.
"""

from duramen.tables.store.column_store import ColumnStore, open_store
from duramen.tables.store.packing import pack

__all__ = ["ColumnStore", "open_store", "pack"]
