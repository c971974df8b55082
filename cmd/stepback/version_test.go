package main

import (
	"net"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	stepback(t, "--version").ends(t, 0, "stepback ")
}

// TestAnAddressInUse runs serve on an address that is already in use.
func TestAnAddressInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stepback(t, "serve", "--listen", l.Addr().String(), "--data", t.TempDir()).complains(t, 1,
		"another program is listening there", "--listen")
}
