"""The paper that presents CAKE (2018): the RRUL test, host isolation, Diffserv and the ACK filter."""
