"""Score and mask functions of Python, as regions of a spec.

`graph` has the operations, `values` the objects that a function computes with, `functions` and `activations` what can be done with
them, `capture` the arrays that a function reads, `copies` the functions with these in place, and `spec` writes the text.
"""
