"""One capture at a time: torch.export keeps global state."""

import threading

CAPTURE_LOCK = threading.RLock()
