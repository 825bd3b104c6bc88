"""`python -m mt` is `mt`."""

import signal
import sys


def run() -> None:
    """Run `mt`; Ctrl-C shows no traceback while it is loaded, or as it winds up."""
    try:
        from mt.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    run()
