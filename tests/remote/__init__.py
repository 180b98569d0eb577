"""Files on servers: real servers, and what treemill reads from them."""
