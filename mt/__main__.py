"""`python -m mt` is `mt`."""

from mt.cli.main import main

if __name__ == "__main__":
    main()
