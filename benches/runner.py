"""Starts commands for `measure`, from a process that stays small.

A process that was just started counts the memory of the one that started it, so that a benchmark that has made a file of a
million nodes could measure nothing small any more. Reads one command a line as JSON, and answers with what it took.
"""

import json
import os
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    outputs = [
        (os.POSIX_SPAWN_OPEN, 1, request["stdout"], flags, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, request["stderr"], flags, 0o600),
    ]
    began = time.perf_counter()
    process = os.posix_spawnp(request["command"][0], request["command"], request["environment"], file_actions=outputs)
    _, status, usage = os.wait4(process, 0)
    took = time.perf_counter() - began
    answer = {
        "seconds": took,
        "code": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
    }
    print(json.dumps(answer), flush=True)
