"""Score and mask functions of Python, as regions of a spec.

`graph` has the operations, `values` the objects that a function computes with, `functions` what can be done with them,
`capture` the arrays that a function reads, and `spec` writes the text.
"""
