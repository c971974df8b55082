package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/postgresstore/postgrestest"
)

// activity is a file of user activity, together with the sums for each user, which are computed while it is written.
type activity struct {
	text strings.Builder
	sums map[string][2]int
}

func newActivity() *activity {
	u := &activity{sums: map[string][2]int{}}
	u.text.WriteString("user_id,login_count,post_count\n")
	return u
}

// row adds a row; counts is true if it should be applied.
func (u *activity) row(user string, logins, posts int, counts bool) {
	fmt.Fprintf(&u.text, "%s,%d,%d\n", user, logins, posts)
	if counts {
		u.sums[user] = [2]int{u.sums[user][0] + logins, u.sums[user][1] + posts}
	}
}

// of adds rows of a few users.
func (u *activity) of(rows int) *activity {
	for i := range rows {
		u.row(fmt.Sprintf("user%02d", i*7%23), i%50, i%17, true)
	}
	return u
}

// usersOf returns the expected table of users after importing all the given files.
func usersOf(files ...*activity) string {
	sums := map[string][2]int{}
	for _, u := range files {
		for user, n := range u.sums {
			sums[user] = [2]int{sums[user][0] + n[0], sums[user][1] + n[1]}
		}
	}
	lines := make([]string, 0, len(sums))
	for user, n := range sums {
		lines = append(lines, fmt.Sprintf("%s,%d,%d\n", user, n[0], n[1]))
	}
	slices.Sort(lines)
	return "user_id,login_count,post_count\n" + strings.Join(lines, "")
}

// importThrough imports a file through bootstraps, and returns the report.
func importThrough(t *testing.T, bootstraps, file string, code int, more ...string) pipeline.Report {
	t.Helper()
	s := stepback(t, append([]string{"run", "--lambda", "process", "--bootstraps", bootstraps, "--csv", file,
		"--virtual-time", "--json"}, more...)...)
	var r pipeline.Report
	if err := json.Unmarshal([]byte(s.out), &r); s.code != code || err != nil || r.Rows == nil {
		t.Fatalf("exit code %d, want %d; %v\n%s\n%s", s.code, code, err, s.out, s.err)
	}
	return r
}

func exported(t *testing.T, want string, place ...string) {
	t.Helper()
	if s := stepback(t, append([]string{"export", "users"}, place...)...); s.out != want {
		t.Errorf("users:\n%s%s\nwant\n%s", s.out, s.err, want)
	}
}

