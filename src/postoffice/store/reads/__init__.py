"""What a store can be asked, by what it is about: named queries, and the values their rows become."""
