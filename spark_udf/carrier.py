"""How a bundle gets to the executors: once for each of them, not in every task.

The pickled function that Spark sends with every task holds only the digest and a carrier: a broadcast in classic
Spark, an artifact in Spark Connect, or a path that all executors see.
"""

import os
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark import SparkFiles
from pyspark.core.broadcast import Broadcast
from pyspark.sql import SparkSession

from spark_udf.bundle import Bundle, decode_bundle
from spark_udf.errors import BundleError, SessionError

_MAX_BUNDLES = 8


class Carrier(Protocol):
    """How a blob gets to an executor."""

    def fetch(self) -> bytes:
        """Get the blob; called on the executor."""


@dataclass(frozen=True, slots=True)
class BroadcastCarrier:
    """Classic Spark: each executor fetches a broadcast once."""

    broadcast: Broadcast[bytes]

    def fetch(self) -> bytes:
        """Get the blob."""
        return self.broadcast.value


@dataclass(frozen=True, slots=True)
class ArtifactCarrier:
    """Spark Connect: a file among the session's artifacts, named by its digest because none can be replaced."""

    name: str

    def fetch(self) -> bytes:
        """Get the blob."""
        path = Path(SparkFiles.get(self.name))
        if not path.exists():
            # A stream runs in a copy of its session: its files are fetched into a folder of the copy's own, but its
            # workers are told the folder above. What is found is checked against the digest, as always.
            path = next(path.parent.glob(f"*/{self.name}"), path)
        return _read(path)


@dataclass(frozen=True, slots=True)
class PathCarrier:
    """A file that every executor can read, for example on a shared disk."""

    path: str

    def fetch(self) -> bytes:
        """Get the blob."""
        return _read(Path(self.path))


@dataclass(frozen=True, slots=True)
class InlineCarrier:
    """The blob itself, for use within one process."""

    blob: bytes

    def fetch(self) -> bytes:
        """Get the blob."""
        return self.blob


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BundleError(
            f"the bundle {path.name} is not on this executor ({error.strerror})",
            hint="the session that made the DataFrame has to be the one that runs it",
        ) from error


_bundles: OrderedDict[str, Bundle] = OrderedDict()


def fetch_bundle(digest: str, carrier: Carrier) -> Bundle:
    """Get a decoded bundle; a worker process decodes each only once as long as it is among the last ones."""
    bundle = _bundles.get(digest)
    if bundle is None:
        bundle = _bundles[digest] = decode_bundle(digest, carrier.fetch())
        while len(_bundles) > _MAX_BUNDLES:
            _bundles.popitem(last=False)
    _bundles.move_to_end(digest)
    return bundle


def is_connect(spark: SparkSession) -> bool:
    """Say whether this is a Spark Connect session, which has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def ship_bundle(spark: SparkSession, digest: str, blob: bytes, *, shared_folder: str | None = None) -> Carrier:
    """Bring a blob to where executors can fetch it.

    Args:
        spark: The session that will run the job.
        digest: The blob's SHA-256.
        blob: The bytes.
        shared_folder: A folder that driver and executors see under the same path; then the blob goes there.

    Raises:
        SessionError: the folder cannot be written, or the session does not take the artifact.
    """
    name = f"wasm-host-{digest}.bundle"
    if shared_folder is not None:
        target = Path(shared_folder) / name
        _write_once(target, blob)
        return PathCarrier(str(target))
    if not is_connect(spark):
        return BroadcastCarrier(_broadcast_once(spark, digest, blob))
    with tempfile.TemporaryDirectory(prefix="wasm-host-") as folder:
        path = Path(folder) / name
        path.write_bytes(blob)
        try:
            spark.addArtifact(str(path), file=True)
        except Exception as error:
            # The same bundle again is what we want: the name is its digest. Spark tells only in the text.
            if "ALREADY_EXISTS" not in str(error) and "DUPLICATED_ARTIFACT" not in str(error):
                raise SessionError(
                    f"the session did not take the bundle {name} ({len(blob):,} bytes)",
                    hint="see the cause above; spark.connect.grpc.maxInboundMessageSize may be too small",
                ) from error
    return ArtifactCarrier(name)


_broadcasts: OrderedDict[tuple[str, str], Broadcast[bytes]] = OrderedDict()


def _broadcast_once(spark: SparkSession, digest: str, blob: bytes) -> Broadcast[bytes]:
    """Broadcast a blob once for each application, however often transforms are applied."""
    key = (spark.sparkContext.applicationId, digest)
    broadcast = _broadcasts.get(key)
    if broadcast is None:
        broadcast = _broadcasts[key] = spark.sparkContext.broadcast(blob)
        while len(_broadcasts) > _MAX_BUNDLES:
            # Forgotten here, not destroyed: DataFrames that were made with it still hold it.
            _broadcasts.popitem(last=False)
    return broadcast


def _write_once(target: Path, blob: bytes) -> None:
    if target.exists():
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_bytes(blob)
        draft.replace(target)
    except OSError as error:
        raise SessionError(
            f"the folder {target.parent} cannot be written ({error.strerror})",
            hint="shared_folder= must exist and be writable on the driver",
        ) from error
