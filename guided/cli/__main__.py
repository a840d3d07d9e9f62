"""`python -m guided.cli`: the command line, where no script is installed."""

from guided.cli.main import main

if __name__ == "__main__":
    main()
