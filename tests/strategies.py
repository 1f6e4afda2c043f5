"""Small and odd inputs for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

NUMBERS = {
    np.float64: st.floats(-1e6, 1e6, width=64),
    np.float32: st.floats(-1e6, 1e6, width=32),
    np.float16: st.floats(-1e4, 1e4, width=16),
    np.int64: st.integers(-(2**40), 2**40),
    np.uint8: st.integers(0, 255),
    np.bool_: st.booleans(),
}


@st.composite
def matrices(draw, max_rows=40, max_columns=6):
    """Matrices of any number type and memory layout, often with repeated values."""
    dtype = draw(st.sampled_from(list(NUMBERS)))
    shape = (draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns)))
    fill = draw(st.sampled_from([None, NUMBERS[dtype]]))
    X = draw(hnp.arrays(dtype, shape, elements=NUMBERS[dtype], fill=fill))
    layout = draw(st.sampled_from(["C", "F", "strided"]))
    if layout == "strided":
        return np.repeat(X, 2, axis=0)[::2]
    return np.asarray(X, order=layout)
