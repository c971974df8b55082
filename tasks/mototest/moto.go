// Package mototest runs moto, the Python mock of AWS services, for tests that need real responses from a service. It
// is for tests only.
package mototest

import (
	"net"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// Start starts moto's server, which stops with the test, and returns its address. If moto is not installed, it logs
// that and returns "".
func Start(t *testing.T) string {
	t.Helper()
	command, err := exec.LookPath("moto_server")
	if err != nil {
		t.Log("moto_server is not installed (pip install 'moto[server]'): tests that need other services are skipped")
		return ""
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	//nolint:gosec // the command is found by its own name
	server := exec.CommandContext(t.Context(), command, "-H", host, "-p", port)
	output, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-drained
		_ = server.Wait()
	})
	running, up := make(chan struct{}), false
	go func() { // it prints its address once it is running
		defer close(drained)
		buffer := make([]byte, 4096)
		for {
			n, err := output.Read(buffer)
			if !up && strings.Contains(string(buffer[:n]), "Running on") {
				up = true
				close(running)
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-running:
		front := httptest.NewServer(patient(&url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}))
		t.Cleanup(front.Close)
		return front.URL
	case <-drained:
		t.Fatal("moto_server ended at once")
	case <-t.Context().Done():
		t.Fatal("moto_server does not start")
	}
	return ""
}
