"""What can be done to the mail: each act is one thing wholly true afterwards, decided on the desk."""
