from treemill.machine.cpu import missing


def test_flags():
    assert missing("processor\t: 0\nflags\t\t: fpu avx2 bmi1 bmi2 fma\n") == set()
    assert missing("processor\t: 0\nflags\t\t: fpu sse2\n") == {"avx2", "bmi2", "fma"}
    assert missing("Features\t: fp asimd\n") == set()
