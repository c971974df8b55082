package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// words is what an error says to whoever gave the command: of a file that could not be used, its name as it was
// probably typed and what is the matter with it, without the name of the system's call; of an address at which nothing
// listens, that.
func words(err error) string {
	said := err.Error()
	var request *url.Error
	var at *net.OpError
	if errors.As(err, &request) && errors.As(err, &at) && at.Op == "dial" && at.Addr != nil && errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Sprintf("nothing listens at %s: start it there, as stepback serve --listen %s does, or name another address",
			at.Addr, at.Addr)
	}
	var of *fs.PathError
	if !errors.As(err, &of) {
		return said
	}
	return strings.Replace(said, of.Error(), nearPath(of.Path)+": "+of.Err.Error(), 1)
}

// nearPath is a path as seen from the working directory, where it is below that, and otherwise as it is.
func nearPath(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	near, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(near) {
		return path
	}
	return near
}
