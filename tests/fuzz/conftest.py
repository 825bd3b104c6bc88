"""How long to look: `--hypothesis-profile=NAME`, or MT_FUZZ_EXAMPLES of each property."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

EXAMPLES = int(os.environ.get("MT_FUZZ_EXAMPLES", "200"))

settings.register_profile(
    "fuzz",
    max_examples=EXAMPLES,
    deadline=20_000,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    print_blob=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take longer than all
)
settings.load_profile("fuzz")
