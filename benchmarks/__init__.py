"""Speed, memory and start-up, each compared with a floor or a peer measured in the same run: `make bench`."""