// badBatches imports files through the bootstraps used on AWS while these, or their responses, the file or the
// database fail. The result is compared with the test's own sums.
func badBatches(t *testing.T, bootstraps string) {
	t.Run("a row in every batch crashes the function", func(t *testing.T) {
		for _, shape := range []string{"bulk", "batch"} {
			t.Run(shape, func(t *testing.T) {
				t.Parallel()
				u := newActivity()
				for i := range 300 {
					if i%100 == 37 {
						u.row("poison", 1, 1, false)
					} else {
						u.row(fmt.Sprintf("user%02d", i%13), i%50, 2, true)
					}
				}
				data := t.TempDir()
				r := importThrough(t, meddling(t, bootstraps, "crash", ""), write(t, u.text.String()), exit.Data, "--data", data,
					"--shape", shape, "--batch", "100")
				if r.Rows.Applied != 297 || r.Rows.DeadLettered != 3 || r.Errors["Runtime.ExitError"] != 3 {
					t.Errorf("%+v, %v", *r.Rows, r.Errors)
				}
				exported(t, usersOf(u), "--data", data)
				s := stepback(t, "deadletters", "list", "--letters", "--data", data)
				s.ends(t, exit.OK, "Runtime.ExitError")
				if n := strings.Count(s.out, "RetriesExhausted  Runtime.ExitError"); n != 3 {
					t.Errorf("%d letters, want 3:\n%s", n, s.out)
				}
			})
		}
	})
	t.Run("answers are lost after the commit", func(t *testing.T) {
		t.Parallel()
		u, data := newActivity().of(600), t.TempDir()
		r := importThrough(t, meddling(t, bootstraps, "lose", ""), write(t, u.text.String()), exit.OK, "--data", data, "--batch", "100")
		if r.Rows.Applied != 600 || r.Failed < 6 {
			t.Errorf("%+v, %d attempts failed", *r.Rows, r.Failed)
		}
		exported(t, usersOf(u), "--data", data)
	})
	t.Run("the file is replaced in the middle", func(t *testing.T) {
		t.Parallel()
		first, second, data := newActivity().of(300), newActivity().of(200), t.TempDir()
		dir := meddling(t, bootstraps, "replace", second.text.String())
		r := importThrough(t, dir, write(t, first.text.String()), exit.OK, "--data", data, "--batch", "10", "--concurrency", "1")
		if r.Rows.Applied != 300 {
			t.Errorf("%+v", *r.Rows)
		}
		importThrough(t, dir, write(t, second.text.String()), exit.OK, "--data", data, "--batch", "10") // it waits for the end
		exported(t, usersOf(first, second), "--data", data)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := postgrestest.Start(t)
		t.Run("two files with the same users, and each of them twice, at once", func(t *testing.T) {
			t.Parallel()
			address := server.Database(t)
			one, other := newActivity().of(500), newActivity().of(300)
			var all sync.WaitGroup
			var mu sync.Mutex
			var applied, before int64
			for name, u := range map[string]*activity{"one.csv": one, "other.csv": other} {
				file := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(file, []byte(u.text.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					data := t.TempDir()
					all.Go(func() {
						r := importThrough(t, bootstraps, file, exit.OK, "--data", data, "--db", address, "--batch", "20")
						mu.Lock()
						defer mu.Unlock()
						applied, before = applied+r.Rows.Applied, before+r.Rows.AlreadyApplied
					})
				}
			}
			all.Wait()
			// The database identifies an import by its name and start: the same file in two directories that start in
			// the same millisecond is one import, and both report its rows as applied. The users table shows that
			// they were counted once.
			if applied+before != 1600 || applied < 800 {
				t.Errorf("%d rows are applied and %d had been, want 800 of each, or more applied of 1600", applied, before)
			}
			exported(t, usersOf(one, other), "--db", address)
		})
		t.Run("it goes away in the middle", func(t *testing.T) {
			t.Parallel()
			address := server.Database(t)
			u, data, g := newActivity().of(2000), t.TempDir(), newGate(t, address, 60, 25)
			r := importThrough(t, bootstraps, write(t, u.text.String()), exit.OK, "--data", data, "--db", g.address, "--batch", "50")
			if r.Rows.Applied != 2000 || r.Failed == 0 {
				t.Errorf("%+v, %d attempts failed", *r.Rows, r.Failed)
			}
			exported(t, usersOf(u), "--db", address)
			if g.left() != 0 {
				t.Errorf("the database is still away for %d connections", g.left())
			}
		})
	})
}

// gate is a proxy to a database: after a number of requests all connections break, then a number of connections is
// refused.
type gate struct {
	address string

	mu            sync.Mutex
	after, refuse int
	open          map[net.Conn]bool
}

func newGate(t *testing.T, address string, after, refuse int) *gate {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	u.Host = l.Addr().String()
	g := &gate{address: u.String(), after: after, refuse: refuse, open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); g.breakAll(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { g.pass(client, server) })
		}
	})
	return g
}

func (g *gate) left() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.after, 0) + g.refuse
}

// request counts a request, and reports whether the database has failed at this one.
func (g *gate) request() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.after--
	return g.after == 0
}

// admit reports whether a connection is accepted.
func (g *gate) admit(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.after <= 0 && g.refuse > 0 {
		g.refuse--
		return false
	}
	g.open[c] = true
	return true
}

func (g *gate) breakAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.open {
		_ = c.Close()
	}
	clear(g.open)
}

func (g *gate) pass(client net.Conn, server string) {
	defer client.Close()
	if !g.admit(client) {
		return
	}
	upstream, err := net.Dial("tcp", server)
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
		if err == nil && g.request() {
			_, _ = upstream.Write(buffer[:n/2]) // half a statement
			g.breakAll()
			break
		}
		if _, werr := upstream.Write(buffer[:n]); err != nil || werr != nil {
			break
		}
	}
	_ = upstream.Close()
	<-back
}
