"""The windows of the menu; they run the same algorithms as the toolbox."""
