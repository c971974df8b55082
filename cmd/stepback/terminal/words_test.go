package terminal

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAFileThatIsNotThereIsNamedAsItWasTyped(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, want string
	}{
		{filepath.Join(here, "mocks", "order.json"), "mock configuration: mocks/order.json: no such file or directory"},
		{filepath.Join(filepath.Dir(here), "order.json"),
			"mock configuration: " + filepath.Dir(here) + "/order.json: no such file or directory"},
		{"order.json", "mock configuration: order.json: no such file or directory"},
	} {
		err := fmt.Errorf("mock configuration: %w", &fs.PathError{Op: "stat", Path: test.path, Err: syscall.ENOENT})
		if got := Words(err); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestControlCharactersAreVisible(t *testing.T) {
	t.Parallel()
	const text = "ä\u00a0+%\x1b[2J\n\t\xff\u0085"
	if got, want := Visible(text), "ä\u00a0+%"+`\x1b[2J\n\t\xff\u0085`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := VisibleLines(text), "ä\u00a0+%"+`\x1b[2J`+"\n\t"+`\xff\u0085`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnAddressAtWhichNothingListensIsNamed(t *testing.T) {
	t.Parallel()
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4566}
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: address, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	err := fmt.Errorf("operation error SFN: %w", &url.Error{Op: "Post", URL: "http://127.0.0.1:4566/", Err: refused})
	want := "nothing listens at 127.0.0.1:4566: start it with stepback serve --listen 127.0.0.1:4566, or name another address"
	if got := Words(err); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Words(refused); got != refused.Error() { // an error of a database, for example
		t.Errorf("got %s", got)
	}
}
