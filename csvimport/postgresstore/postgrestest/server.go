// Package postgrestest provides tests with a PostgreSQL server: the one that STEPBACK_TEST_POSTGRES names, or a
// temporary server from the installed binaries. If neither is available, the test is skipped.
package postgrestest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable with the connection string of a server to use. Its user must be allowed to
// create databases.
const Variable = "STEPBACK_TEST_POSTGRES"

// Server is a running server.
type Server struct {
	url       *url.URL
	databases atomic.Int64
	options   string                     // options to start it with
	data      string                     // the data directory; empty if Start did not start the server
	control   func(args ...string) error // runs pg_ctl; nil if Start did not start the server
}

// Start finds or starts a server, or skips the test and says why. The server is stopped when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	if address := os.Getenv(Variable); address != "" {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatalf("%s is not a connection string: %v", Variable, err)
		}
		return &Server{url: u}
	}
	bin := findBinaries()
	if bin == "" {
		t.Skipf("no PostgreSQL: set %s to a connection string, or install the server (Debian: postgresql)", Variable)
	}
	return startOwn(t, bin)
}

// NeedsControl skips the test if Start did not start the server itself, because Stop and Restart then cannot be
// used.
func (s *Server) NeedsControl(t testing.TB) {
	t.Helper()
	if s.control == nil {
		t.Skipf("the server that %s names is not ours to stop", Variable)
	}
}

// Stop stops the server as a crash would: connections break without notice. It may be called from any goroutine.
func (s *Server) Stop() error { return s.control("-m", "immediate", "stop") }

// Kill kills the server's main process with SIGKILL. The server's other processes notice that sooner or later, and
// end.
func (s *Server) Kill() error {
	text, err := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}

// Revive starts the server that Kill killed, once the last of its processes has ended.
func (s *Server) Revive(ctx context.Context) error {
	for {
		err := s.Restart()
		if err == nil || ctx.Err() != nil {
			return err
		}
		again := time.NewTimer(20 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
}

// Restart starts the server that Stop stopped, and waits until it accepts connections.
func (s *Server) Restart() error { return s.control("-o", s.options, "start") }

// Database creates an empty database and returns its connection string.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		t.Fatalf("connect to PostgreSQL: %v", err)
	}
	defer conn.Close(ctx)
	name := fmt.Sprintf("stepback_test_%d_%d", os.Getpid(), s.databases.Add(1))
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() { s.drop(t, name) })
	u := *s.url
	u.Path = "/" + name
	return u.String()
}

func (s *Server) drop(t testing.TB, name string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		t.Errorf("connect to PostgreSQL: %v", err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		t.Errorf("drop the database: %v", err)
	}
}

// findBinaries returns the directory with initdb and pg_ctl, or "".
func findBinaries() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if isFile(filepath.Join(dirs[i], "initdb")) && isFile(filepath.Join(dirs[i], "pg_ctl")) {
			return dirs[i]
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func startOwn(t testing.TB, bin string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "stepback-postgres-*") //nolint:usetesting // another user must be able to reach it, which t.TempDir does not grant
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	who := serverUser(t, dir)
	data := filepath.Join(dir, "data")
	if err := run(who, dir, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync"); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	control := func(args ...string) error {
		return run(who, dir, filepath.Join(bin, "pg_ctl"), append([]string{"-D", data, "-l", filepath.Join(dir, "log"),
			"-w"}, args...)...)
	}
	options := fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories='' -c fsync=off -c max_connections=400", port)
	if err := control("-o", options, "start"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := control("-m", "immediate", "stop"); err != nil {
			t.Error(err)
		}
	})
	return &Server{options: options, data: data, control: control, url: &url.URL{Scheme: "postgres",
		User: url.User("postgres"),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable"}}
}

// account is a user of the system.
type account struct{ uid, gid uint32 }

// serverUser returns the user that runs the server: PostgreSQL refuses to run as root.
func serverUser(t testing.TB, dir string) *account {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID != nil || errGID != nil || os.Chown(dir, int(uid), int(gid)) != nil {
			continue
		}
		return &account{uint32(uid), uint32(gid)}
	}
	t.Skip("no PostgreSQL: it does not run as root, and there is no user \"postgres\" or \"nobody\" to run it as")
	return nil
}

// run runs a command as a user. Its output goes to a file, because the server started by pg_ctl would keep a pipe
// open.
func run(who *account, dir, program string, args ...string) error {
	out, err := os.CreateTemp(dir, "output-*")
	if err != nil {
		return err
	}
	defer out.Close()
	//nolint:gosec,noctx // initdb and pg_ctl of the machine, also while the test's context has ended
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if who != nil {
		setUser(cmd, who)
	}
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return fmt.Errorf("%s: %w\n%s\n%s", program, err, said, log)
	}
	return nil
}

// freePort returns a port below those that the system assigns automatically. While the server is stopped, no other
// process is assigned the port. A client that connects is not assigned it as its own port either, and so cannot
// connect to itself.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(15000)
		//nolint:noctx // listening on the loopback does not wait
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port between 15000 and 30000")
	return 0
}
