package postgrestest

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Cutter is a proxy between a store and its server. It cuts connections during randomly chosen requests: either
// before the server gets the request, or afterwards, so that the response is lost.
type Cutter struct {
	// Address is the server's connection string through the cutter.
	Address string
	// Cuts is the number of connections that were cut.
	Cuts  atomic.Int64
	every int

	mu     sync.Mutex
	random *rand.Rand
}

// NewCutter starts a proxy that, until the test ends, cuts the connection of one in every requests on average.
func NewCutter(t testing.TB, address string, every int) *Cutter {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	u.Host = l.Addr().String()
	c := &Cutter{Address: u.String(), every: every, random: rand.New(rand.NewPCG(uint64(every), 0))}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.relay(t.Context(), client, server) })
		}
	})
	return c
}

func (c *Cutter) relay(ctx context.Context, client net.Conn, server string) {
	defer client.Close()
	upstream, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(client, upstream)
		_ = client.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			break
		}
		switch c.draw() {
		case 0:
			n = 0
			err = io.EOF // the request is lost
		case 1:
			_ = client.Close() // the response is lost
			err = io.EOF
		}
		if _, werr := upstream.Write(buffer[:n]); err != nil || werr != nil {
			break
		}
	}
	_ = upstream.Close()
	<-back
}

func (c *Cutter) draw() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.random.IntN(2 * c.every)
	if n < 2 {
		c.Cuts.Add(1)
	}
	return n
}
