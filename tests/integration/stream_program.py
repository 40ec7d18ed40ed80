"""Run by a test in a process of its own: the streaming job, which the test kills and starts again."""

import sys

from spark_udf.job import run_job

source, target, checkpoint, tenants = sys.argv[1:]
run_job(source=source, target=target, tenants=tenants, checkpoint=checkpoint, files_per_batch=1)
