package front

import (
	"errors"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// listener accepts connections that are not idle as long as the client has not read the last response.
type listener struct {
	net.Listener
	idle, unread time.Duration
	kept         func()
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &conn{TCPConn: tcp, listener: l}, nil
	}
	return c, err
}

// conn is a connection to a client. The kernel accepts a response of a few megabytes at once, so that for net/http the
// connection is idle although the client has read nothing. If it were closed then, the client would lose the rest.
type conn struct {
	*net.TCPConn
	listener *listener
	waiting  atomic.Bool // net/http waits for the next request

	// The following are used by Read alone.
	last  int       // unsent bytes when they were last counted; 0 if all had been read
	since time.Time // when last changed
}

// noteState is an http.Server's ConnState.
func noteState(c net.Conn, s http.ConnState) {
	if c, ok := c.(*conn); ok {
		c.waiting.Store(s == http.StateIdle)
	}
}

// Read implements net.Conn. While net/http waits for a request, its deadline is that of an idle connection.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.TCPConn.Read(p)
		if n > 0 || !c.waiting.Load() || !errors.Is(err, os.ErrDeadlineExceeded) || !c.keep(unsent(c.TCPConn)) {
			return n, err
		}
		if c.listener.kept != nil {
			c.listener.kept()
		}
		if err := c.SetReadDeadline(time.Now().Add(c.listener.idle)); err != nil {
			return 0, err
		}
	}
}

// keep reports whether a connection on which no request has arrived for the idle time is kept: it is if n bytes of a
// response are still unread, or if the last of them have been read within that time.
func (c *conn) keep(n int) bool {
	now, before := time.Now(), c.last
	if n != before {
		c.last, c.since = n, now
	}
	if n == 0 {
		return before > 0
	}
	return now.Sub(c.since) < c.listener.unread
}
