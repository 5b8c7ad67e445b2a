"""Acts about agents and people: names, keys, connections, logins."""
