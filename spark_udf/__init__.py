"""WebAssembly transforms on DataFrames: one call, many tenants, batch and stream, classic Spark and Spark Connect.

from spark_udf import TenantTransforms, WasmTransform, split_failures

mask = WasmTransform("mask_pii.wasm", config={"rules": [{"path": "email", "action": "redact"}]}, on_error="dead_letter")
good, dead = split_failures(mask.apply(df, column="event"))

tenants = TenantTransforms.from_file("tenants.toml")
out = tenants.apply(df, tenant="tenant_id")
"""

from spark_udf.columns import from_columns, to_columns
from spark_udf.counters import Counters
from spark_udf.dead_letters import to_opencdc_letters
from spark_udf.errors import SparkBindingError
from spark_udf.failure import label_failures, split_failures
from spark_udf.metrics import ModuleMetrics
from spark_udf.ordering import deduplicate, in_order
from spark_udf.secret import Secret
from spark_udf.session import make_session
from spark_udf.sql import register
from spark_udf.tenants import TenantTransforms
from spark_udf.transform import WasmTransform
from wasm_host import Limits

__all__ = [
    "Counters",
    "Limits",
    "ModuleMetrics",
    "Secret",
    "SparkBindingError",
    "TenantTransforms",
    "WasmTransform",
    "deduplicate",
    "from_columns",
    "in_order",
    "label_failures",
    "make_session",
    "register",
    "split_failures",
    "to_columns",
    "to_opencdc_letters",
]
