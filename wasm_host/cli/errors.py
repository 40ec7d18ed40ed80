"""Errors of the command line, in the tree of `abi.errors`: the command did its work, and the answer is no."""

from abi import TransformError


class CommandFailedError(TransformError):
    """A command ran and what it was asked to do failed; exit status 1, not 2: nobody used it wrongly."""

    code = "COMMAND_FAILED"


class BuildFailed(CommandFailedError):
    """The compiler refused; `details["output"]` has all that it said."""

    code = "BUILD_FAILED"


class StoppedByFailure(CommandFailedError):
    """An event failed and there is no file for dead letters; `details` hold `row` and `failure_code`."""

    code = "RUN_STOPPED"
