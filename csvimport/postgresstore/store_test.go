package postgresstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore"
	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/csvimport/storetest"
	"stepback/retry"
)

var run = csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}

func open(t *testing.T, url string) *postgresstore.Store {
	t.Helper()
	s, err := postgresstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPostgreSQL(t *testing.T) {
	server := postgrestest.Start(t)
	t.Run("Suite", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) csvimport.Store { return open(t, server.Database(t)) })
	})
	t.Run("OpenTogether", func(t *testing.T) { testOpenTogether(t, server.Database(t)) })
	t.Run("Migration", func(t *testing.T) { testMigration(t, server.Database(t)) })
	t.Run("LockedUser", func(t *testing.T) { testLockedUser(t, server.Database(t)) })
	t.Run("LostAnswer", func(t *testing.T) { testLostAnswer(t, server.Database(t)) })
	t.Run("Terminated", func(t *testing.T) { testTerminated(t, server.Database(t)) })
}

func testOpenTogether(t *testing.T, address string) {
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := postgresstore.Open(t.Context(), address)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
}

// testMigration opens a database of schema version 1.
func testMigration(t *testing.T, address string) {
	open(t, address).Close()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	if _, err := conn.Exec(t.Context(), fmt.Sprintf(`ALTER TABLE import_rows DROP COLUMN run_id; DROP TABLE import_runs; DROP TABLE import_blocks; UPDATE schema_version SET version = 1;
		INSERT INTO users VALUES ('u', 1, 0, 1); INSERT INTO import_files (bucket, key, etag) VALUES ('b', 'k', 'e');
		INSERT INTO import_rows VALUES (1, 0, %d)`, inc.Fingerprint())); err != nil {
		t.Fatal(err)
	}
	s := open(t, address)
	defer s.Close()
	for row, want := range []csvimport.Outcome{csvimport.AlreadyApplied, csvimport.Applied} {
		if got, err := s.Apply(t.Context(), run, int64(row), inc); err != nil || got != want {
			t.Errorf("row %d: %s, %v; want %s", row, got, err, want)
		}
	}
	if got := storetest.Users(t, s)["u"]; got != [2]int64{2, 0} {
		t.Errorf("user has %v, want [2 0]", got)
	}
}

// testLockedUser keeps a user's row locked in another transaction for longer than lock_timeout.
func testLockedUser(t *testing.T, address string) {
	s := open(t, address+"&lock_timeout=20")
	defer s.Close()
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	if _, err := s.Apply(t.Context(), run, 0, inc); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE users SET version = version + 1"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Apply(t.Context(), run, 1, inc)
	storetest.WantName(t, err, retry.OptimisticLockException)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if outcome, err := s.Apply(t.Context(), run, 1, inc); err != nil || outcome != csvimport.Applied {
		t.Errorf("after the lock: %s, %v; want applied", outcome, err)
	}
	if got := storetest.Users(t, s)["u"]; got != [2]int64{2, 0} {
		t.Errorf("user has %v, want [2 0]", got)
	}
}

// testLostAnswer cuts the connection after COMMIT was sent and before its response arrives: the caller does not know
// the outcome, and a repeat finds it.
func testLostAnswer(t *testing.T, address string) {
	direct := open(t, address)
	defer direct.Close()
	if _, err := direct.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
		t.Fatal(err)
	}
	cut := newCutter(t, address)
	s := open(t, cut.address)
	defer s.Close()
	inc := csvimport.Increment{UserID: "u", LoginCount: 10}
	cut.arm()
	_, err := s.Apply(t.Context(), run, 1, inc)
	storetest.WantName(t, err, retry.DatabaseConnectionError)
	cut.wait()
	outcome, err := s.Apply(t.Context(), run, 1, inc)
	if err != nil || outcome != csvimport.Applied {
		t.Errorf("the repeat: %s, %v; want applied", outcome, err)
	}
	if got := storetest.Users(t, s)["u"]; got != [2]int64{11, 0} {
		t.Errorf("user has %v, want [11 0]", got)
	}
}

func testTerminated(t *testing.T, address string) {
	s := open(t, address)
	defer s.Close()
	if _, err := s.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u"}); err != nil {
		t.Fatal(err)
	}
	err := s.Export(t.Context(), func(csvimport.User) error {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		_, err = conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'")
		return err
	})
	if err != nil {
		storetest.WantName(t, err, retry.AuroraTemporaryError)
	}
	for row := range int64(10) { // broken connections are replaced
		if _, err = s.Apply(t.Context(), run, 1+row, csvimport.Increment{UserID: "u", LoginCount: 1}); err == nil {
			return
		}
	}
	t.Errorf("the store does not recover: %v", err)
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	_, err := postgresstore.Open(t.Context(), "postgres://u:secret@127.0.0.1:1/db")
	storetest.WantName(t, err, retry.DatabaseConnectionError)
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the message shows the password: %v", err)
	}
}

// cutter is a TCP relay that, once armed, forwards the client's next COMMIT and drops the connection with the
// server's response.
type cutter struct {
	address string
	armed   chan struct{}
	done    chan struct{}
}

func newCutter(t *testing.T, address string) *cutter {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{armed: make(chan struct{}, 1), done: make(chan struct{})}
	server := u.Host
	u.Host = l.Addr().String()
	c.address = u.String()
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.relay(t, client, server) })
		}
	})
	return c
}

func (c *cutter) arm() { c.armed <- struct{}{} }

func (c *cutter) wait() { <-c.done }

func (c *cutter) relay(t *testing.T, client net.Conn, server string) {
	defer client.Close()
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		t.Error(err)
		return
	}
	defer upstream.Close()
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(client, upstream)
		client.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if n > 0 && strings.Contains(string(buffer[:n]), "commit\x00") && c.take() {
			client.Close() // the response cannot be delivered
			_, _ = upstream.Write(buffer[:n])
			// Terminate after the COMMIT: the server closes the connection when it is done.
			_, _ = upstream.Write([]byte{'X', 0, 0, 0, 4})
			<-back
			close(c.done)
			return
		}
		if _, werr := upstream.Write(buffer[:n]); err != nil || werr != nil {
			if !errors.Is(err, io.EOF) {
				upstream.Close()
			}
			break
		}
	}
	upstream.Close()
	<-back
}

func (c *cutter) take() bool {
	select {
	case <-c.armed:
		return true
	default:
		return false
	}
}
