"""For all tests: signals as in a terminal."""

import signal


def pytest_configure():
    # A shell that runs tests in the background has them ignore Ctrl-C, which some of them send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
