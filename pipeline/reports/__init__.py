"""Canned SQL over the lake, through DuckDB.

``catalogue`` knows which reports there are and what each takes, ``engine`` answers them (and any other query) from a
locked session over the committed parts, ``standalone`` prints one as text that runs in plain DuckDB.
"""
