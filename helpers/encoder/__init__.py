"""A real pretrained encoder that runs on our own `MultiHeadAttention`.

encoder.py  the network, and what it makes of a text
files.py    reading a folder of weights, and saying what is wrong with it
tokens.py   the pieces a text is cut into, and where they stand in it
"""

from .encoder import Encoder, EncoderError, Encoding, Token, load_encoder

__all__ = ["Encoder", "EncoderError", "Encoding", "Token", "load_encoder"]
