package front

import (
	"net"

	"golang.org/x/sys/unix"
)

// unsentIsUnknown is true if unsent cannot count.
const unsentIsUnknown = false

// unsent returns the number of written bytes that the client's kernel has not acknowledged. It does not acknowledge
// more than fits into the client's receive buffer.
func unsent(c *net.TCPConn) (n int) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }) // 0 on an error
	if err != nil {
		return 0
	}
	return n
}
