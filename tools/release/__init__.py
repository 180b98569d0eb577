"""What a release consists of: an sdist, and a wheel for each platform, built, looked through and
tried in fresh environments. `python -m tools.release --help`; docs/release.md."""
