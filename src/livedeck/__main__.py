"""Program `livedeck`, which is `python -m livedeck`."""

import signal


def start() -> None:
    """Run the command line. Raises SystemExit.

    While the command has nothing to undo, ctrl-c ends the process at once without a message (`cli.exit_codes.run`).
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from livedeck.cli import main
    from livedeck.cli.process import run_command

    run_command(lambda: main(prog_name="livedeck"))


if __name__ == "__main__":
    start()
