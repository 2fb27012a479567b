"""Tables on disk, packed once into codes, read a column at a time.

`column_store` holds what every store offers, `packed` reads the folder that `packing` writes (its
form is in `layout`), `inputs` turns files and tables of every kind into groups of columns, in
bounded memory. `duramen.io` has the public names.
"""
