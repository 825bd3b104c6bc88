"""One file a command; the command of each is called `command`."""
