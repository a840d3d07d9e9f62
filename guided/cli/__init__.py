"""The command line: `guided check`, `explain`, `draw`, `generate` and `convert`.

main         the commands together
options      options that several commands have
sources      a file, a shipped name or standard input -> text and its language
inspection   all that is known of a source
report       what a check found, for people; `report_json` for tools

Each command imports what it needs when it runs, so that the help comes at once.
"""
