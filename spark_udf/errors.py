"""Errors of the Spark side, grouped by who must act; they continue the tree of `wasm_host.errors`.

TransformError (abi)
└─ SparkBindingError               something between Spark and the sandbox does not fit
   ├─ SchemaMismatchError          a column is missing, has the wrong name or the wrong type
   ├─ TenantsFileError             tenants.toml says something impossible; the message names file and line
   ├─ AdmissionError               a module, its configuration or its twin was refused on the driver
   ├─ ModuleNotFoundOnDriverError  the file is not there, or its bytes have another digest than asked for
   ├─ SecretUnavailableError       a secret's variable or file cannot be read on the driver
   ├─ SessionError                 Spark or a Java runtime cannot be started, or the session cannot do what is asked
   ├─ BundleError                  an executor did not get the modules, or runs another version of this package
   ├─ EventFailedError             an event failed and on_error is "fail"
   ├─ UnknownTenantError           a row's tenant is not configured and unknown is "fail"
   └─ JobFailedError               the job ran on Spark and failed there
"""

from abi import TransformError


class SparkBindingError(TransformError):
    """Something between Spark and the sandbox does not fit."""

    code = "SPARK_BINDING_ERROR"


class SchemaMismatchError(SparkBindingError):
    """A column is missing, has the wrong name or the wrong type."""

    code = "SCHEMA_MISMATCH"


class TenantsFileError(SparkBindingError):
    """The tenants file says something impossible; `details` hold `file` and `line`."""

    code = "TENANTS_FILE_ERROR"


class AdmissionError(SparkBindingError):
    """A module, its configuration or its twin was refused on the driver, before any job was started."""

    code = "ADMISSION_REFUSED"


class ModuleNotFoundOnDriverError(SparkBindingError):
    """The module's file is not there, or its bytes have another digest than the one asked for."""

    code = "MODULE_NOT_FOUND"


class SecretUnavailableError(SparkBindingError):
    """A secret's environment variable or file cannot be read on the driver."""

    code = "SECRET_UNAVAILABLE"


class SessionError(SparkBindingError):
    """Spark or a Java runtime cannot be started, or the session cannot do what is asked of it."""

    code = "SESSION_ERROR"


class BundleError(SparkBindingError):
    """An executor did not get the modules, or runs another version of this package than the driver."""

    code = "BUNDLE_ERROR"


class EventFailedError(SparkBindingError):
    """An event failed and `on_error` is "fail"."""

    code = "EVENT_FAILED"


class UnknownTenantError(SparkBindingError):
    """A row's tenant is not configured and `unknown` is "fail"."""

    code = "UNKNOWN_TENANT"


class JobFailedError(SparkBindingError):
    """The job ran on Spark and failed there; the message has what the first failing task said, in one line."""

    code = "JOB_FAILED"
