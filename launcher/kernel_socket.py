"""The line on which a page hears its kernel, each message sent when it comes.

JupyterLab loads this by its name (see `lab.options`); nothing else here imports it.
"""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's own, with TCP_NODELAY.

    A kernel answers a slider with several small messages. As Jupyter leaves it, the second one
    waits until the browser has acknowledged the first (Nagle, RFC 896), and the browser puts its
    acknowledgement off for 40 ms or longer (RFC 1122, section 4.2.3.2): all that time the reader
    sees the old picture.
    """

    def connect(self):
        self.websocket_handler.set_nodelay(True)
        return super().connect()
