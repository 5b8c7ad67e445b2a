"""Programs that start without loading: each is forked from one that has loaded the command already."""
