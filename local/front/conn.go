package front

import (
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// listener accepts connections that count as busy until the client has read the last response. See conn.
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

// Write implements net.Conn. It fails if the client reads nothing for the time allowed.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.allow(); err != nil {
		return 0, err
	}
	return c.TCPConn.Write(p)
}

// allow gives the client time to read what is written next.
func (c *conn) allow() error { return c.SetWriteDeadline(time.Now().Add(c.listener.unread)) }

// part is the number of bytes of a file for which the client has the time that a Write has.
const part = 1 << 20

// ReadFrom implements io.ReaderFrom, with which net/http sends files without copying them. It fails as Write does.
func (c *conn) ReadFrom(r io.Reader) (total int64, err error) {
	of, ok := r.(*io.LimitedReader)
	if !ok {
		of = &io.LimitedReader{R: r, N: math.MaxInt64}
	}
	for of.N > 0 {
		if err := c.allow(); err != nil {
			return total, err
		}
		some := &io.LimitedReader{R: of.R, N: min(of.N, part)} // one level of limits keeps it a file for the kernel
		n, err := c.TCPConn.ReadFrom(some)
		total += n
		of.N -= n
		if err != nil || some.N > 0 {
			return total, err
		}
	}
	return total, nil
}
