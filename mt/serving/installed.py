"""Whether what a server needs is installed."""

from __future__ import annotations

from importlib.util import find_spec

from mt.errors import ConfigError

_PACKAGES = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "python_multipart": "python-multipart",
    "prometheus_client": "prometheus-client",
}


def require_installed() -> None:
    """Raise ConfigError for packages that are missing."""
    missing = [package for module, package in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ConfigError(
            f"mt serve needs {', '.join(missing)}",
            hint="Install them: pip install 'mt-trainer[serve]'",
        )
