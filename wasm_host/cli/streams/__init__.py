"""Files and pipes of events, read and written in chunks: NDJSON, length-delimited protobuf, Avro, Parquet."""
