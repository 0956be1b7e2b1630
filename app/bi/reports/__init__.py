"""Reports: OData queries under a name, with parameters; eight are built in, others are saved."""
