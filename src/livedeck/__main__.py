"""`python -m livedeck` is the command `livedeck`."""

from livedeck.cli import main

if __name__ == "__main__":
    main(prog_name="livedeck")
