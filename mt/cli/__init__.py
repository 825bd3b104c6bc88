"""The command line: reads flags, wires the rooms, prints, exits.

`commands/` has one file a command; what is here, they share or do.

Modules here import at the top only what answers `mt --help` at once; torch and the rooms that
need it are imported inside the command bodies.
"""
