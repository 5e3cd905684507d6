"""What a right exchange is, and the suites that hold servers and clients to it. Knows no server."""
