"""Tests that drive a real JupyterLab in a real browser, as a reader would."""
