package main

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"stepback/cmd/stepback/buildinfo"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	stepback(t, "--version").ends(t, 0, "stepback ")
	if v := buildinfo.Version(); v == "" || strings.Contains(v, "devel") {
		t.Errorf("the version is %q", v)
	}
}

// TestManual prints the manual page, which lists every verb and flag.
func TestManual(t *testing.T) {
	t.Parallel()
	stepback(t, "man").ends(t, 0, ".TH STEPBACK 1", "retries review", "--listen")
}

// TestChecksBuild lists what a build with the tag checks links: no services, no storage engine, no SDK client.
func TestChecksBuild(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "checks", ".")
	list, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dependency := range strings.Lines(string(list)) {
		dependency = strings.TrimSpace(dependency)
		for _, unwanted := range []string{"stepback/local", "stepback/csvimport", "github.com/cockroachdb/pebble",
			"github.com/aws/aws-sdk-go-v2/service/", "modernc.org/sqlite"} {
			if strings.HasPrefix(dependency, unwanted) {
				t.Errorf("a build with the tag checks links %s", dependency)
			}
		}
	}
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
