package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// Words formats an error for the user. If a file could not be used, the text has the file's name, as the user
// probably typed it, and the reason, without the system call's name. If a connection was refused, the text says
// that nothing listens at the address.
func Words(err error) string {
	said := err.Error()
	var request *url.Error
	var at *net.OpError
	if errors.As(err, &request) && errors.As(err, &at) && at.Op == "dial" && at.Addr != nil && errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Sprintf("nothing listens at %s: start it with stepback serve --listen %s, or name another address",
			at.Addr, at.Addr)
	}
	var of *fs.PathError
	if !errors.As(err, &of) {
		return said
	}
	return strings.Replace(said, of.Error(), NearPath(of.Path)+": "+of.Err.Error(), 1)
}
