"""The command line: reads flags, wires the rooms, prints, exits. One file a command.

Modules here import at the top only what answers `mt --help` at once; torch and the rooms that
need it are imported inside the command bodies.
"""
