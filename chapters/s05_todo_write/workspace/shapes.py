def a(w, h):
    return w * h


def p(w, h):
    return w + h
