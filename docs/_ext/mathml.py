"""Formulas as MathML, which browsers draw themselves: no script and no network."""

from typing import Any, NoReturn

from docutils.nodes import SkipNode
from docutils.utils.math import latex2mathml


def inline(translator: Any, node: Any) -> NoReturn:
    """Write a formula within a line."""
    translator.body.append(latex2mathml.tex2mathml(node.astext()))
    raise SkipNode


def block(translator: Any, node: Any) -> NoReturn:
    """Write a formula on lines of its own."""
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
