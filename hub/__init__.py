"""Many tables in one hall: the hub that gathers records, and the forwarder that sends them."""
