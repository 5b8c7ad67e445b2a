"""Other people's queues, each used the way its authors mean it to be used."""
